#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is left of a damaged checkpoint: find --inodes, export --inodes, and inodes by
# number as <N>.  Blocks that are known are destroyed, and what is exported is compared
# with the files that were put in.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

# One image for all, of two states: in the second a file is new and one was changed.
setup_file() {
	export TZ=UTC0
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p one/sub/deep two
	perl -e 'srand 5; for my $i (1 .. 300) {
		open my $f, ">", sprintf "one/sub/file-%03d-%s", $i, "x" x 40;
		print $f join "", map { chr rand 256 } 1 .. $i * 17 }
		open my $f, ">", "one/sub/deep/large";
		print $f join "", map { chr rand 256 } 1 .. 1_500_000;
		open $f, ">", "one/top"; print $f "of the first state\n" x 500'
	ln -s 'where it leads' one/sub/link
	mkfifo one/sub/deep/pipe
	mkdir -p delta/sub/deep
	echo new >delta/new
	echo changed >delta/sub/deep/changed
	cp -a one/. two
	cp -a delta/. two
	mkfs.nilfs2 -q --size 32M -B 64 --oci --snapshot -d one -d delta two.img
	mkfs.nilfs2 -q --size 32M -B 64 -d two one.img
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	files=$BATS_FILE_TMPDIR
	cp --sparse=always "$files"/one.img "$files"/two.img .
}

# blocks IMAGE INODE: the blocks of its content.
blocks() {
	dump.nilfs2 bmap -b --json "$1" "$2" |
		gojq -r '.runs[] | select(.level == 0).blocknr'
}

# wipe IMAGE BLOCK...: destroy blocks of 4 KiB.
wipe() {
	local image=$1 block

	for block in "${@:2}"; do
		dd if=/dev/zero of="$image" bs=4096 seek="$block" count=1 \
			conv=notrunc status=none
	done
}

# rescue STATUS IMAGE: export it to out; the image stays as it is.
rescue() {
	local before

	before=$(sha256sum <"$2")
	rm -rf out
	run "-$1" --separate-stderr timeout 60 dump.nilfs2 export --inodes "$2" out
	[ "$(sha256sum <"$2")" = "$before" ]
}

# contents DIR: the checksums of the regular files there.
contents() {
	find "$1" -type f -size +0 -exec sha256sum {} + | cut -d' ' -f1 | sort
}

# number IMAGE PATH
number() {
	dump.nilfs2 inode --json "$1" "$2" | gojq .inode.ino
}

@test "without damage it is the export of the checkpoint" {
	rescue 0 one.img
	[ -z "$stderr" ]
	dump.nilfs2 export one.img whole
	# But for the directory itself.
	diff <(manifest --drop portable out | tail -n +2) \
		<(manifest --drop portable whole | tail -n +2)
	dump.nilfs2 find --json one.img | gojq -c '[.files[].path] | sort' >paths
	run -0 dump.nilfs2 find --inodes --json one.img
	gojq -c '[.files[].path] + ["/"] | sort' <<<"$output" | diff paths -
	gojq -e '.files | all(.whole_bytes == .size and .checkpoint == 1)' \
		<<<"$output"
}

