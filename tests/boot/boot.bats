#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian with its root on NILFS2, from nothing, by the commands of doc/boot.md:
# mmdebstrap makes it, with our package in it, mkfs.nilfs2 the image, an emulated
# machine boots that.  Each test goes on where the one before ended.  Needs Debian's
# archive.

bats_require_minimum_version 1.5.0

# command_of WORD: the command of doc/boot.md that begins with it.
command_of() {
	awk -v begin="    \$ $1 " '
		/^    [$#] / || !/^    / {
			inside = index($0, begin) == 1
			sub(/^    [$] /, "")
		}
		inside' "$NILFS2_SOURCE/doc/boot.md" | grep .
}

setup_file() {
	local tool

	export at=$BATS_FILE_TMPDIR LC_ALL=C DEBIAN_FRONTEND=noninteractive
	for tool in mmdebstrap dpkg-buildpackage qemu-system-x86_64; do
		command -v $tool >/dev/null || skip "$tool not found"
	done
	mkdir "$at/source"
	tar -C "$NILFS2_SOURCE" --exclude=./build\* --exclude=./.git \
		--exclude=./autom4te.cache -c . | tar -C "$at/source" -x
	make -C "$at/source" distclean >/dev/null 2>&1 || true
	(cd "$at/source" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" \
		eval "$(command_of dpkg-buildpackage)") >"$at/build.log" 2>&1
}

setup() {
	cd "$at" || return 1
	machine=
}

teardown() {
	[ -z "$machine" ] || kill -9 "$machine"
}

# Makes root.img.  What an emulated machine has no use for is left out.
debian() {
	local modules='/lib/modules/*/kernel' path options=()

	for path in /usr/share/{doc,man,locale} "$modules"/sound \
		"$modules"/drivers/{gpu,media,net}; do
		options+=(--dpkgopt="path-exclude=$path/*")
	done
	options+=(--aptopt='APT::Install-Recommends "false"'
		--essential-hook="$BATS_TEST_DIRNAME/tree.sh \"\$1\""
		--customize-hook="upload $BATS_TEST_DIRNAME/guest.sh /usr/local/sbin/boot-test"
		--customize-hook='chroot "$1" sh /tmp/complete.sh')
	(cd source &&
		eval "$(command_of examples/debian-root.sh) ${options[*]@Q}") &&
		mv source/root.img* .
}

# qemu-system-x86_64 OPTION...: as doc/boot.md calls it, but for the console, with
# another disk, to do what boot_test=$word means to guest.sh.
qemu-system-x86_64() {
	local option options=()

	for option; do
		case $option in
		-nographic) options+=(-display none -serial file:console) ;;
		file=root.img,*) options+=("$option,cache=unsafe,discard=unmap") ;;
		root=*) options+=("$option panic=-1 boot_test=$word") ;;
		*) options+=("$option") ;;
		esac
	done
	exec qemu-system-x86_64 -machine accel=tcg -nodefaults -no-reboot \
		"${options[@]}" \
		-drive file=data.img,if=virtio,format=raw,cache=unsafe,discard=unmap
}

# start WORD: boots what is in root.img, in the background; prints on console.
start() {
	local name word=$1

	for name in vmlinuz initrd; do
		dump.nilfs2 cat root.img "/boot/$(dump.nilfs2 ls root.img /boot |
			grep -o "$name.*")" >root.img.$name
	done
	: >console
	eval "$(command_of qemu-system-x86_64)" </dev/null >qemu.log 2>&1 3>&- &
	machine=$!
}

# wait_for PATTERN: on the console, or at most ten minutes.
wait_for() {
	local end=$((SECONDS + 600))

	until grep -aq "$1" console; do
		[ $SECONDS -lt $end ] && kill -0 "$machine" || {
			tail -n 40 console
			cat qemu.log
			return 1
		}
		sleep 0.5
	done
}

# It is up with all its units, its root can be written to, and the checker was
# run: by the initramfs on the root, by systemd on the other volume.
came_up() {
	grep -a '^boot-test: ' console
	grep -aq 'boot-test: root is /dev/vda *nilfs2 *rw' console
	grep -aq 'boot-test: state running' console
	grep -aq 'boot-test: root has a password: NP' console
	grep -aq 'boot-test: initramfs: .*fsck.nilfs2 -a /dev/vda' console
	grep -aq "boot-test: initramfs: /dev/vda: $1, " console
	grep -aq "boot-test: systemd: /dev/vdb: clean, " console
}

# look STATE [WORD]: boots, finds all that was written, in good order, and turns
# itself off.
look() {
	start "${2:-look}"
	wait_for 'reboot: Power down'
	wait "$machine"
	machine=
	came_up "$1"
	! grep -a 'boot-test: differs' console
	for dir in /var/written /data/written; do
		n=$(sed -n "s,.*boot-test: found \\([0-9]*\\) in $dir.*,\\1,p" \
			console)
		[ "$n" -ge "$(cat written)" ]
	done
}

sound() {
	run -0 fsck.nilfs2 -fn --data "$1"
	[[ $output == *": clean, "* ]]
}

@test "a Debian becomes an image with a snapshot of it, and boots" {
	debian >mmdebstrap.log 2>&1 || { tail -n 20 mmdebstrap.log; false; }
	mkfs.nilfs2 -q --size 256M data.img
	dump.nilfs2 export -q -c 1 root.img - | sha256sum >factory
	start write
	wait_for 'boot-test: written 7'
	kill -9 "$machine"
	wait "$machine" || true
	machine=
	came_up clean
	sed -n 's/.*boot-test: written \([0-9]*\).*/\1/p' console | tail -n 1 \
		>written
}

@test "after the power was cut the next boot checks, and has all that was synced" {
	run dump.nilfs2 info -v root.img
	[[ $output =~ "Unmounted cleanly: "*no ]]
	look clean
	grep -aq 'vda: not unmounted cleanly; checking checkpoint' console
	grep -aq 'vdb: not unmounted cleanly; checking checkpoint' console
	sound root.img
	sound data.img
}

@test "a superblock that a cut tore is repaired by the boot" {
	printf '\377' | dd of=root.img bs=1 seek=$((1024 + 0xc8)) conv=notrunc \
		status=none
	look repaired
	grep -aq 'initramfs: repaired: superblock 1: rewritten' console
	sound root.img
}

@test "units clean and check a volume while it is mounted" {
	look clean look-units
	for said in 'watch: started' 'watch: cleaned' 'watch: Running: *yes' \
		'nilfs2-gc-night: success' 'nilfs2-scrub: success' \
		'nilfs2-gc-night@data.timer' 'nilfs2-scrub@data.timer' \
		'watch: unmounted' 'watch: stopped: success' 'watch: started again' \
		'watch: stopped with its mount'; do
		grep -aq "boot-test: .*$said" console
	done
	sound data.img
}

@test "compacted and shrunk to the smallest size, it boots again" {
	before=$(stat -c %s root.img)
	eval "run -0 $(command_of gc.nilfs2)"
	[ "$(stat -c %s root.img)" -lt "$before" ]
	sound root.img
	look clean look-root
	grep -aq 'boot-test: systemd: /dev/vda: clean, ' console
	sound root.img
	[ "$(dump.nilfs2 export -q -c 1 root.img - | sha256sum)" = \
		"$(cat factory)" ]
}
