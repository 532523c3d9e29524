#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What fsck.nilfs2 restores of volumes with damaged metadata: a sample of the
# table that "make check-long" prints.  No repair crashes or hangs, its exit
# status is honest, and it names what it loses of inodes and names, and nothing
# else where that can be proved; no option of it loses more than none.  SEED takes
# another sample, EVERY=1 all cases.

bats_require_minimum_version 1.5.0
load ../kernel/lab
: "${SEED:=1}"

setup_file() {
	need_corpus
	export corpus
}

# ends_well EVERY NAME FAIL KINDS [OPTION]: no case ends as FAIL.
ends_well() {
	run timeout -s KILL 3000 "$NILFS2_BUILD/tests/damage/damage" \
		--list --every "$1" --seed "$SEED" --fail "$3" --kinds "$4" \
		${5:+"$5"} "$corpus/$2/image"
	[ "$status" -eq 0 ] || grep -E " (${3//,/|}) exit=" <<<"$output"
	[ "$status" -eq 0 ]
}

# spoil EVERY NAME [OPTION]
spoil() {
	local every=${EVERY:-$1}

	ends_well "$every" "$2" false,option,LOST,status,crash \
		DAT,DAT-node,SUFILE,SUFILE-node,ifile,ifile-node,directory $3
	ends_well "$every" "$2" false,option,status,crash \
		cpfile,cpfile-node,file-node,log-summary,log-data,log-root $3
}

@test "a volume with snapshots" { spoil 97 snapshots --options; }
@test "a volume with many files" { spoil 307 small-files; }
@test "a volume that was cleaned" { spoil 307 cleaned-1k; }
@test "a volume with many snapshots" { spoil 211 many-snapshots-2k --options; }
@test "a volume with every type of file" { spoil 37 special --options; }
@test "a volume after a crash with fsync" { spoil 37 crash-dsync --options; }

@test "a new volume, the only checkpoint of which is a snapshot" {
	"$BATS_TEST_DIRNAME/fresh.sh" "$BATS_TEST_TMPDIR"
	corpus=$BATS_TEST_TMPDIR spoil 3 fresh --options
}