@test "the block of the root directory is lost" {
	local sub top

	sub=$(number one.img /sub)
	top=$(number one.img /top)
	wipe one.img $(blocks one.img /)
	rescue 1 one.img
	[[ $stderr == *"dump.nilfs2: /: directory 2, block 0"* ]]
	diff <(contents "$files/two") <(contents out)
	cmp "out/#$top" "$files/two/top"
	diff -r --no-dereference "out/#$sub/deep/large" "$files/two/sub/deep/large"
	[ "$(readlink "out/#$sub/link")" = 'where it leads' ]
	[ -p "out/#$sub/deep/pipe" ]
	[ "$(find "out/#$sub" -type f | wc -l)" -eq 302 ]

	# One of them, and a directory; as a stream; the list.
	run -1 dump.nilfs2 export --inodes one.img some "#$sub/deep/*"
	[ "$(find some -type f | wc -l)" -eq 2 ]
	run -1 dump.nilfs2 export --inodes one.img out.tar
	[ "$(tar -tf out.tar | grep -c "^#$sub/file-")" -eq 300 ]
	run -1 --separate-stderr dump.nilfs2 find --inodes one.img -l "#$top"
	[[ ${lines[1]} == *" 100%  "*" #$top" ]]

	# By their numbers.
	dump.nilfs2 cat one.img "<$top>" | cmp - "$files/two/top"
	dump.nilfs2 cat one.img "<$sub>/deep/large" |
		cmp - "$files/two/sub/deep/large"
	[ "$(dump.nilfs2 ls one.img "<$sub>/deep" | sort | tr '\n' ' ')" = \
		"changed large pipe " ]
	[ "$(number one.img "<$sub>")" = "$sub" ]
	dump.nilfs2 export one.img below "<$sub>"
	[ "$(find below -type f | wc -l)" -eq 302 ]
	run -0 dump.nilfs2 bmap -s one.img "<$top>"
	run -0 dump.nilfs2 du one.img "<$sub>"
	run -1 dump.nilfs2 cat one.img '<999999>'
	[[ $output == *"inode 999999: not in checkpoint 1"* ]]
	run -1 dump.nilfs2 cat one.img "<$top"
	run -1 dump.nilfs2 cat one.img "/<$top>"
}

@test "names are from the block of an older checkpoint" {
	wipe two.img $(blocks two.img / )
	rescue 1 two.img
	cmp out/top "$files/two/top"
	diff -r --no-dereference -x pipe out/sub "$files/two/sub"
	# The new file has no name there.
	[ "$(find out -maxdepth 1 -name '#*' -size +0 -exec cat {} +)" = new ]
}

@test "a block of a directory is lost" {
	local i name all

	all=($(blocks one.img /sub))
	[ "${#all[@]}" -gt 3 ]
	dump.nilfs2 ls -i one.img /sub >inodes
	wipe one.img "${all[2]}"
	rescue 1 one.img
	[[ $stderr == *"/sub: directory "* ]]
	diff <(contents "$files/two") <(contents out)
	i=0
	while read -r ino name; do
		[[ $name == file-* ]] || continue
		if [ -e "out/sub/$name" ]; then
			cmp "out/sub/$name" "$files/two/sub/$name"
		else
			cmp "out/#$ino" "$files/two/sub/$name"
			i=$((i + 1))
		fi
	done <inodes
	[ "$i" -gt 40 ] && [ "$i" -lt 80 ]
}

@test "the map of the ifile is lost" {
	dump.nilfs2 set --expert --fix-checksums one.img checkpoint:1 \
		'cp_ifile_inode.i_bmap[0]=1' 'cp_ifile_inode.i_bmap[1]=0xffffffffff'
	rescue 1 one.img
	[[ $stderr == *"checkpoint 1: inode 6: block map: "* ]]
	dump.nilfs2 export "$files/one.img" whole
	# But for the directory itself.
	diff <(manifest --drop portable out | tail -n +2) \
		<(manifest --drop portable whole | tail -n +2)

	# So are the checkpoint itself, and an older one.
	cp "$files/two.img" .
	dump.nilfs2 set --expert --fix-checksums two.img checkpoint:1 \
		'cp_ifile_inode.i_bmap[0]=1' 'cp_ifile_inode.i_bmap[1]=0xffffffffff'
	run -1 dump.nilfs2 export -c 1 --inodes two.img old
	diff <(contents "$files/one") <(contents old)
	cmp old/top "$files/one/top"
}

# all_content: files of the second state are in out, with zeros after them up to the
# end of a block at most.
all_content() {
	local name size got

	cd "$files/two"
	while read -r name; do
		size=$(stat -c %s "$name")
		cmp -n "$size" "$name" "$BATS_TEST_TMPDIR/out/$name"
		got=$(stat -c %s "$BATS_TEST_TMPDIR/out/$name")
		[ "$got" -eq "$size" ] ||
			[ "$got" -eq $(((size + 4095) / 4096 * 4096)) ]
	done < <(find . -type f -size +0)
	cd "$BATS_TEST_TMPDIR"
	[ "$(readlink out/sub/link)" = 'where it leads' ]
}

@test "all blocks of the ifile are lost" {
	# Nothing has the sizes: they are those of the blocks.
	large=$(number two.img /sub/deep/large)
	top=$(number two.img /top)
	wipe one.img $(blocks one.img ifile)
	rescue 1 one.img
	[[ $stderr == *"inodes 0 to 31: their block of the inode file is lost"* ]]
	[[ $stderr == *"/top: its inode is lost"* ]]
	all_content

	# Where an older checkpoint has inodes they are used.
	wipe two.img $(blocks two.img ifile)
	rescue 1 two.img
	[[ $stderr == *"those of checkpoint 1 are used"* ]]
	all_content
	cmp out/top "$files/two/top"

	# By their numbers.
	run -1 --separate-stderr dump.nilfs2 cat two.img "<$top>"
	[[ $stderr == *"dump.nilfs2: <$top>: read from the logs, as of checkpoint "* ]]
	[ "$output" = "$(cat "$files/two/top")" ]
	! dump.nilfs2 cat two.img "<$large>" >large
	cmp large "$files/two/sub/deep/large"
	run -1 --separate-stderr dump.nilfs2 cat two.img "<999999>"
	[[ -z "$output" && $stderr == *"<999999>: not in the logs, either" ]]
}

@test "the DAT is lost, and all metadata" {
	wipe one.img $(blocks one.img dat)
	rescue 1 one.img
	diff <(contents "$files/two") <(contents out)
	cmp out/sub/deep/large "$files/two/sub/deep/large"

	# The last log has it all, and the super root.
	cp --sparse=always "$files/one.img" .
	dump.nilfs2 logs -s --json one.img >logs
	wipe one.img $(blocks one.img ifile) $(gojq '.logs[] |
		select(.ss_flags % 8 >= 4) | .blocknr + .ss_nblocks - 1' logs)
	rescue 1 one.img
	[[ $stderr == *"the newest one of which a log was found"* ]]
	cmp -n 9500 out/top "$files/two/top"
}

@test "a map is lost: what is left of the file is exported" {
	local large nodes

	large=$(number one.img /sub/deep/large)
	nodes=$(dump.nilfs2 bmap --nodes --json one.img "<$large>" |
		gojq '[.runs[] | select(.level == 1).blocknr] | last')
	wipe one.img "$nodes"
	rescue 1 one.img
	[[ $stderr =~ "/sub/deep/large: "([0-9]+)" of its 1500000 bytes are lost" ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	[ "$(stat -c %s out/sub/deep/large)" -eq 1500000 ]
	run -1 --separate-stderr dump.nilfs2 find --inodes --json one.img large
	gojq -e '.files[0] | .whole_bytes < .size and .path == "/sub/deep/large"' \
		<<<"$output"
	rm -rf out/sub/deep
	diff -r --no-dereference out "$files/two" | grep -v '^Only in .*two' |
		grep -v '^Only in out: .nilfs' | run -1 grep .
}

@test "what the kernel wrote is found without the root directory" {
	need_corpus
	cp --sparse=always "$corpus/small-files/image" image
	wipe image $(blocks image / | head -n 1) $(blocks image /many | sed -n 2p)
	rescue 1 image
	diff <(contents out) <(awk -F'\t' '$1 == "f" && $6 > 0 {
		sub("sha256:", "", $12); print $12 }' \
		"$corpus/small-files/manifest" | sort)
}

@test "options that do not go together" {
	run -2 dump.nilfs2 export --inodes --deleted one.img out
	run -2 dump.nilfs2 export --inodes --since 1 one.img out.tar
	run -2 dump.nilfs2 export --inodes --recover one.img out
	run -2 dump.nilfs2 find --inodes --all one.img
	run -2 dump.nilfs2 find --inodes --deleted one.img
	run -1 dump.nilfs2 find --inodes -c 77 one.img
}

@test "commands that fail for damage name the ones that do not" {
	# A block of the log of the latest state.
	wipe one.img "$(blocks one.img sufile | head -n 1)"
	run -1 dump.nilfs2 ls one.img
	[[ $output == *"one.img: "*"; fsck.nilfs2 -n lists "*"dump.nilfs2 export --inodes saves "* ]]
	run -1 dump.nilfs2 export --inodes one.img out
	[[ $output != *"; "*"--inodes"* ]]
	# A directory of an older one.
	gc.nilfs2 -q --take-snapshot two.img
	wipe two.img $(blocks two.img /)
	run -1 dump.nilfs2 export two.img out2
	[[ $output == *"missing or incomplete; --inodes also saves "* ]]
	# A file that is no volume.
	seq 10000 >none.img
	run -1 dump.nilfs2 ls none.img
	[[ $output != *fsck* ]]
}
