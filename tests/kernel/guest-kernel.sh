# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finds Debian's kernel for the qemu guest and makes an emulated guest's
# initramfs.  A kernel that is installed is used; otherwise the package is
# downloaded and unpacked into the cache, not installed.  The initramfs only
# mounts the guest's root and hands over to the guest's init.

guest_kernel_cache=${XDG_CACHE_HOME:-${HOME-}/.cache}/nilfs2-progs
guest_kernel_cache=${NILFS2_TEST_CACHE:-$guest_kernel_cache}
guest_kernel_first=(virtio_pci virtio_blk 9pnet_virtio 9p)
guest_kernel='' guest_modules='' guest_release='' guest_busybox=busybox

# Prints why there can be no qemu guest.
guest_kernel_missing() {
	local tool

	for tool in qemu-system-x86_64 busybox depmod modprobe cpio; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null &&
			continue
		echo "$tool not found"
		return
	done
	guest_kernel_find ||
		echo "no kernel package linux-image-amd64 to be had"
}

# guest_kernel_in ROOT: sets guest_kernel and guest_modules from a file tree.
guest_kernel_in() {
	local file

	for file in "$1"/boot/vmlinu[xz]-*; do
		guest_release=${file##*/vmlinu[xz]-}
		[ -r "$file" ] || continue
		[ -e "$1/lib/modules/$guest_release/modules.dep" ] || continue
		[ -n "$(find "$1/lib/modules/$guest_release" \
			-name 'nilfs2.ko*')" ] || continue
		guest_kernel=$file
		guest_modules=$1
		return 0
	done
	return 1
}

guest_kernel_find() {
	guest_kernel_in "" && return
	guest_kernel_in "$guest_kernel_cache/kernel" && return
	mkdir -p "$guest_kernel_cache" || return
	(
		flock 9
		guest_kernel_in "$guest_kernel_cache/kernel" ||
			guest_kernel_download
	) 9>"$guest_kernel_cache/kernel.lock" >&2 || return
	guest_kernel_in "$guest_kernel_cache/kernel"
}

guest_kernel_download() {
	local package at

	package=$(apt-cache depends linux-image-amd64 2>/dev/null |
		sed -n 's/.*Depends: *\(linux-image-[0-9]\)/\1/p' | head -n 1)
	[ -n "$package" ] || return
	at=$(mktemp -d "$guest_kernel_cache/kernel.XXXXXX") || return
	(cd "$at" &&
		apt-get download -qq -o APT::Sandbox::User=root "$package" &&
		dpkg -x "$package"_*.deb . && rm "$package"_*.deb &&
		/sbin/depmod -b . "$(ls lib/modules)") &&
		mv "$at" "$guest_kernel_cache/kernel" && return
	rm -rf "$at"
	return 1
}

# guest_kernel_unpack: sets guest_kernel to a copy in the cache that the emulated
# machine need not decompress, which would take as long as the rest of its boot.
# The header of a kernel's image says where its payload is
# (Documentation/arch/x86/boot.rst); four bytes after it are its size.
guest_kernel_unpack() {
	local copy=$guest_kernel_cache/vmlinux-$guest_release work sectors at size

	if [ "$guest_kernel" -nt "$copy" ] || [ "$guest_kernel" -ot "$copy" ]; then
		mkdir -p "$guest_kernel_cache" &&
			work=$(mktemp -d "$guest_kernel_cache/kernel.XXXXXX") || return
		sectors=$(od -An -tu1 -j 0x1f1 -N1 "$guest_kernel")
		read -r at size < <(od -An -tu4 -j 0x248 -N8 "$guest_kernel")
		tail -c +$(((sectors + 1) * 512 + at + 1)) "$guest_kernel" |
			head -c $((size - 4)) >"$work/packed"
		{ xz -dc <"$work/packed" || zstd -dc <"$work/packed"; } \
			>"$work/kernel" 2>/dev/null &&
			touch -r "$guest_kernel" "$work/kernel" &&
			mv "$work/kernel" "$copy"
		rm -rf "$work"
	fi
	[ ! -e "$copy" ] || guest_kernel=$copy
}

# Full path of each module that the first stage needs, in loading order.
guest_kernel_modules() {
	local name

	for name in "${guest_kernel_first[@]}"; do
		/sbin/modprobe -d "$guest_modules/" -S "$guest_release" \
			--show-depends "$name" |
			awk '$1 == "insmod" { print $2 }'
	done | awk '!seen[$0]++'
}

# guest_kernel_initramfs DIR INIT: standard output is the archive; DIR is
# scratch, INIT the second stage.
guest_kernel_initramfs() {
	local file n=100

	mkdir -p "$1/bin" "$1/root" "$1/dev" || return
	cp "$(command -v "$guest_busybox")" "$1/bin/busybox" || return
	cp "$2" "$1/second" || return
	while read -r file; do
		cp "$file" "$1/$((n++))-${file##*/}" || return
	done < <(guest_kernel_modules)
	cat >"$1/init" <<-'EOF'
	#!/bin/busybox sh
	for m in /*.ko*; do /bin/busybox insmod $m; done
	/bin/busybox mount -t 9p -o trans=virtio,ro,cache=loose,msize=262144 \
		root /root
	/bin/busybox mount -t devtmpfs devtmpfs /root/dev
	/bin/busybox mount -t tmpfs tmpfs /root/run
	/bin/busybox cp /second /root/run/init
	exec /bin/busybox switch_root /root /run/init
	EOF
	chmod 755 "$1/init"
	(cd "$1" && find . | cpio -o -H newc --quiet)
}
