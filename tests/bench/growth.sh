#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# growth.sh [WHAT...]: how the work of each tool grows with what a volume holds.
#
# A volume has 1, 4 and 16 times as many snapshots, names in a directory, pieces
# of a file, names of an inode, segments in use, where a batch is limited by
# memory, or blocks in a segment whose first summary is lost; instructions of each
# job are counted, by valgrind, which no other load of the machine changes, and of
# the last one the bytes that it reads.  From 4 to 16 times a job may take at most 6 times the
# instructions more that it takes from 1 to 4: n log n gives less than 5, the
# square 16.
#
# Of what is lost of a volume there is a table as well: how often its repair checks
# all of the volume, at most three times, and how many bytes it reads, at most
# four times those in use.
set -eu -o pipefail
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C
PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/fsck:$NILFS2_BUILD/gc:$NILFS2_BUILD/dump:$PATH
most=6

# skip WHY: the whole of it.
skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

command -v valgrind >/dev/null || skip "needs valgrind"
! grep -q __asan_init <(nm "$NILFS2_BUILD/fsck/fsck.nilfs2") ||
	skip "not with sanitizers"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# How many of each there are at first.
declare -A first=([snapshots]=12 [names]=400 [pieces]=500 [links]=200
	[segments]=200 [lost]=256)

# Each fills the arguments of mkfs.nilfs2, $layers, with N things.
make_snapshots()
{
	local n

	for ((n = 0; n < $1; n++)); do
		mkdir "tree/$n"
		echo "$n" >"tree/$n/file$((n % 7))"
		layers+=(-d "tree/$n")
	done
}

make_names()
{
	(cd tree && seq -f 'a-name-%g' "$1" | xargs touch)
	layers=(-d tree)
}

make_pieces()
{
	local n

	for ((n = 0; n < $1; n++)); do
		printf x | dd of=tree/file bs=1K seek=$((2 * n)) \
			conv=notrunc status=none
	done
	layers=(-d tree)
}

make_links()
{
	local n

	touch tree/0
	for ((n = 1; n < $1; n++)); do
		ln tree/0 "tree/$n"
	done
	layers=(-d tree)
}

# count FILE COMMAND...: adds the instructions of a job to FILE.
count()
{
	local file=$1 status=0
	shift
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--log-file=counted "$@" >/dev/null 2>said || status=$?
	[ "$status" -le 1 ] || { cat said; exit 1; }
	sed -n 's/.*Collected : //p' counted >>"$file"
}

# segment_jobs N
segment_jobs()
{
	local gc=(gc.nilfs2 -j 1 --protect 0 --max-memory 1M --dry-run)

	rm -f image
	truncate -s 16G image
	mkfs.nilfs2 -q -B 256 image
	"$NILFS2_BUILD/tests/bench/vast" image segments "$1"
	count segments.fsck fsck.nilfs2 -fn -j 1 image
	count segments.clean "${gc[@]}" image
	count segments.compact "${gc[@]}" --compact image
	count segments.shrink "${gc[@]}" --shrink="$(($1 * 5 / 8))M" image
}

# Bytes that a repair reads, to a file.
count_read()
{
	# shellcheck disable=SC2016 # $$ is that of the other shell
	sh -c 'fsck.nilfs2 -y copy >/dev/null || [ $? -eq 1 ]
		sed -n "s/^rchar: //p" /proc/$$/io' >>"$1"
}

# lost_jobs N: three segments of N blocks of a file, the second without summary
lost_jobs()
{
	rm -rf tree image copy
	mkdir tree
	head -c "$((3 * $1 * 4))K" /dev/zero | tr '\0' x >tree/file
	mkfs.nilfs2 -q -B "$1" --size "$((32 * $1 * 4))K" -d tree image
	dd if=/dev/zero of=image bs=4K seek="$1" count=1 conv=notrunc \
		status=none
	cp --sparse=always image copy
	count lost.repair fsck.nilfs2 -y -j 1 copy
	cp --sparse=always image copy
	count_read lost.read
}

