#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [mkfs|populate|check|snapshots|segments|list|export|mount|past|text|gc|
# order|live|memory|vast|scale|seeds|all]... measures against peers and against the
# machine's limits; see README.md.  Each part is a file of its own.
#
#   NILFS2_BUILD	where the tools were built (the current directory)
#   BENCH_ROUNDS	rounds of each comparison, instead of each part's own
#   BENCH_TMPFS		a directory in memory for the images that mkfs makes

set -eu

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${NILFS2_BUILD:-.}" && pwd)
# shellcheck disable=SC2034
{
guest=$here/../kernel/guest.sh
dump=$build/dump/dump.nilfs2
mkfs=$build/mkfs/mkfs.nilfs2
limit=$build/tests/bench/limit
memory=${BENCH_TMPFS:-/dev/shm}
}
export PATH=$PATH:/usr/sbin:/sbin

# interleave DEFAULT-ROUNDS [OPTION...] LABEL=COMMAND...
interleave() {
	local rounds=${BENCH_ROUNDS:-$1}

	shift
	"$build/tests/bench/interleave" -n "$rounds" -o "$scratch/results" \
		-t "$title" "$@"
}

title() {
	title=$*
	printf '\n%s\n' "$title"
}

# The goals beside what was reached, of the parts that ran.
goals() {
	title "goals"
	touch "$scratch/results"
	awk -f "$here/goals.awk" "$here/goals" "$scratch/results"
}

# have TOOL...: say which are missing.
have() {
	local tool

	for tool; do
		command -v "$tool" >/dev/null && continue
		echo "($tool is not installed)"
		return 1
	done
}

# image_needed: set image to the volume that the kernel filled.
image_needed() {
	image=${image:-$("$here/image.sh")}
}

# hot_image: set hot to a copy of it in memory.
hot_image() {
	[ -z "$hot" ] || return 0
	hot=$scratch/image
	cp --sparse=always "$image" "$hot"
}

# file_ranges INODE: "OFFSET LENGTH" in bytes of its blocks and its map's.
file_ranges() {
	"$dump" bmap --nodes --json-lines "$image" "$1" |
	sed -n 's/.*"blocks":\([0-9]*\),.*"blocknr":\([0-9]*\),.*/\2 \1/p' |
	awk '{ printf "%d %d\n", $1 * 4096, $2 * 4096 }' |
	sort -n | awk -f "$here/merge.awk"
}

machine() {
	local model

	model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	echo "$(date -u +%F): $(nproc) x $model, kernel $(uname -r)"
	echo "load average at the start: $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

image='' hot='' title=''
scratch=$(mktemp -d "$memory/nilfs2-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
[ -x "$build/tests/bench/interleave" ] || {
	echo "run.sh: not built: use make bench" >&2
	exit 1
}
parts=${*:-all}
[ "$parts" != all ] ||
	parts='mkfs populate check snapshots segments list export mount past text gc
		order live memory vast scale seeds'
machine
for part in $parts; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
	"bench_$part"
done
goals
