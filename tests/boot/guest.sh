#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the booted system does: boot_test=write writes until the power is cut,
# boot_test=look, or look-root, says what there is and turns the machine off.  All
# of it goes to the console, for boot.bats.
exec >/dev/console 2>&1 </dev/null

say()
{
	echo "boot-test: $*"
}

# A file on either volume, said to be there once it is synced.
write()
{
	n=$(find /var/written -type f | wc -l)
	while :; do
		n=$((n + 1))
		for dir in /var/written /data/written; do
			head -c 200000 /dev/urandom >$dir/$n
			sha256sum $dir/$n >>$dir.sums
		done
		sync
		say "written $n"
	done
}

look()
{
	for dir in /var/written /data/written; do
		sha256sum --quiet -c $dir.sums >/run/differ 2>&1 ||
			say "differs: $(cat /run/differ)"
		say "found $(wc -l <$dir.sums) in $dir"
	done
}

mkdir -p /var/written /data/written
touch /var/written.sums /data/written.sums
say "root is $(findmnt -n -o SOURCE,FSTYPE,OPTIONS /)"
say "root has a password: $(passwd -S root | cut -d " " -f 2)"
sed 's/^/boot-test: initramfs: /' /run/initramfs/fsck.log
journalctl -b -o cat -u systemd-fsck-root.service \
	-u systemd-fsck@dev-vdb.service |
	sed 's/^/boot-test: systemd: /'
say "state $(systemctl is-system-running) $(systemctl --failed --plain \
	--no-legend | tr '\n' ' ')"
systemctl --failed --plain --no-legend -q | while read -r unit _; do
	journalctl -b -o cat -u "$unit"
done
case $(cat /proc/cmdline) in
*boot_test=write*) write ;;
*) look ;;
esac
say "done"
systemctl poweroff
