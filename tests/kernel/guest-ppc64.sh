# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the root of the ppc64 guest, whose kernel has pages of 64 KiB and so
# mounts volumes with blocks of any size.  It is a small Debian of a foreign
# architecture: packages that apt downloads with settings and lists of its own,
# unpacked into the cache beside the kernel, nothing installed or configured.

guest_ppc64_packages=(bash busybox-static coreutils diffutils findutils gawk
	grep kmod mount nilfs-tools perl sed util-linux)
# The release is fixed: later ones have kernels with pages of 4 KiB too.
guest_ppc64_source='deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]
	http://deb.debian.org/debian bookworm main'
guest_ppc64_tree=$guest_kernel_cache/ppc64el-$(sha256sum \
	<"${BASH_SOURCE[0]}" | cut -c1-16)

# Prints why there can be no ppc64 guest.
guest_ppc64_missing() {
	local tool

	for tool in qemu-system-ppc64 depmod modprobe cpio apt-get dpkg; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null &&
			continue
		echo "$tool not found"
		return
	done
	guest_ppc64_find || echo "no packages of Debian's ppc64el to be had"
}

guest_ppc64_in_cache() {
	guest_kernel_in "$guest_ppc64_tree" || return
	guest_busybox=$guest_modules/bin/busybox
}

guest_ppc64_find() {
	guest_ppc64_in_cache && return
	mkdir -p "$guest_kernel_cache" || return
	(
		flock 9
		guest_ppc64_in_cache || guest_ppc64_make
	) 9>"$guest_kernel_cache/ppc64el.lock" >&2 || return
	guest_ppc64_in_cache
}

guest_ppc64_make() {
	local at

	at=$(mktemp -d "$guest_kernel_cache/ppc64el.XXXXXX") || return
	mkdir -p "$at/apt/lists/partial" "$at/apt/archives/partial" "$at/root"
	: >"$at/apt/status"
	tr -d '\n' <<<"$guest_ppc64_source" >"$at/apt/sources.list"
	guest_ppc64_download "$at/apt" && guest_ppc64_unpack "$at" &&
		mv "$at/root" "$guest_ppc64_tree"
	rm -rf "$at"
	[ -d "$guest_ppc64_tree" ]
}

# guest_ppc64_apt DIR TOOL ARGUMENT...: apt that knows only DIR.
guest_ppc64_apt() {
	local at=$1 tool=$2

	shift 2
	"$tool" -o APT::Architecture=ppc64el -o APT::Architectures::=ppc64el \
		-o Dir::State="$at" -o Dir::State::status="$at/status" \
		-o Dir::Cache="$at" \
		-o Dir::Etc::sourcelist="$at/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Install-Recommends=false \
		-o APT::Sandbox::User="$(id -un)" "$@"
}

# The kernel comes without what it depends on, which would make it boot.
guest_ppc64_download() {
	local kernel

	guest_ppc64_apt "$1" apt-get -qq update || return
	guest_ppc64_apt "$1" apt-get -qq --yes --download-only install \
		"${guest_ppc64_packages[@]}" || return
	kernel=$(guest_ppc64_apt "$1" apt-cache depends \
		linux-image-powerpc64le |
		sed -n 's/.*Depends: *\(linux-image-[0-9]\)/\1/p' | head -n 1)
	[ -n "$kernel" ] || return
	(cd "$1/archives" && guest_ppc64_apt "$1" apt-get -qq download "$kernel")
}

guest_ppc64_unpack() {
	local file

	for file in "$1"/apt/archives/*.deb; do
		dpkg -x "$file" "$1/root" || return
	done
	# What the packages' scripts would have made.
	ln -s gawk "$1/root/usr/bin/awk"
	ln -s ../proc/self/mounts "$1/root/etc/mtab"
	mkdir -p "$1"/root/{dev,mnt,proc,run,sys,tmp}
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$1/root" \
		"$(ls "$1/root/lib/modules")"
}
