#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The RPM, from the release archive and rpm/nilfs2-progs.spec: it builds, and a
# root of its own runs what it installs.

setup_file() {
	export at=$BATS_FILE_TMPDIR LC_ALL=C
	make -C "$NILFS2_BUILD" dist >/dev/null 2>&1
	mkdir -p "$at/SOURCES"
	mv "$NILFS2_BUILD"/nilfs2-progs-*.tar.gz "$at/SOURCES/"
	# Build requirements are Debian's packages here, unknown to rpm, and so are the
	# macros of systemd-rpm-macros.
	rpmbuild --define "_topdir $at" --define '_sbindir /usr/sbin' \
		--define '_unitdir /usr/lib/systemd/system' \
		--define '_presetdir /usr/lib/systemd/system-preset' \
		--define 'systemd_post() # %{?*}' --define 'systemd_preun() # %{?*}' \
		--define 'systemd_postun_with_restart() # %{?*}' \
		--define 'debug_package %{nil}' --nodeps -bb \
		"$NILFS2_SOURCE/rpm/nilfs2-progs.spec" >"$at/build.log" 2>&1 || {
		tail -n 30 "$at/build.log" >&2
		return 1
	}
}

@test "the RPM holds tools, man pages, completions and licences" {
	rpm -qlp "$at"/RPMS/*/nilfs2-progs-*.rpm >have
	for tool in mkfs fsck gc gcsim dump; do
		grep -qx "/usr/sbin/$tool.nilfs2" have
		grep -qE "/man8/$tool.nilfs2.8" have
	done
	grep -q COPYING have
	grep -q bash-completion have
	for unit in nilfs2-gc@.service nilfs2-gc-night@.{service,timer} \
		nilfs2-scrub@.{service,timer}; do
		grep -qx "/usr/lib/systemd/system/$unit" have
	done
	grep -qx /usr/lib/systemd/system-preset/90-nilfs2-progs.preset have
	rpm -qp --scripts "$at"/RPMS/*/nilfs2-progs-*.rpm |
		grep -q "nilfs2-gc@.service"
	for document in README.md SECURITY.md doc/report.png; do
		grep -q "/nilfs2-progs/$document$" have
	done
}

@test "its tools run from where they are installed" {
	mkdir root
	rpm2cpio "$at"/RPMS/*/nilfs2-progs-*.rpm | cpio -idm --quiet -D root
	PATH=$PWD/root/usr/sbin:$PATH
	mkdir source
	echo content >source/file
	mkfs.nilfs2 -q --size auto -d source volume.img
	fsck.nilfs2 -fn volume.img
	[ "$(dump.nilfs2 cat volume.img file)" = content ]
}

@test "a conflict with nilfs-utils is declared" {
	rpm -qp --conflicts "$at"/RPMS/*/nilfs2-progs-*.rpm | grep -q nilfs-utils
}
