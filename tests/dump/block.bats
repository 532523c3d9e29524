#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 block: what it says of a block is what dumpseg and the other
# structures say.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	command -v gojq >/dev/null || skip "gojq not found"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Blocks of the payload from dumpseg: "BLOCK INO VBLOCK BLKOFF", every NTH.
listed() {
	perl "$BATS_TEST_DIRNAME/logs_lines.pl" <"$1/dumpseg" |
		awk -v nth="$2" '$1 == "block" && NR % nth == 0 {
			print $2, $3, $4, $5 }'
}

@test "file, virtual block and offset are what dumpseg says" {
	for name in cleaned snapshots sparse-2k crash-dsync; do
		listed "$corpus/$name" 37 >theirs
		[ -s theirs ]
		cut -d ' ' -f 1 theirs |
			xargs dump.nilfs2 block --json-lines "$corpus/$name/image" |
			gojq -r '"\(.blocknr) \(.file.ino) \(.file.vblocknr // "-") " +
				"\(if .file.kind == "node" and .file.ino != 3
				   then "-" else .file.blkoff end)"' >ours
		diff theirs ours
	done
}

@test "a block says virtual block V exactly where V says this block" {
	for name in cleaned many-snapshots-2k; do
		image=$corpus/$name/image
		listed "$corpus/$name" 41 | awk '$3 != "-" { print $1 }' |
			xargs dump.nilfs2 block --json-lines "$image" |
			gojq -r '"\(.blocknr) \(.file.vblocknr) \(.use.state)"' >blocks
		[ -s blocks ]
		cut -d ' ' -f 2 blocks |
			xargs dump.nilfs2 dat --json-lines "$image" |
			gojq -r '"\(.vblocknr) \(.de_blocknr) \(.state)"' >entries
		awk 'FILENAME == "entries" { at[$1] = $2; state[$1] = $3; next }
			$3 == "moved" || $3 == "reused" { good = at[$2] != $1 }
			$3 == "freed" { good = state[$2] == "free" }
			$3 !~ /^(moved|reused|freed)$/ {
				good = at[$2] == $1 && state[$2] == $3 }
			!good || !($2 in at) { print; bad = 1 }
			END { exit bad }' entries blocks
	done
}

@test "what the cleaner moved is found where it moved to" {
	image=$corpus/cleaned/image
	said='[.file.ino, .file.blkoff, .file.vblocknr]'
	dump.nilfs2 block --json-lines "$image" 1000..3000 |
		gojq -c "select(.use.state == \"moved\") |
			[.use.elsewhere] + $said" | head -n 40 | sort -u >moved
	[ -s moved ]
	grep -o '^\[[0-9]*' moved | tr -d '[' | sort -u |
		xargs dump.nilfs2 block --json-lines "$image" |
		gojq -c "[.blocknr] + $said" | sort -u | diff moved -
}

@test "of the DAT, the blocks of its map are live and no others" {
	image=$corpus/cleaned/image
	dump.nilfs2 bmap -b --nodes "$image" dat |
		awk '$NF == "data" || $NF == "node" { print $5 }' | sort >map
	listed "$corpus/cleaned" 1 | awk '$2 == 3 { print $1 }' |
		xargs dump.nilfs2 block --json-lines "$image" >blocks
	gojq -r 'select(.use.live) | .blocknr' blocks | sort | diff map -
	gojq -r 'select(.use.live | not) | .use.state' blocks | sort -u >dead
	[ "$(cat dead)" = replaced ]
}

@test "the areas of a device" {
	image=$corpus/special/image
	last=$(($(stat -c %s "$image") / 4096 - 1))
	dump.nilfs2 block --json-lines "$image" 0 1 "$last" >areas
	[ "$(gojq -r '"\(.area), \(.part)"' areas)" = "first superblock, null
segment, summary
second superblock, null" ]
	run -1 dump.nilfs2 block "$image" $((last + 1))
}

@test "the latest super root is that" {
	image=$corpus/special/image
	last=$(dump.nilfs2 logs --json-lines "$image" |
		gojq -r 'select(.super_root) | .super_root.blocknr' | tail -n 1)
	dump.nilfs2 block --json-lines "$image" "$last" 11 >roots
	[ "$(gojq -r '"\(.part) \(.latest)"' roots)" = "super root true
super root false" ]
}

@test "--path names a path of the file" {
	image=$corpus/snapshots/image
	awk -F '\t' '$1 == "f" && $6 > 0 && $14 ~ /^[A-Za-z0-9_.\/]+$/ {
		print $11, "/" $14 }' "$corpus/snapshots/manifest" |
		tail -n 3 >files
	[ -s files ]
	while read -r ino path; do
		block=$(dump.nilfs2 bmap --json-lines "$image" "$ino" |
			gojq 'select(.record == "runs") | .blocknr' | head -n 1)
		[ "$(dump.nilfs2 block --path --json "$image" "$block" |
			gojq -r '.blocks[0].file.path')" = "$path" ]
	done <files
}

@test "a path is of a checkpoint that has the block: numbers are used again" {
	mkdir -p one/x two three
	echo first >one/file
	cp one/file two/file
	echo third >three/other
	mkfs.nilfs2 -q -B 16 --size 4M --snapshot -d one -d two -d three image
	ino=$(dump.nilfs2 ls -i -c 1 image /file | awk '{ print $1 }')
	[ "$(dump.nilfs2 ls -i image /other | awk '{ print $1 }')" -eq "$ino" ]
	block=$(dump.nilfs2 bmap -c 1 --json-lines image /file |
		gojq 'select(.record == "runs") | .blocknr')
	dump.nilfs2 block --path --json-lines image "$block" |
		gojq -e '.file | .path == "/file" and .path_cno == 1'
	dump.nilfs2 block -c 1 --json-lines image "$block" |
		gojq -e '.file.path == "/file"'
	dump.nilfs2 block -c 3 --json-lines image "$block" |
		gojq -e '.file | has("path") and .path == null and .path_cno == null'
	now=$(dump.nilfs2 bmap --json-lines image /other |
		gojq 'select(.record == "runs") | .blocknr')
	dump.nilfs2 block --path --json-lines image "$now" |
		gojq -e '.file | .path == "/other" and .path_cno == 3'
	run -1 dump.nilfs2 block -c 77 image "$now"
	[[ $output == *"checkpoint 77: does not exist; the nearest "* ]]
}
