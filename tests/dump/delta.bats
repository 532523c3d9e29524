#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 export --since: an archive that turns one checkpoint into another,
# by tar and rm, and by mkfs.nilfs2 --oci.

load ../kernel/lab
load files
bats_require_minimum_version 1.5.0

setup() {
	make_room
	cd "$room" || return 1
}

teardown() {
	drop_room
}

# tree DIR: names, types, modes, owners, times, links, targets, content.  The
# times of directories are those of the archive alone if it sets them last.
tree() {
	(cd "$1" && find . -mindepth 1 \( -type d -printf '%P %y %m %U %G\n' -o \
		-printf '%P %y %m %U %G %s %T@ %n %l\n' \) | LC_ALL=C sort &&
		find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# apply DIR LAYER.tar: as the specification of image layers says, by other tools.
apply() {
	# What has a whiteout is removed; what changes its type is replaced.
	tar tvf "$2" | awk '{ print substr($1, 1, 1), $6 }' | (cd "$1" && perl -ne '
		/^(.) (?:\.\/)?(.*?)\/?$/ or die;
		my ($type, $name) = ($1, $2);
		if ($name =~ s,(^|/)\.wh\.([^/]*)$,$1$2,) {
			push @removed, $name;
		} elsif (-e $name && !-l $name && ($type eq "d") != (-d _)) {
			push @removed, $name;
		}
		END { print "$_\0" for @removed }' | xargs -0r rm -r --)
	tar xpf "$2" -C "$1" --numeric-owner --exclude='.wh.*'
}

# both_ways IMAGE A B: B is A and the delta between them.
both_ways() {
	rm -rf base.tar delta.tar applied want out new.img
	dump.nilfs2 export -c "$2" "$1" base.tar
	dump.nilfs2 export -c "$3" --since "$2" "$1" delta.tar
	dump.nilfs2 export -c "$3" "$1" want
	mkdir applied
	tar xpf base.tar -C applied --numeric-owner
	apply applied delta.tar
	diff <(tree want) <(tree applied)
	mkfs.nilfs2 -q --oci --size auto+4M -d base.tar -d delta.tar new.img
	dump.nilfs2 export new.img out
	diff <(tree want) <(tree out)
}

@test "between checkpoints that the kernel made" {
	need_corpus
	for name in snapshots small-files; do
		numbers=$(dump.nilfs2 checkpoints --json "$corpus/$name/image" |
			gojq '.checkpoints[].checkpoint' | head -n 12)
		first=$(head -n 1 <<<"$numbers") last=$(tail -n 1 <<<"$numbers")
		middle=$(sed -n 5p <<<"$numbers")
		both_ways "$corpus/$name/image" "$first" "$last"
		both_ways "$corpus/$name/image" "$last" "$first"
		[ -z "$middle" ] ||
			both_ways "$corpus/$name/image" "$middle" "$last"
	done
}

@test "directories removed and replaced, links added, types changed" {
	mkdir -p one/gone/deep one/stays one/turns one/was
	echo 1 >one/gone/deep/file
	echo 1 >one/stays/file
	echo 1 >one/turns/inside
	echo 1 >one/plain
	echo 1 >one/was/a
	ln one/stays/file one/hard
	ln -s plain one/link
	mkfifo one/fifo
	cp -a one two
	rm -r two/gone two/turns two/plain two/fifo two/link
	echo 2 >two/turns
	mkdir two/plain
	echo 2 >two/plain/new
	ln two/stays/file two/stays/third
	rm two/hard
	ln -s /elsewhere two/link
	rm -r two/was
	mkdir two/was
	echo 2 >two/was/b
	truncate -s 1M two/holes
	printf x | dd of=two/holes bs=1 seek=500000 conv=notrunc status=none
	chmod 700 two/stays
	mkfs.nilfs2 -q --size 64M -B 64 -d one one.img
	mkdir merged
	tar -C two -cf two.tar .
	# Two checkpoints of unrelated trees: whiteouts remove all of the first.
	(mkdir wipe && cd wipe && touch .wh..wh..opq && tar -cf ../wipe.tar .)
	mkfs.nilfs2 -q --oci --size 64M -B 64 -d one -d wipe.tar -d two.tar both.img
	both_ways both.img 1 3
	both_ways both.img 3 1
}

@test "no difference: nothing but the end" {
	mkdir tree
	echo 1 >tree/file
	mkfs.nilfs2 -q --size 64M -B 64 -d tree one.img
	gc.nilfs2 -q --take-snapshot one.img
	last=$(dump.nilfs2 checkpoints --json one.img | gojq '.checkpoints[-1].checkpoint')
	dump.nilfs2 export --since 1 -c "$last" one.img - | tar t >list
	[ ! -s list ]
}

# Directories with names that are none, and one whose name a link has, too; the third
# checkpoint changes a file in each of the former.
@test "what is in a directory that is left out is left out" {
	mkdir -p one/d two/d/{qqY,wwY,wwZ}/sub three/d/{wwY,wwZ}/sub outside
	touch one/keep
	ln -s "$PWD/outside" two/d/qqX
	for dir in qqY wwY wwZ; do
		echo old | tee two/d/$dir/f >two/d/$dir/sub/f
	done
	echo new | tee three/d/wwY/sub/f >three/d/wwZ/sub/f
	for layer in one two three; do
		tar --sort=name -C $layer -cf $layer.tar .
	done
	mkfs.nilfs2 -q --size 16M -B 16 --oci -d one.tar -d two.tar -d three.tar \
		-d one.tar image
	perl -0777 -pi -e 's/qq[XY]/qqZ/g; s,wwY,../,g; s,wwZ,w/x,g' image
	for since in 1 2; do
		run -1 --separate-stderr bash -c "dump.nilfs2 export --since $since \
			-c 3 image - | tar -tP; exit \${PIPESTATUS[0]}"
		[[ $since -eq 2 || $stderr == *"/d/qqZ: the directory has this \
name twice"* ]]
		[[ $stderr == *"not a name of a file"* ]]
		[[ $output != */f ]] && [[ $output != */f$'\n'* ]]
	done
}

@test "what does not fit is refused" {
	mkdir tree
	echo 1 >tree/file
	mkfs.nilfs2 -q --size 64M -B 64 -d tree one.img
	run -2 dump.nilfs2 export --since 1 one.img dir
	[[ $output == *"--since: needs a tar stream"* ]]
	run -2 dump.nilfs2 export --since 1 one.img - file
	run -1 dump.nilfs2 export --since 9 one.img -
	[[ $output == *"checkpoint 9"* ]]
	# A name that would remove another one.
	touch tree/.wh.file

	mkdir empty
	tar -C tree -cf layer.tar .wh.file
	mkfs.nilfs2 -q -f --size 64M -B 64 -d empty -d layer.tar two.img
	run -1 dump.nilfs2 export --since 1 -c 2 two.img out.tar
	[[ $output == *".wh.file"* ]]
}