# lost_block FILE: zeros in its last block of data, or, with a level, of nodes
lost_block()
{
	dd if=/dev/zero of=copy bs=4K count=1 conv=notrunc status=none \
		seek="$(dump.nilfs2 bmap --nodes -b image "$1" |
			awk -v level="${2:-0}" '$6 == level { block = $5 }
				END { print block }')"
}

# lose WHAT: of the copy
lose()
{
	case $1 in
	first-MiB) dd if=/dev/zero of=copy bs=1M count=1 conv=notrunc \
		status=none ;;
	summary) dd if=/dev/zero of=copy bs=4K seek=2048 count=1 conv=notrunc \
		status=none ;;
	superblocks)
		dd if=/dev/zero of=copy bs=1K seek=1 count=1 conv=notrunc \
			status=none
		dd if=/dev/zero of=copy bs=4K seek=$((256 * 256 - 1)) count=1 \
			conv=notrunc status=none
		;;
	node) lost_block /file 1 ;;
	directory) lost_block / ;;
	*) lost_block "$1" ;;
	esac
}

# lost_row WHAT: a row of the table, which is a test.
lost_row()
{
	local use checks bytes status=0

	cp --sparse=always image copy
	use=$(($(stat -c %b copy) * 512))
	lose "$1"
	# shellcheck disable=SC2016 # $$ is that of the other shell
	bytes=$(sh -c 'status=0
		fsck.nilfs2 -yv copy >said 2>&1 || status=$?
		sed -n "s/^rchar: //p" /proc/$$/io
		exit "$status"') || status=$?
	checks=$(grep -c ': segments: checking segments$' said)
	tests=$((tests + 1))
	line="$tests - lost: $1: $checks whole checks, reads $(
		awk "BEGIN { printf \"%.1f\", $bytes / $use }") times what is in use"
	if [ "$status" -eq 1 ] && [ "$checks" -le 3 ] &&
		[ "$bytes" -le $((4 * use)) ]; then
		echo "ok $line"
	else
		echo "not ok $line"
		result=1
	fi
}

# lost_table: a volume of two checkpoints
lost_table()
{
	local what

	rm -rf tree later image
	mkdir tree later
	head -c 40M /dev/zero | tr '\0' x >tree/file
	seq -f 'tree/%g' 500 | xargs touch
	touch later/other
	mkfs.nilfs2 -q --size 256M -d tree -d later image
	for what in first-MiB summary superblocks dat sufile cpfile ifile node \
		directory; do
		lost_row "$what"
	done
}

# jobs WHAT N
jobs()
{
	local layers=()

	if [ "$1" = lost ]; then
		lost_jobs "$2"
		return
	fi
	if [ "$1" = segments ]; then
		segment_jobs "$2"
		return
	fi
	rm -rf tree image copy
	mkdir tree
	"make_$1" "$2"
	count "$1.mkfs" mkfs.nilfs2 -q -b 1K -B 64 --size 32M -j 1 \
		--snapshot "${layers[@]}" image
	count "$1.fsck" fsck.nilfs2 -fn -j 1 image
	count "$1.export" dump.nilfs2 export -j 1 image -
	count "$1.checkpoints" dump.nilfs2 checkpoints -j 1 image
	count "$1.output" gc.nilfs2 -j 1 --output copy image
	count "$1.rebuild" fsck.nilfs2 -fy --rebuild -j 1 image
	count "$1.compact" gc.nilfs2 -j 1 --protect 0 --compact=all image
}

tests=0 result=0
[ $# -gt 0 ] || set -- snapshots names pieces links segments lost
for what; do
	for times in 1 4 16; do
		jobs "$what" $((first[$what] * times))
	done
	for file in "$what".*; do
		tests=$((tests + 1))
		growth=$(awk '{ n[NR] = $1 } END {
			printf "%.1f", (n[3] - n[2]) / (n[2] - n[1]) }' "$file")
		# shellcheck disable=SC2046
		line="$tests - $what, ${file#*.}: grows by $growth ($(
			echo $(cat "$file")))"
		if awk "BEGIN { exit !($growth <= $most) }"; then
			echo "ok $line"
		else
			echo "not ok $line"
			result=1
		fi
	done
	[ "$what" != lost ] || lost_table
done
echo "1..$tests"
exit $result
