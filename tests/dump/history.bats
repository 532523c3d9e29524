#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 history, against the manifests that the kernel's view of the
# checkpoints gave: attributes, names and what is where.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# histories IMAGE: of the paths on standard input, as manifests write them, for
# history.pl.
histories() {
	local path

	while IFS= read -r path; do
		printf 'PATH\t%s\n' "$path"
		dump.nilfs2 history --json-lines "$1" \
			"/$(printf '%b' "${path//\\/\\0}")"
	done
}

# paths_of COUNT MANIFEST...: about COUNT of all paths.
paths_of() {
	cut -f14 "${@:2}" | LC_ALL=C sort -u |
		awk -v n="$1" '{ line[NR] = $0 }
			END { step = NR > n ? NR / n : 1
			for (i = 1; i <= NR; i += step) print line[int(i)] }'
}

equals_manifests() {
	local image=$corpus/$1/image pairs latest

	latest=$(dump.nilfs2 info --json "$image" | gojq .latest.checkpoint)
	mapfile -t pairs < <(checkpoints_of "$1" | sed "s/^0 /$latest /" |
		tr ' ' '\n')
	paths_of 25 "$corpus/$1"/manifest "$corpus/$1"/manifest.[0-9]* |
		histories "$image" |
		perl "$BATS_TEST_DIRNAME/history.pl" "${pairs[@]}"
}

@test "each version is what the kernel saw in its snapshots" {
	shopt -s nullglob
	each_image equals_manifests
}

# Every checkpoint with its manifest: renames of the file, of a directory above,
# to another directory; links; a saved file that replaces another one; numbers
# that are used again; a file that comes back; no change at all.
changes() {
	guest_look
	cat <<-'EOF'
	cd "$MNT"
	mkdir -p a/b other
	noise 1 40960 >a/b/file
	echo other >other/file
	look
	put a/b/file 4096 2 8192
	look
	mv a/b/file a/b/renamed
	look
	touch unrelated
	look
	mv a moved
	look
	ln moved/b/renamed link
	ln moved/b/renamed moved/link
	look
	mv moved/b other/b
	look
	rm link
	chmod 600 moved/link
	look
	rm moved/link other/b/renamed
	look
	for i in 1 2 3; do
		echo "next $i" >new
		mv new other/file
		look
	done
	noise 3 5000 >a
	look
	truncate -s 100 a
	chown 5:6 a
	look
	ln -s a soft
	mkdir -p a.d/file
	look
	mv a a.d/file/x
	mv other a.d/file/y
	look
	cd /
	nilfs_umount
	EOF
}

@test "renames, links, replaced files and reused numbers" {
	need_guest uml
	looked_at 64M < <(changes)
	[ "$(ls manifest.* | wc -l)" -gt 15 ]
	for file in manifest.*; do
		pairs+=("${file#manifest.}" "$file")
	done
	paths_of 1000 manifest.* | histories image |
		perl "$BATS_TEST_DIRNAME/history.pl" "${pairs[@]}"

	# Two blocks of ten were written again, and none by what came next.
	dump.nilfs2 history --json image /a/b/file >json
	[ "$(gojq -c '[.versions[:4][].changed_blocks]' json)" = "[10,2,0,0]" ]
	[ "$(gojq -r '.versions[0].names[].path' json)" = /a/b/file ]

	# By number, each file that had it.
	ino=$(gojq '.versions[0].inode' json)
	dump.nilfs2 history --json image "$ino" >number
	gojq -e '[.versions[].generation] | unique | length > 1' number
	gojq -e '[.versions[] | .inode] | unique == ['"$ino"']' number

	# What is shown can be fetched.
	dump.nilfs2 history --json image /other/file |
		gojq -r '.versions[] | "\(.last) \(.size) \(.names[0].path)"' |
	while read -r cno size path; do
		[ "$(dump.nilfs2 cat -c "$cno" image "$path" | wc -c)" -eq \
			"$size" ]
	done
}

@test "text has a line for each version, with all names" {
	run -0 dump.nilfs2 history --bytes "$corpus/snapshots/image" d/f1
	[ "${#lines[@]}" -eq 4 ]
	[[ ${lines[1]} == *" 2 "*" -rw-r--r-- "*" 7000 "*"  /d/f1, /hard" ||
		${lines[1]} == *"  /hard, /d/f1" ]]
	[[ ${lines[2]} == *" 4 "*"  /d/f1" ]]
	run -0 dump.nilfs2 history --bytes "$corpus/snapshots/image" ./d/../d//f2/
	[[ ${lines[1]} == *"  /d/f2" ]]
	[ "${#lines[@]}" -eq 3 ]
}

@test "what is in no checkpoint, and numbers that no file has" {
	image=$corpus/snapshots/image
	run -1 dump.nilfs2 history "$image" /nothing
	[[ $output == *"/nothing: in no checkpoint" ]]
	run -1 dump.nilfs2 history "$image" 1000000000000
	[[ $output == *"inode 1000000000000: in no checkpoint" ]]
	run -2 dump.nilfs2 history "$image" 3
	run -2 dump.nilfs2 history "$image" 12x
}

@test "a checkpoint that cannot be read is reported and skipped" {
	image=$(copy_image snapshots)
	dump.nilfs2 history "$image" /changing >whole
	dump.nilfs2 set --expert --fix-checksums "$image" checkpoint:9 \
		'cp_ifile_inode.i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 history "$image" /changing
	[[ $stderr == *"checkpoint 9: "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	same "$(awk '$1 != 9 { print $1, $2 }' whole)" \
		"$(awk '{ print $1, $2 }' <<<"$output")"
}

@test "a damaged directory is reported once, not for each checkpoint" {
	image=$(copy_image snapshots)
	dump.nilfs2 set --expert --fix-checksums "$image" dirent:/d/f1 \
		rec_len=3 >/dev/null
	run -1 --separate-stderr dump.nilfs2 history "$image" /d/f1
	[[ ${stderr_lines[0]} == *"checkpoint 7: directory "*broken* ]]
	[ "${#stderr_lines[@]}" -le 2 ]
	[ "${#lines[@]}" -eq 3 ]
	run -1 --separate-stderr dump.nilfs2 find -d "$image"
	[[ $stderr == *"checkpoint 22: directory "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $output == *" 4  /d/f2"* ]]
}

@test "a path leads through the other blocks of a directory with a broken one" {
	mkdir -p tree/zz
	(cd tree && seq -f 'a-rather-long-name-%04g' 0 299 | xargs touch)
	echo x >tree/zz/file
	mkfs.nilfs2 -q -b 4096 --size 16M -B 64 -d tree image
	ino=$(dump.nilfs2 ls -i image /zz/file | awk '{ print $1 }')
	dump.nilfs2 set --expert --fix-checksums image \
		dirent:/a-rather-long-name-0010 rec_len=2 >/dev/null
	run -1 --separate-stderr dump.nilfs2 history image "$ino"
	[[ $stderr == *"checkpoint 1: directory 2: names cannot be read" ]]
	[[ ${lines[1]} == *" /zz/file" ]]
}
