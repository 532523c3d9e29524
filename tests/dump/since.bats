#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# States that travel: dump.nilfs2 export --since A -c B, applied to a volume that has
# A, by mkfs.nilfs2 --add, by umoci and by GNU tar, makes B of it.

load ../kernel/lab
load files
load ../mkfs/layers
load ../mkfs/mkfs
bats_require_minimum_version 1.5.0

setup() {
	make_room
	cd "$room" || return 1
	here=$NILFS2_SOURCE/tests/dump
}

teardown() {
	drop_room
}

# listed IMAGE [CNO]: all files with all that a tar stream holds of them.
listed() {
	(
		set -o pipefail
		dump.nilfs2 export -q ${2:+-c "$2"} "$1" - |
			perl "$here/tarlist.pl"
	)
}

# start IMAGE A OTHER: a volume with the files of checkpoint A.
start() {
	rm -f "$3"
	dump.nilfs2 export -q -c "$2" "$1" - |
		mkfs.nilfs2 -q -B 16 --size 24M -d - "$3"
	diff <(listed "$1" "$2") <(listed "$3")
}

# travel IMAGE A B OTHER: OTHER, which is at A, becomes B.
travel() {
	(
		set -o pipefail
		dump.nilfs2 export -q --since "$2" -c "$3" "$1" - |
			mkfs.nilfs2 -q --add --oci --snapshot -d - "$4"
	) && diff <(listed "$1" "$3") <(listed "$4")
}

numbers() {
	dump.nilfs2 checkpoints --json "$@" | gojq '.checkpoints[].checkpoint'
}

# chain IMAGE: all its checkpoints, one after the other, and back to the first one.
chain() {
	local cnos at cno

	mapfile -t cnos < <(numbers "$1")
	[ "${#cnos[@]}" -gt 1 ]
	at=${cnos[0]}
	start "$1" "$at" other.img
	for cno in "${cnos[@]:1}" "$at"; do
		travel "$1" "$at" "$cno" other.img
		at=$cno
	done
	fsck.nilfs2 -nq other.img
}

# tree DIR: all attributes of all files, and which names are one file.
tree() {
	(
		cd "$1" && find . \( -type d -printf '%P %y %m %U %G %T@\n' -o \
			-printf '%P %y %m %U %G %s %T@ %n %l\n' \)
		find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
		find . -type b -o -type c | LC_ALL=C sort | xargs -r stat -c '%n %t %T'
		find . ! -type d -links +1 -printf '%i %P\n' | LC_ALL=C sort |
			awk '$1 != ino { print ""; ino = $1 } { print $2 }'
	) | LC_ALL=C sort
}

# by_others IMAGE A B: GNU tar and umoci unpack A and what B adds to it.
by_others() {
	rm -rf base.tar layer.tar want by_tar by_umoci oci
	dump.nilfs2 export -q -c "$2" "$1" base.tar
	dump.nilfs2 export -q --since "$2" -c "$3" "$1" layer.tar
	dump.nilfs2 export -q -c "$3" "$1" want
	mkdir by_tar
	tar -xpf base.tar -C by_tar --numeric-owner
	# A directory in place of a file, and the reverse, need help.
	tar -tvf layer.tar >members
	perl -ne '/^(.)\S+ +\S+ +(?:\d+|\d+,\d+) \S+ \S+ (.*?)(\/?)(?: -> .*| link to .*)?$/
		or die $_; my ($type, $name) = ($1, $2);
		$name =~ s,(^|/)\.wh\.([^/]*)$,$1$2, ? print "$name\0" :
			-e "by_tar/$name" && ($type eq "d") != (-d _ && !-l "by_tar/$name") &&
			print "$name\0"' members | (cd by_tar && xargs -0r rm -rf --)
	tar -xpf layer.tar -C by_tar --numeric-owner --delay-directory-restore \
		--exclude='.wh.*'
	diff <(tree want) <(tree by_tar)
	command -v umoci >/dev/null || return 0
	umoci init --layout oci
	umoci new --image oci:t
	umoci raw add-layer --image oci:t base.tar
	umoci raw add-layer --image oci:t layer.tar
	umoci raw unpack --image oci:t by_umoci
	diff <(tree want) <(tree by_umoci)
}