# restores N KINDS[:DAMAGE] NAME...: one in N cases, with any content
restores() {
	local every=$1 kinds=${2%%:*} damage=${2#"${2%%:*}"} name

	shift 2
	for name; do
		run timeout -s KILL 3000 "$NILFS2_BUILD/tests/damage/damage" \
			--list --kinds "$kinds" --every "${EVERY:-$every}" \
			${damage:+--damage "${damage#:}"} \
			--fail named,refused,LOST,status,crash \
			"$corpus/$name/image"
		[ "$status" -eq 0 ] || grep ^CASE <<<"$output"
		[ "$status" -eq 0 ]
	done
}

@test "blocks of checkpoints" {
	restores 5 cpfile,cpfile-node many-snapshots-2k cleaned-1k snapshots
}

@test "a block of checkpoints that leads into files is no fault of the DAT" {
	restores 1 cpfile:random,another cleaned small-files
}

@test "blocks of the DAT" {
	restores 5 DAT,DAT-node snapshots many-snapshots-2k
}

@test "nodes of the DAT that are older than its blocks" {
	restores 5 DAT-node:older nearly-full
}

@test "nodes of files with the content of other ones, or older, are restored" {
	restores 151 file-node:another,half,older cleaned-1k deep-1k
}

# The block of another directory, in a log with a right checksum: only the times of
# the inode say that the other checkpoint has the same names.
@test "directories that are written twice are restored from the other checkpoint" {
	local i

	cd "$BATS_TEST_TMPDIR"
	for i in {1..20}; do
		mkdir -p "tree/d$((i % 5))/e$i"
		touch "tree/f$i" "tree/d$((i % 5))/e$i"/{1..3}
	done
	mkfs.nilfs2 -q --size 16M -B 64 --redundant -d tree image
	for i in 1 2; do
		run -0 "$NILFS2_BUILD/tests/damage/damage" --list \
			--kinds directory --damage another,half --seed "$i" \
			--fail unproved,false,named,refused,LOST,status,crash \
			image
	done
}

# names_no_more N KINDS SUMS NAME...: one in N cases
names_no_more() {
	local every=$1 kinds=$2 sums=$3 name

	shift 3
	for name; do
		run timeout -s KILL 3000 "$NILFS2_BUILD/tests/damage/damage" \
			--list --kinds "$kinds" --every "$every" --sums "$sums" \
			--fail unproved,false,LOST,status,crash \
			"$corpus/$name/image"
		[ "$status" -eq 0 ] || grep -E " (unproved|false|LOST) exit=" <<<"$output"
		[ "$status" -eq 0 ]
	done
}

@test "what was restored is not named as lost" {
	names_no_more 11 directory left,matched special many-snapshots-2k
	names_no_more 61 directory left,matched small-files
	names_no_more 101 ifile left small-files
	names_no_more 19 ifile left many-snapshots-2k
}

@test "the kernel reads what is repaired" {
	need_guest uml
	run "$BATS_TEST_DIRNAME/kernel.sh" --every "${EVERY:-300}" snapshots
	[ "$status" -eq 0 ] || echo "$output"
	[ "$status" -eq 0 ]
}

@test "the kernel uses and cleans what is repaired of several damages" {
	need_guest uml
	run "$BATS_TEST_DIRNAME/kernel.sh" --many "${MANY:-1}" \
		--seed $((SEED * 6000)) snapshots
	[ "$status" -eq 0 ] || echo "$output"
	[ "$status" -eq 0 ]
}

# No repair crashes, and what it leaves is named, but for what many.known lists.
@test "several damages at once" {
	local name ends="LOST|status|option|crash"

	# The list is of these seeds.
	[ "$SEED" -eq 1 ] || ends=crash
	cd "$BATS_TEST_TMPDIR"
	for name in snapshots cleaned-1k special; do
		"$NILFS2_BUILD/tests/damage/damage" --list --totals \
			--many "${MANY:-3}" --seed $((SEED * 1000)) \
			"$corpus/$name/image" >cases
		awk -v ends="^($ends)\$" '$1 == "CASE" { for (i = 4; i <= NF; i++)
			if ($i ~ ends) print $2, $3, $i }' cases >>found
	done
	run -1 grep -vxFf "$BATS_TEST_DIRNAME/many.known" found
	[ -z "$output" ]
}

# A snapshot's inodes are those of an older checkpoint, by lost writes: neither its
# ifile nor that of the repair has the files.
@test "files that only the DAT and the logs know are named" {
	local seed

	for seed in 33 131; do
		run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
			--seed "$seed" --fail LOST,status,crash \
			"$corpus/snapshots/image"
	done
}

# 1002: errors of a snapshot keep those of the latest state from being repaired; 1021:
# the newest state has no files, the one before it only with less snapshots.
@test "with an undo file the latest state comes before snapshots" {
	local seed

	for seed in 1002 1021; do
		run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
			--seed "$seed" --fail refused,gone,LOST,status,crash \
			"$corpus/snapshots/image"
	done
}

# 7005: the DAT is repaired in a log that needs a new cpfile, and the ifile has lost
# all of its blocks, with the root directory.
@test "a volume that has lost all inodes gets an empty root if that can be undone" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 7005 --fail refused,gone,LOST,false,status,crash \
		"$corpus/special/image"
}

# 32037: a block of the ifile and one of a directory have changed places.
@test "the entries of a directory are not taken for inodes" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 --options \
		--seed 32037 --fail refused,gone,LOST,false,option,status,crash \
		"$corpus/special/image"
}

# The volume was written to a wrong place, over itself: the logs of all but the first
# state are found, but not what they lead to.
@test "an old state is found behind copies of newer ones" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 7023 --fail refused,gone,LOST,false,status,crash \
		"$corpus/snapshots/image"
}

