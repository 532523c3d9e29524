#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The units of systemd: what systemd says of them, and whether the tools take their
# commands.  tests/boot runs them.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v systemd-analyze >/dev/null || skip "no systemd-analyze"
	mkdir -p root/etc/systemd/system
	# The units are where a package has them; their programs are those of the build.
	make -s -C "$NILFS2_BUILD" DESTDIR="$PWD/root" sbindir=/usr/sbin \
		systemdsystemunitdir=/usr/lib/systemd/system \
		systemdsystempresetdir=/usr/lib/systemd/system-preset \
		install-nodist_systemdsystemunitDATA \
		install-nodist_systemdsystempresetDATA >/dev/null
	units=$PWD/root/usr/lib/systemd/system
	sed -i -E -e "s,=[^ ]*/(gc|fsck)\.nilfs2 ,=$NILFS2_BUILD/\1/\1.nilfs2 ," \
		"$units"/*.service
}

@test "systemd-analyze has no complaint about the units" {
	mkdir check
	cp "$units"/* check
	cd check
	# Two mounts, as fstab has them.
	for where in home 'srv-my\x20data'; do
		printf '[Mount]\nWhat=/dev/vdb\nWhere=%s\nType=nilfs2\n' \
			"$(systemd-escape -u -p -- "$where")" >"$where.mount"
		for unit in ./nilfs2-*@.*; do
			cp "$unit" "${unit/@/@$where}"
		done
	done
	set -- ./nilfs2-*@?*.service ./nilfs2-*@?*.timer
	[ $# -ge 10 ]
	run -0 --separate-stderr systemd-analyze verify --man=no "$@"
	echo "$stderr"
	[ -z "$output" ]
	[ -z "$stderr" ]
	for unit in ./nilfs2-*@home.service; do
		run -0 systemd-analyze security --offline=yes --threshold=30 "$unit"
	done
}

@test "the tools take the commands of the units" {
	for unit in "$units"/nilfs2-*.service; do
		command=$(sed -n 's/^ExecStart=//p' "$unit")
		# No NILFS2 volume, but no usage error either.
		run -1 --separate-stderr ${command//%f/"$PWD"} ||
			run -8 --separate-stderr ${command//%f/"$PWD"}
		[[ $stderr == *": not a directory of a mounted NILFS2 volume"* ]]
	done
}

@test "nothing is enabled by itself; the names in the man pages are those of units" {
	sed 's/\\-/-/g' "$NILFS2_SOURCE"/man/{gc.nilfs2.8,fsck.nilfs2.8.in} |
		sed -n 's/^systemctl enable --now //p' >names
	[ "$(wc -l <names)" -ge 3 ]
	while read -r name; do
		name=$(eval "echo $name")
		# Without the file of presets this would enable it.
		run -0 systemctl --root="$PWD/root" preset "$name"
		[ -z "$(find root/etc -name 'nilfs2*')" ]
		run -0 systemctl --root="$PWD/root" enable "$name"
		mv root/etc/systemd/system/*.wants/nilfs2* .
	done <names
	for name in nilfs2-{gc@home.service,gc-night@home.timer,scrub@home.timer}; do
		[ -L "$name" ]
	done
	[ -d root/etc/systemd/system/home.mount.wants ]
	[ "$(systemd-escape -p --template=nilfs2-gc@.service '/srv/my data')" = \
		'nilfs2-gc@srv-my\x20data.service' ]
}