@test "random layers: each state from the one before it, and the first from the last" {
	local seed sources

	for seed in $(seq 12); do
		make_layers "$seed"
		read -r first <layers/wanted
		[ "$first" != refused ] || continue
		sources=(layers/*.tar)
		rm -f image
		mkfs.nilfs2 -q -B 16 --size 8M --oci "${sources[@]/#/-d}" image
		[ "${#sources[@]}" -lt 2 ] || chain image
	done
}

@test "random edits under the kernel, over five snapshots and between any two" {
	local seed cnos i j

	need_guest uml
	mkfs.nilfs2 -q -B 16 --size 24M image
	perl "$here/edits.pl" "$BATS_TEST_NUMBER" 6 >edits
	guest image <<-EOF
		nilfs_mount "\$DEV1"
		cd "\$MNT"
		step() { sync; mkcp -s "\$DEV1"; }
		$(<edits)
		cd /
		nilfs_umount
	EOF
	[ "$status" -eq 0 ] || { echo "$output$errors" | tail; false; }
	mapfile -t cnos < <(numbers -s image)
	[ "${#cnos[@]}" -eq 6 ]
	listed image "${cnos[5]}" >last
	[ "$(wc -l <last)" -gt 8 ]
	for i in 0 1 2 3 4; do
		! diff -q <(listed image "${cnos[i]}") <(listed image "${cnos[i + 1]}")
	done
	start image "${cnos[0]}" other.img
	for i in 1 2 3 4 5; do
		travel image "${cnos[i - 1]}" "${cnos[i]}" other.img
	done
	fsck.nilfs2 -nq other.img
	[ "$(id -u)" -ne 0 ] || for i in 0 1 2 3 4; do
		by_others image "${cnos[i]}" "${cnos[i + 1]}"
		by_others image "${cnos[5]}" "${cnos[i]}"
	done
	for i in 0 2 4; do
		for j in 5 3 1; do
			start image "${cnos[i]}" other.img
			travel image "${cnos[i]}" "${cnos[j]}" other.img
		done
	done
}

@test "volumes that the kernel wrote" {
	need_corpus
	for name in snapshots small-files plain-checkpoints; do
		mapfile -t cnos < <(numbers "$corpus/$name/image")
		start "$corpus/$name/image" "${cnos[0]}" other.img
		travel "$corpus/$name/image" "${cnos[0]}" 0 other.img
	done
}

# Names move from one link to the next, and neither inode nor number of links change.
@test "a new name of a file that is the same otherwise" {
	mkdir -p one/d one/e add/d add/e
	seq 5000 >one/d/file
	ln one/d/file one/other
	ln one/d/file one/third
	mkfs.nilfs2 -q -B 16 --size 8M -d one image
	# A hard link to a file of the lower layer.
	touch add/.wh.other add/d/file
	ln add/d/file add/e/new
	touch -d @1500000000 add/e
	tar -C add -cf add.tar .wh.other e/ d/file
	tar -C add --delete -f add.tar d/file e/new
	tar -C add -cf link.tar d/file e/new
	tar --delete -f link.tar d/file
	tar -Af add.tar link.tar
	mkfs.nilfs2 -q --add --oci -d add.tar image
	inode() {
		dump.nilfs2 inode -c "$1" --json image /third | gojq -c \
			'.inode | [.ino, .i_ctime, .i_ctime_nsec, .i_links_count]'
	}
	inode 1
	[ "$(inode 1)" = "$(inode 2)" ]
	listed image 2 | grep ' = d/file 3$'
	start image 1 other.img
	travel image 1 2 other.img
	travel image 2 1 other.img
}

@test "the directory of a changed file keeps its time; what only the inode says is left out" {
	need_root
	mkdir -p one/d/e one/f two/d
	echo 1 | tee one/d/e/file one/d/other one/f/same >one/d/changed
	find one -exec touch -d @1500000000.123456789 {} +
	mkfs.nilfs2 -q -B 16 --size 8M -d one image
	echo two >two/d/changed
	tar --format=posix -C two -cf two.tar d/changed
	tar --format=posix -C one -rf two.tar f/same
	mkfs.nilfs2 -q --add --oci -d two.tar image
	by_others image 1 2
	[ "$(tar tf layer.tar | tr '\n' ' ')" = "d d/changed " ]
	dump.nilfs2 diff image 1 2 | grep '/f/same (.*inode'
}