# The volume was written over itself; the DAT of the newest eight states is lost.
@test "states without a DAT keep no others from being tried" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 25014 --fail refused,gone,LOST,false,status,crash \
		"$corpus/many-snapshots-2k/image"
}

# All blocks of the DAT are noise, and some logs: entries that were cleared are no
# worse than those that lead outside the volume.
@test "a DAT of which the logs have only a part is derived" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 22066 --fail refused,gone,LOST,false,status,crash \
		"$corpus/many-snapshots-2k/image"
}

# 31053: an ifile that has lost its bitmap and the descriptors: nothing said that its
# inodes are free, and no directory was rewritten.
@test "an ifile without bitmaps is no sound one" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 31053 --fail refused,gone,LOST,false,status,crash \
		"$corpus/special/image"
}

# A superblock is wiped, the other one has two wrong bytes in the label, and each log
# with a super root has wrong blocks.
@test "a superblock with a wrong checksum has the layout if logs agree with it" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 27028 --fail refused,gone,LOST,false,status,crash \
		"$corpus/snapshots/image"
}

# An older DAT: only with the numbers of the checkpoint file in use again the ifile is
# read, the number of which is free, too. It was given to another block.
@test "no log is written while numbers of blocks are free" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 25033 --fail refused,gone,LOST,false,status,crash \
		"$corpus/special/image"
}

# The DAT has blocks in segments that were written again: by the states after an older
# one (7034), by the same segment before (7018), by another segment (7030).  7018 loses
# all files of the latest state.
@test "blocks that were overwritten by other logs are given up" {
	local case

	for case in cleaned-1k:7018 cleaned-1k:7034 snapshots:7030; do
		run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
			--seed "${case#*:}" \
			--fail refused,gone,LOST,false,status,crash \
			"$corpus/${case%:*}/image"
	done
}

# A block of inodes and one of the DAT changed places: the map of something else is not
# that of an inode, and its repair kept all others from being repaired.
@test "an inode with the map of something else is lost, and no other one" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 5090 --fail refused,gone,LOST,false,status,crash \
		"$corpus/special/image"
	[[ $output == *"option=- "* ]]
}

# 25019: a node written in place has lost its last children. The entries of their
# blocks were ended before the map of the file was rebuilt.
@test "entries of blocks that a map misses are not ended before its repair" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 --options \
		--seed 25019 --fail refused,gone,option,LOST,false,status,crash \
		"$corpus/cleaned-1k/image"
}

# 5001: the DAT of the state that the superblocks name cannot be opened or rebuilt;
# 5069: the errors of a snapshot are those of the next one after it is given up.
@test "what is given up is judged by its end" {
	local seed

	for seed in 5001 5069; do
		run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
			--seed "$seed" \
			--fail refused,gone,LOST,false,status,crash \
			"$corpus/snapshots/image"
	done
}

# Eight states are repaired, twice, and the best one once more: 221 whole checks, where
# a state that the repair reaches again is checked again.
@test "no state is checked twice" {
	local n

	cd "$BATS_TEST_TMPDIR"
	"$NILFS2_BUILD/tests/damage/damage" make \
		"$corpus/many-snapshots-2k/image" 31006-many image
	run -1 fsck.nilfs2 -fyv --undo-file undo image
	n=$(grep -c ': segments: checking segments$' <<<"$output")
	echo "$n whole checks"
	[ "$n" -le 90 ]
}

# Without --undo-file the user names it, whatever else is wrong.
@test "a snapshot that is named is given up beside errors of the latest state" {
	cd "$BATS_TEST_TMPDIR"
	"$NILFS2_BUILD/tests/damage/damage" make \
		"$corpus/snapshots/image" 1002-many image
	run fsck.nilfs2 -fy --give-up=snapshot=21 image
	[[ $output == *"snapshot 21: given up, is a plain checkpoint now"* ]]
}

