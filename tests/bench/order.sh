# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Orders: what nilfs_cleanerd moves while as much is written again as lives, on a
# volume that the kernel aged and on copies of it that were compacted; and what
# the simulator says of the same.
#
#	BENCH_ORDERS	some of needed age victim file tree

# A segment less than fit: the second superblock is in the last.
order_files=9000 order_blocks=4 order_segments=127

# order_guest IMAGE WHAT TIMES TOGETHER SCARCE LEAST: see guest-order.sh; above
# all others.
order_guest() {
	chrt -f 20 "$guest" --timeout 900 "$here/guest-order.sh" "$1" -- \
		"$dump" "$2" "$order_files" "$order_blocks" "${@:3}"
}

# order_copy ORDER: the aged volume, compacted so.
order_copy() {
	cp --sparse=always "$scratch/order" "$scratch/order.$1"
	case $1 in
	none) ;;
	needed) "$gc" -q --protect 0 --compact "$scratch/order.$1" ;;
	*) "$gc" -q --protect 0 --order "$1" "$scratch/order.$1" ;;
	esac >/dev/null
}

# in_pieces IMAGE: files that could have fewer extents.
in_pieces() {
	"$gc" -n --json --protect 0 --defrag all "$1" |
		jq '[.files[] | select(.extents_before > .extents_enough)] |
			length'
}

# A block of metadata for 32: the ifile changes with the DAT.
# order_simulated IMAGE TOGETHER SCARCE LEAST: blocks that the simulator moves.
order_simulated() {
	local i hot=() kept=$(((order_segments * 5 + 99) / 100))

	[ "$kept" -ge 8 ] || kept=8
	for ((i = 0; i < order_files; i += 10)); do
		hot+=(--hot-file "$((i / 64))/$i")
	done
	"$build/gc/sim/gcsim.nilfs2" -q --json "${hot[@]}" -w hot-cold \
		--file-blocks "$order_blocks" --dat 32 --summaries 171 \
		--flush-every 1024 \
		--low $(((order_segments + 9) / 10 + kept)) \
		--high $(((order_segments + 4) / 5 + kept + 1)) \
		--step "$2" --mc-step "$3" --min-reclaimable 10 \
		--mc-min-reclaimable "$4" --second 1024 -p timestamp \
		--writes $((order_files * order_blocks)) "$1" |
		jq '.kinds[] | select(.kind == "data") | .blocks_moved'
}

# order_moved IMAGE: by the daemon as it is set up by default, to IMAGE.daemon2, and
# with a segment at a time and 10 % always, to IMAGE.daemon1.
order_moved() {
	cp --sparse=always "$1" "$1.copy"
	order_guest "$1" rewrite 1 2 4 1 >"$1.daemon2" &
	order_guest "$1.copy" rewrite 1 1 1 10 >"$1.daemon1"
	wait
}

# less FROM TO: "TO (LESS %)".
less() {
	awk -v from="$1" -v to="$2" 'BEGIN {
		printf "%d (%+.0f %%)", to, from ? 100 * to / from - 100 : 0 }'
}

order_line() {
	local name=$1 at=$scratch/order.$1 is

	order_copy "$name"
	is=("$(order_simulated "$at" 2 4 1)" "$(order_simulated "$at" 1 1 10)")
	is+=("$(in_pieces "$at")")
	order_moved "$at"
	is=("$(cut -d ' ' -f 1 "$at.daemon2")" \
		"$(cut -d ' ' -f 1 "$at.daemon1")" "${is[@]}")
	rm "$at" "$at".*
	[ "$name" != none ] || was=("${is[@]}")
	echo "$name|$(less "${was[0]}" "${is[0]}")|$(less "${was[1]}" \
		"${is[1]}")|$(less "${was[2]}" "${is[2]}")|$(less "${was[3]}" \
		"${is[3]}")|${is[4]}"
}

bench_order() {
	local name was gc=$build/gc/gc.nilfs2

	have jq nilfs_cleanerd || return 0
	truncate -s $(((order_segments + 1) * 2))M "$scratch/order"
	"$mkfs" -q -B 512 "$scratch/order"
	order_guest "$scratch/order" age 3 2 4 1 >/dev/null
	title "blocks moved while as many are written again as live"
	{
		echo "order|daemon|one by one|simulated|one by one|in pieces"
		for name in none ${BENCH_ORDERS:-needed age victim file tree}
		do
			order_line "$name"
		done
	} | column -t -s '|'
	rm "$scratch/order"
}
