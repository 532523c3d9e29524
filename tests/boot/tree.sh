#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tree.sh ROOT: what a Debian gets before its packages are configured: a line of
# fstab, modules of the initramfs; and complete.sh, which is run in it at the end.
set -e
cd "$1"

mkdir -p data etc/initramfs-tools/conf.d etc/systemd/system \
	etc/systemd/journald.conf.d etc/initramfs-tools/scripts/local-bottom
echo '/dev/vdb /data nilfs2 defaults 0 2' >>etc/fstab
echo MODULES=list >etc/initramfs-tools/conf.d/modules
printf '%s\n' virtio_pci virtio_blk >etc/initramfs-tools/modules

# With boot_test=look-root systemd checks the root, mounted to be read, as it does
# if the initramfs has not.
cat >etc/initramfs-tools/scripts/local-bottom/boot-test <<'EOF'
#!/bin/sh
case $1,$(cat /proc/cmdline) in
prereqs,*) ;;
*boot_test=look-root*) mv /run/initramfs/fsck-root /run/initramfs/done ;;
esac
EOF
chmod 755 etc/initramfs-tools/scripts/local-bottom/boot-test

# On a volume of the smallest size a journal would soon find no room.
printf '[Journal]\nStorage=volatile\n' >etc/systemd/journald.conf.d/boot-test.conf

cat >etc/systemd/system/boot-test.service <<EOF
[Unit]
Description=what tests/boot/boot.bats asks of the system
After=multi-user.target

[Service]
ExecStart=/usr/local/sbin/boot-test

[Install]
WantedBy=multi-user.target
EOF

cat >tmp/complete.sh <<EOF
set -e
chmod 755 /usr/local/sbin/boot-test
systemctl enable boot-test.service
systemctl mask getty.target serial-getty@ttyS0.service
rm /tmp/complete.sh
EOF