# What --rebuild makes of several damages was less than what other repairs restore.
@test "--rebuild costs no more than a repair without it, whatever is damaged" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 --options \
		--seed 1009 --fail option,LOST,status,crash \
		"$corpus/snapshots/image"
}

# The newest logs are lost, and the first superblock, which alone names them.
@test "what may have been written after the state of the second superblock is named" {
	run -0 "$NILFS2_BUILD/tests/damage/damage" --list --many 1 \
		--seed 1023 --fail refused,gone,LOST,status,crash \
		"$corpus/snapshots/image"
}

@test "a snapshot that cannot be repaired is given up if that is asked for" {
	local seed cno before

	cd "$BATS_TEST_TMPDIR"
	for seed in $(seq 1 40); do
		"$NILFS2_BUILD/tests/damage/damage" make \
			"$corpus/snapshots/image" "$seed-many" image
		run fsck.nilfs2 -fy image
		[ "$status" -eq 4 ] || continue
		[[ $output == *"-y --give-up=snapshot="* ]] && break
	done
	cno=${output##*--give-up=snapshot=}
	cno=${cno%% *}
	before=$(dump.nilfs2 checkpoints image | awk '$5 == "ss"' | wc -l)
	cp image other
	run -4 fsck.nilfs2 -fn --give-up="snapshot=$cno" image
	cmp image other
	run fsck.nilfs2 -fy --give-up="snapshot=$cno" image
	[[ $output == *"snapshot $cno: given up, is a plain checkpoint now"* ]]
	[[ $output == *"lost: checkpoint $cno is no longer a snapshot"* ]]
	[ "$(dump.nilfs2 checkpoints image | awk '$5 == "ss"' | wc -l)" -eq \
		$((before - 1)) ]
	run -1 fsck.nilfs2 -fy --undo-file undo other
	run -0 fsck.nilfs2 -fn other
	[[ $output == *": clean,"* ]]
}

# snapshots IMAGE: their numbers.
snapshots() {
	dump.nilfs2 checkpoints "$1" | awk '$5 == "ss" { print $1 }'
}

# Among others the directory of snapshot 21 names inodes that are lost.
@test "an undo file costs no snapshot that is repaired without one" {
	cd "$BATS_TEST_TMPDIR"
	"$NILFS2_BUILD/tests/damage/damage" make \
		"$corpus/snapshots/image" 90-many image
	cp image other
	run -4 fsck.nilfs2 -fy other
	[[ $output == *": checkpoint 21: inode "* ]]
	run -1 fsck.nilfs2 -fy --undo-file undo image
	snapshots other >without
	snapshots image >with
	[ "$(wc -l <without)" -gt 1 ]
	diff <(grep -vx 21 without) with
}

@test "a sound snapshot is not given up" {
	cd "$BATS_TEST_TMPDIR"
	cp "$corpus/snapshots/image" image
	run -0 fsck.nilfs2 -fy --give-up=snapshot=4 image
	cmp image "$corpus/snapshots/image"
	run -16 fsck.nilfs2 -fy --give-up=file=4 image
	[[ $output == *"is not snapshot=CNO"* ]]
}

@test "a case is made again as it was" {
	local case

	case=$("$NILFS2_BUILD/tests/damage/damage" --list-all \
		--kinds DAT --damage random --sums matched --fail crash \
		"$corpus/special/image" | awk '/^CASE/ { id = $3 } END { print id }')
	cd "$BATS_TEST_TMPDIR"
	for out in one two; do
		"$NILFS2_BUILD/tests/damage/damage" make \
			"$corpus/special/image" "$case" "$out"
	done
	cmp one two
	run cmp -s one "$corpus/special/image"
	[ "$status" -eq 1 ]
	run "$NILFS2_BUILD/dump/dump.nilfs2" block "$corpus/special/image" \
		"${case%%-*}"
	[[ $output == *"Metadata file:          dat"* ]]
}
