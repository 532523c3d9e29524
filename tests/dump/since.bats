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

@test "an opaque directory, and sockets, which tar has not" {
	mkdir -p one/d/sub one/e two/d two/e
	seq 10 | tee one/d/file one/d/sub/file >one/e/turns
	echo 2 >one/e/gone
	touch two/d/.wh..wh..opq
	echo new >two/d/new
	tar -C two -cf two.tar .
	mkfs.nilfs2 -q -B 16 --size 8M -d one image
	mkfs.nilfs2 -q --add --oci -d two.tar image
	start image 1 other.img
	travel image 1 2 other.img
	[ "$(dump.nilfs2 ls other.img /d)" = new ]
	travel image 2 1 other.img
	# A socket takes the place of a file, one goes, one stays.
	mkdir three
	cp -a one/. three
	rm three/e/turns
	perl -MSocket -e 'for (@ARGV) {
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!;
		bind($s, pack_sockaddr_un($_)) or die $!; }' \
		three/e/turns three/e/goes three/stays
	rm -f image
	mkfs.nilfs2 -q -B 16 --size 8M -d one -d three image
	rm three/e/goes
	echo 3 >three/e/more
	mkfs.nilfs2 -q --add -d three image
	start image 1 other.img
	run -1 dump.nilfs2 export --since 1 -c 2 image layer.tar
	[[ $output == *'sockets left out'* ]]
	mkfs.nilfs2 -q --add --oci -d layer.tar other.img
	diff <(listed image 2 || :) <(listed other.img)
	[ "$(dump.nilfs2 ls other.img /e)" = gone ]
	# The digest has no sockets either.
	run dump.nilfs2 export --force --since 2 -c 3 image layer.tar
	mkfs.nilfs2 -q --add --oci -d layer.tar other.img
	diff <(listed image 3 || :) <(listed other.img)
}

# unchanged STATUS-TEXT ARGUMENT...: mkfs.nilfs2 --add refuses, and nothing is written.
unchanged() {
	local text=$1 before

	before=$(cksum <other.img)
	run -1 mkfs.nilfs2 --add --oci "${@:2}" other.img
	echo "$output"
	[[ $output == *"$text"* ]]
	[ "$(cksum <other.img)" = "$before" ]
}

# digest FILE.tar: what the archive says that it is for.
digest() {
	strings -n 20 "$1" | sed -n '1s/.* comment=NILFS2.since=\([0-9a-f]\{32\}\)$/\1/p'
}

