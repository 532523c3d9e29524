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
done
echo "1..$tests"
exit $result
