#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# debian-root.sh PACKAGE IMAGE [OPTION...]: a Debian of the release that runs here
# becomes IMAGE, the first disk of a virtual machine.  Its root is on NILFS2, keeps
# the state of its creation as a snapshot, and is checked at each boot by fsck.nilfs2
# of PACKAGE, a nilfs2-progs_*.deb.  The user root has no password.  Kernel and
# initramfs are copied to IMAGE.vmlinuz and IMAGE.initrd.
#
# Needs mmdebstrap and Debian's archive, no root.  OPTIONs are passed to mmdebstrap.
set -euo pipefail
package=$1 image=$2
shift 2

# PACKAGE adds driver and checker to the initramfs if fstab has a root on NILFS2.
mmdebstrap --quiet --variant=minbase \
	--include=systemd-sysv,udev,linux-image-amd64,initramfs-tools \
	--include=kmod,zstd,logsave,libblkid1,libdeflate0,libedit2,libfuse3-3,libisal2,libzbd2 \
	--essential-hook='echo "/dev/vda / nilfs2 defaults 0 1" >"$1/etc/fstab"' \
	--customize-hook="upload $package /tmp/nilfs2-progs.deb" \
	--customize-hook='chroot "$1" dpkg -i /tmp/nilfs2-progs.deb >&2' \
	--customize-hook='rm "$1/tmp/nilfs2-progs.deb"' \
	--customize-hook='chroot "$1" passwd -q -d root' \
	"$@" "$(. /etc/os-release && echo "$VERSION_CODENAME")" |
	mkfs.nilfs2 -q -f -L root -d - --size auto+256M --snapshot "$image"

for name in vmlinuz initrd; do
	dump.nilfs2 cat "$image" "/boot/$(dump.nilfs2 ls "$image" /boot |
		grep -o "$name.*")" >"$image.$name"
done