@test "a volume in another state is refused, whatever differs but content" {
	local edit seed=0

	mkdir -p one/d two
	seq 100 >one/file
	ln one/file one/d/name
	ln -s file one/link
	mkfifo one/fifo
	echo 2 >two/file
	find one -exec touch -h -d @1500000000 {} +
	mkfs.nilfs2 -q -B 16 --size 8M -d one image
	mkfs.nilfs2 -q --add -d two image
	dump.nilfs2 export -q --since 1 -c 2 image layer.tar
	dump.nilfs2 export -q --since 1 -c 2 image layer.tar.xz
	[ "$(digest layer.tar | wc -c)" -eq 33 ]
	refusal='has the changes to another state than that of the volume'
	while read -r edit; do
		rm -rf odd other.img
		cp -a one odd
		(cd odd && eval "$edit" &&
			case $edit in touch*) ;; *) touch -hd @1500000000 . ./* ;; esac)
		mkfs.nilfs2 -q -B 16 --size 8M -d odd other.img
		unchanged "$refusal" -d layer.tar
		unchanged "$refusal" -d layer.tar.xz -n
		unchanged "$refusal" -d - <layer.tar
	done <<-'EOF'
		mv fifo pipe
		rm link
		touch more
		chmod 600 file
		echo 1 >>file
		touch -d @1500000001 file
		touch -d @1500000000.000000001 d
		rm fifo && mkdir fifo
		rm d/name && cp -a file d/name
		mv d/name name
		rm fifo && mknod fifo c 1 3
	EOF
	# The state itself, from an archive, or with other inode numbers.
	for source in one one.tar; do
		dump.nilfs2 export -q -c 1 image one.tar --force
		rm -f other.img
		mkfs.nilfs2 -q -B 64 -b 1K --size 8M -d $source other.img
		mkfs.nilfs2 -q --add --oci -d layer.tar.xz other.img
		diff <(listed image 2) <(listed other.img)
		# Once only.
		unchanged "$refusal" -d layer.tar
		# Without --oci, which it implies.
		rm -f other.img
		mkfs.nilfs2 -q -B 64 -b 1K --size 8M -d $source other.img
		mkfs.nilfs2 -q --add -d layer.tar.xz other.img
		diff <(listed image 2) <(listed other.img)
	done
	# Without the comment it is any layer.
	mkdir plain
	tar -xf layer.tar -C plain
	tar -C plain -cf plain.tar .
	mkfs.nilfs2 -q --add --oci -d plain.tar other.img
	# A new volume is of any state.
	mkfs.nilfs2 -q -B 16 --size 8M --oci -d layer.tar new.img
	[ "$(dump.nilfs2 cat new.img /file)" = 2 ]
}

@test "the digest is the same for the same files, and says nothing of damage" {
	mkdir one
	seq 100 >one/file
	mkfs.nilfs2 -q -B 16 --size 8M -d one image
	mkfs.nilfs2 -q --add -d one image
	seq 200 >one/file
	mkfs.nilfs2 -q --add -d one image
	for since in 1 2; do
		dump.nilfs2 export -q --since $since -c 3 image $since.tar
	done
	[ "$(digest 1.tar)" = "$(digest 2.tar)" ]
	[ -n "$(digest 1.tar)" ]
	dump.nilfs2 set -q --expert --fix-checksums image inode:/file i_links_count=0 \
		>said
	run -1 dump.nilfs2 export --since 3 -c 2 image damaged.tar
	[[ $output == *'checkpoint 3'* ]]
	[ -z "$(digest damaged.tar)" ]
}

@test "each snapshot is a layer, from the first or since a checkpoint" {
	local names

	need_corpus
	cp --sparse=always "$corpus/snapshots/image" image
	mapfile -t cnos < <(numbers -s image)
	n=${#cnos[@]}
	[ "$n" -ge 3 ]
	dump.nilfs2 export --json --each-snapshot image layers >said
	names=(layers/*)
	[ "${#names[@]}" -eq "$n" ]
	[ "${names[0]}" = "layers/0001-${cnos[0]}.tar" ]
	[ "$(gojq -r '.layers[].file' said)" = "$(printf '%s\n' "${names[@]}")" ]
	[ "$(gojq -c '[.layers[] | .since]' said)" = \
		"$(printf '%s\n' null "${cnos[@]:0:n-1}" | gojq -sc .)" ]
	[ "$(gojq -c '[.layers[] | .created]' said)" = \
		"$(dump.nilfs2 checkpoints -s --json image |
			gojq -c '[.checkpoints[].created]')" ]
	# All of them make a volume with the same snapshots.
	mkfs.nilfs2 -q --oci --snapshot -B 16 --size 24M "${names[@]/#/-d}" new.img
	for ((i = 0; i < n; i++)); do
		diff <(listed image "${cnos[i]}") <(listed new.img $((i + 1)))
	done
	# The later ones, to one that has the first.
	run -1 dump.nilfs2 export --each-snapshot image layers
	[[ $output == *"${names[0]}"* ]]
	dump.nilfs2 export -q --force --each-snapshot image layers >said
	[ ! -s said ]
	dump.nilfs2 export --each-snapshot --since "${cnos[0]}" -c "${cnos[2]}" \
		image later >said
	[ "$(ls later)" = "0001-${cnos[1]}.tar
0002-${cnos[2]}.tar" ]
	grep -q "later/0002-${cnos[2]}.tar  *${cnos[1]}  *${cnos[2]}  *20" said
	start image "${cnos[0]}" other.img
	# In the wrong order, and with a gap.
	unchanged 'changes to another state than that of the volume' \
		-d later/0002-"${cnos[2]}".tar -d later/0001-"${cnos[1]}".tar
	mkfs.nilfs2 -q --add --oci --snapshot -d later/0001-"${cnos[1]}".tar \
		-d later/0002-"${cnos[2]}".tar other.img
	diff <(listed image "${cnos[1]}") <(listed other.img 2)
	diff <(listed image "${cnos[2]}") <(listed other.img)
	run -2 dump.nilfs2 export --each-snapshot image layers.tar
	[[ $output == *"needs a directory"* ]]
	run -2 dump.nilfs2 export --each-snapshot image dir /path
	run -1 dump.nilfs2 export --each-snapshot --since "${cnos[n-1]}" image none
	[[ $output == *"no snapshot there"* ]]
}
