#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Process 1 of a guest: mounts what the tools need, runs the caller's script and
# turns the machine off.  The kernel's command line says where guest.sh left
# everything (guest_dir) and which guest this is (guest_backend).

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/mnt/tmp TMPDIR=/mnt/tmp LC_ALL=C TZ=UTC
# A program of a build for gcov can write its counts here only.
export GCOV_PREFIX=/mnt/tmp/gcov

# Each program takes 20 ms and more to start here: one mounts all.  nilfs-tools keep
# a semaphore in /dev/shm.  The root of user-mode Linux is the host's, where the
# settings can be read before anything is mounted: they say what is shared.
mount_system() {
	local host="host /mnt/host 9p x-mount.mkdir,$over_virtio"
	local shared="share /mnt/share 9p x-mount.mkdir,$over_virtio"

	if [ "$guest_backend" = uml ]; then
		. "$guest_dir/settings"
		host="none /mnt/host hostfs x-mount.mkdir,$guest_dir"
		# Its name on the host may hold anything.
		share=${share//\\/\\134} share=${share// /\\040}
		share=${share//$'\t'/\\011} share=${share//$'\n'/\\012}
		shared="none /mnt/share hostfs x-mount.mkdir,$share"
	fi
	echo "proc /proc proc defaults 0 0
	sysfs /sys sysfs defaults 0 0
	tmpfs /run tmpfs defaults 0 0
	tmpfs /dev/shm tmpfs x-mount.mkdir 0 0
	tmpfs /mnt tmpfs defaults 0 0
	$host 0 0
	$shared 0 0" >/dev/fstab
	mount -a -T /dev/fstab
	mkdir /mnt/fs /mnt/tmp
}
over_virtio=trans=virtio,msize=262144

name_devices() {
	local i letters=abcdefghijklmnop prefix

	case $guest_backend in
	uml) prefix=ubd ;;
	qemu|ppc64) prefix=vd ;;
	esac
	for ((i = 0; i < ${#images[@]}; i++)); do
		export "DEV$((i + 1))=/dev/$prefix${letters:i:1}"
	done
}

# null_blk devices are made through configfs; SPEC's keys are its attributes.
make_zoned() {
	local i spec at

	[ ${#zoned[@]} -gt 0 ] || return 0
	guest_module null_blk nr_devices=0
	mount -t configfs configfs /sys/kernel/config
	for ((i = 0; i < ${#zoned[@]}; i++)); do
		at=/sys/kernel/config/nullb/nullb$i
		mkdir "$at"
		echo 1 >"$at/zoned"
		echo 1 >"$at/memory_backed"
		while read -r -d, spec; do
			echo "${spec#*=}" >"$at/${spec%%=*}"
		done <<<"${zoned[i]},"
		echo 1 >"$at/power"
		export "ZONED$((i + 1))=/dev/nullb$(cat "$at/index")"
	done
}

# Once the power goes no program can be loaded any more, and process 1 must not
# end before it is gone.  Without ACPI a machine can only be reset, which ends the
# emulator.
turn_off() {
	local key=o

	[ "$guest_backend" != qemu ] || key=b
	sync
	echo $key >/proc/sysrq-trigger
	while :; do :; done
}

mount_system
. /mnt/host/settings
export SHARE=/mnt/share MNT=/mnt/fs
cd /mnt/tmp
. /mnt/host/guest-lib.sh
name_devices
guest_module nilfs2
make_zoned
echo "guest: script starts" >/dev/kmsg
: >/mnt/host/started
(
	set -- "${arguments[@]}"
	. /mnt/host/script
) >>/mnt/host/stdout 2>>/mnt/host/stderr </dev/null
echo $? >/mnt/host/status
turn_off
