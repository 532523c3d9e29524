#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian package as a user has it: built from the tree, without complaints of
# lintian, installed into a Debian of its own beside nilfs-tools in either order,
# used, and removed again.  Needs root and Debian's archive.

setup_file() {
	export at=$BATS_FILE_TMPDIR top=$NILFS2_SOURCE
	export LC_ALL=C DEBIAN_FRONTEND=noninteractive
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	export suite
	mkdir "$at/source"
	tar -C "$top" --exclude=./build\* --exclude=./.git \
		--exclude=./autom4te.cache -c . | tar -C "$at/source" -x
	make -C "$at/source" distclean >/dev/null 2>&1 || true
	mmdebstrap --quiet --variant=apt \
		--include=initramfs-tools,libarchive13,libblkid1,libdeflate0,libedit2,libfuse3-3,libzbd2,man-db,util-linux \
		"$suite" "$at/base" >"$at/mmdebstrap.log" 2>&1
	cp -r /etc/apt/apt.conf.d "$at/base/etc/apt/"
	cp /etc/resolv.conf "$at/base/etc/resolv.conf"
	chroot "$at/base" apt-get update -qq
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown_file() {
	for root in "$BATS_FILE_TMPDIR"/root-*; do
		umount "$root/proc" 2>/dev/null || true
	done
}

# fresh NAME: a Debian of its own in $root.
fresh() {
	root=$at/root-$1
	rm -rf "$root"
	cp -a "$at/base" "$root"
	cp "$at"/nilfs2-progs_*.deb "$root/tmp/nilfs2-progs.deb"
	mount -t proc proc "$root/proc" 2>/dev/null || true
}

in_root() {
	chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

install() {
	in_root apt-get install -y -qq "$@" 2>&1
}

ours() {
	in_root mkfs.nilfs2 -V 2>&1 | grep -q nilfs2-progs
}

@test "the package builds, passes its unit tests, has debug symbols" {
	cd "$at/source"
	DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" \
		dpkg-buildpackage -b -us -uc >"$at/build.log" 2>&1 || {
		grep -E '^(FAIL|ERROR)|error:' "$at/build.log" ||
			tail -n 40 "$at/build.log"
		false
	}
	grep -q '^# FAIL: *0' "$at/build.log"
	[ "$(sed -n 's/^# PASS: *//p' "$at/build.log" | tail -n 1)" -gt 1000 ]
	ls "$at"/nilfs2-progs_*.deb "$at"/nilfs2-progs-dbgsym_*.deb
	mkdir "$at/debug"
	dpkg-deb -x "$at"/nilfs2-progs-dbgsym_*.deb "$at/debug"
	dpkg-deb -x "$at"/nilfs2-progs_*.deb "$at/debug"
	id=$(readelf -n "$at/debug/usr/sbin/fsck.nilfs2" |
		sed -n 's/.*Build ID: //p')
	[ -f "$at/debug/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]
}

@test "lintian has no complaint" {
	# A merged /usr makes the programs /usr/sbin and /sbin the same.
	run lintian --allow-root --suppress-tags bin-sbin-mismatch \
		--tag-display-limit 0 "$at"/nilfs2-progs_*.changes
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "it holds tools, man pages, completions, documents and nothing else" {
	dpkg-deb -c "$at"/nilfs2-progs_*.deb | awk '$1 !~ /^d/ { print $6 }' |
		sed 's/^\.//' >have
	for tool in mkfs fsck gc gcsim dump; do
		grep -qx "/usr/sbin/$tool.nilfs2" have
		grep -qx "/usr/share/man/man8/$tool.nilfs2.8.gz" have
		grep -qx "/usr/share/bash-completion/completions/$tool.nilfs2" have
		grep -qx "/usr/share/fish/vendor_completions.d/$tool.nilfs2.fish" have
	done
	# README.md with what it shows and links to.
	for document in README.md SECURITY.md doc/report.png doc/install.md \
		doc/tour.md examples/README.md; do
		grep -qx "/usr/share/doc/nilfs2-progs/$document" have
	done
	grep -qx /usr/share/zsh/site-functions/_nilfs2_progs have
	grep -qx /usr/share/initramfs-tools/hooks/nilfs2-progs have
	for unit in nilfs2-gc@.service nilfs2-gc-night@.{service,timer} \
		nilfs2-scrub@.{service,timer}; do
		grep -qx "/lib/systemd/system/$unit" have
	done
	grep -qx /lib/systemd/system-preset/90-nilfs2-progs.preset have
	[ -z "$(grep -vE '^/lib/systemd/|^/usr/(sbin|share/(man|doc|bash-completion|fish|zsh|initramfs-tools|lintian))/' have)" ]
}

@test "installed alone, used, removed" {
	fresh alone
	install /tmp/nilfs2-progs.deb
	ours
	in_root dpkg -V nilfs2-progs
	in_root man -w mkfs.nilfs2
	in_root apt-get purge -y -qq nilfs2-progs
	[ ! -e "$root/usr/sbin/mkfs.nilfs2" ]
	[ -z "$(in_root dpkg-divert --list nilfs2-progs)" ]
}

@test "after nilfs-tools: its mkfs.nilfs2 is moved aside, and comes back" {
	fresh after
	install nilfs-tools
	before=$(sha256sum <"$root/usr/sbin/mkfs.nilfs2")
	install /tmp/nilfs2-progs.deb
	ours
	[ "$(sha256sum <"$root/usr/sbin/mkfs.nilfs2.nilfs-tools")" = "$before" ]
	in_root test -x /sbin/mount.nilfs2
	in_root man -w mkfs.nilfs2.nilfs-tools
	in_root dpkg -V nilfs2-progs nilfs-tools
	# Installing either once more changes nothing.
	install --reinstall nilfs-tools
	install --reinstall /tmp/nilfs2-progs.deb
	ours
	[ "$(sha256sum <"$root/usr/sbin/mkfs.nilfs2.nilfs-tools")" = "$before" ]
	in_root apt-get remove -y -qq nilfs2-progs
	[ "$(sha256sum <"$root/usr/sbin/mkfs.nilfs2")" = "$before" ]
	[ ! -e "$root/usr/sbin/mkfs.nilfs2.nilfs-tools" ]
	in_root dpkg -V nilfs-tools
}

@test "before nilfs-tools: either can be removed first" {
	fresh before
	install /tmp/nilfs2-progs.deb
	install nilfs-tools
	ours
	in_root apt-get remove -y -qq nilfs-tools
	ours
	[ ! -e "$root/usr/sbin/mkfs.nilfs2.nilfs-tools" ]
	in_root dpkg -V nilfs2-progs
	install nilfs-tools
	ours
	in_root apt-get purge -y -qq nilfs2-progs
	[ -x "$root/usr/sbin/mkfs.nilfs2" ]
	! ours
	in_root dpkg -V nilfs-tools
}

@test "the package's own test passes where it is installed" {
	fresh test
	install /tmp/nilfs2-progs.deb nilfs-tools
	cp "$top/debian/tests/installed" "$root/tmp/"
	in_root sh /tmp/installed
}

@test "a root on NILFS2 brings driver and checker into the initramfs" {
	fresh initramfs
	# The kernel recommends apparmor, which is not configured in a chroot.
	install --no-install-recommends /tmp/nilfs2-progs.deb \
		linux-image-amd64 kmod
	kernel=$(ls "$root/lib/modules")
	echo "/dev/vda / ext4 defaults 0 1" >"$root/etc/fstab"
	in_root update-initramfs -c -k "$kernel"
	in_root lsinitramfs "/boot/initrd.img-$kernel" >without
	! grep -E 'fsck\.nilfs2' without
	echo "/dev/vda / nilfs2 defaults 0 1" >"$root/etc/fstab"
	in_root update-initramfs -u -k "$kernel"
	in_root lsinitramfs "/boot/initrd.img-$kernel" >with
	grep -E 'sbin/fsck\.nilfs2$' with
	grep -E 'sbin/fsck$' with
	grep -E 'fs/nilfs2/nilfs2\.ko' with
}
