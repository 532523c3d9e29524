# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Five published experiments about cleaning, repeated with numbers only; what
# was published stands beside what comes out; and what the tools write themselves,
# where they do the like.  See seeds/README.md.
#
#   BENCH_SEEDS		which of them: 000 001 002 003 004 partial placements
#			residual sweep orders (all)
#   BENCH_SEEDS_SCALE	003 with sections of 8 MiB / N (4; 1 takes 20 minutes),
#			placements with traces of 1 / N (1)
#   BENCH_POLICIES	of placements (all)
#   BENCH_SEEDS_RUNS	seeds of residual (2), with intervals
#   BENCH_SEEDS_LOADS	of residual (all)

seeds_bin=$build/tests/bench/seeds
seeds_sim=$build/gc/sim/gcsim.nilfs2

# against PUBLISHED OURS: "OURS (+3 %)"
against() {
	awk -v p="$1" -v o="$2" 'BEGIN {
		printf "%s (%+.0f %%)", o, 100 * (o / p - 1) }'
}

# in_columns: lines of words as a table.
in_columns() {
	column -t -s '|'
}

# looking WINDOW ALIGNED: "CLEANINGS GARBAGE" of 000, as f2fs in Linux 3.11 has it.
# 2 GiB have 1011 segments beside metadata of fixed places, of which 48 are reserved
# and 48 more are not for users: holes are written where fewer than 96 are clean.
# A checkpoint is made once the files are there.
looking() {
	awk -v seed=1 -v aligned="$2" -f "$here/seeds/records.awk" |
		"$seeds_sim" -q -t - --trace-format csv --segments 1011 \
			--segment-size 2M --nodes 8 --moves-change-nodes \
			--metadata-log --placement survivors --frees-dead \
			--sync --fill-holes 96 --low 49 -p greedy \
			--max-search "$1" --warm-up 416184 \
			--flush-every 416184 |
		awk '$1 == "greedy" && $2 ~ /\./ { cleaned = $5 }
			$2 == "data" || $2 == "node" { garbage += $5 }
			END { print cleaned, garbage }'
}

seed_000() {
	local window records cleanings garbage calls had

	title "000: random rewrites of a full volume, 20 or 4096 segments looked at"
	{
		echo "window|records|cleanings|published|garbage|published"
		for window in 20 4096; do
			calls=645 had=106682
			[ "$window" != 20 ] || calls=1174 had=174840
			for records in aligned any; do
				read -r cleanings garbage < <(looking "$window" \
					"$([ $records = any ]; echo $?)")
				echo "$window|$records|$(against $calls \
					"$cleanings")|$calls|$(against $had \
					"$garbage")|$had"
			done
		done
	} | in_columns
}

seed_001() {
	title "001: a sequential write, nodes as they come or 512 together"
	{
		echo "largest KiB|nodes|requests|mean bytes|MB/s|published"
		"$seeds_bin/collect" | awk 'NR > 1' |
		while read -r largest requests nodes mean rate _; do
			published=231
			[ "$nodes" -gt 1024 ] || published=255
			echo "$largest|$nodes|$requests|$mean|$(against \
				$published "$rate")|$published"
		done
	} | in_columns
	! have strace || ours_001
	collected_001
}

# seeds_tree FILES MIB: a directory of so many files, and a volume that has it
# after as much garbage.
seeds_tree() {
	local i tree=$scratch/seeds

	rm -rf "$tree"
	mkdir -p "$tree/live" "$tree/garbage" "$tree/emptied"
	for ((i = 0; i < $1; i++)); do
		head -c "$2M" /dev/urandom >"$tree/live/$i"
	done
	cat "$tree"/live/* >"$tree/garbage/dead"
	: >"$tree/emptied/dead"
	"$mkfs" -q --size +64M -d "$tree/garbage" -d "$tree/emptied" \
		-d "$tree/live" "$tree/behind"
	rm "$tree/garbage/dead"
}

# requests NAME FILE COMMAND...: how COMMAND writes FILE, and how fast the device
# of 001 would be: 300 MB/s, less 348 us for each request.
requests() {
	local name=$1 file=$2

	shift 2
	strace -f -qq -o "$scratch/trace" -P "$file" \
		-e trace=write,writev,pwrite64,pwritev,pwritev2 "$@" >/dev/null
	awk -v name="$name" '
		$NF ~ /^[0-9]+$/ { n++; all += $NF }
		END {
			rate = all / 1e6 / (all / 300e6 + n * 348e-6)
			printf "%s|%d|%d|%d|%.0f\n", name, all / 1048576, n,
				all / n / 1024, rate
		}' "$scratch/trace"
}

ours_001() {
	local at=$scratch/seeds

	seeds_tree 1 1024
	title "001: a file of 1 GiB, by the tools"
	{
		echo "tool|MiB|requests|mean KiB|MB/s"
		requests "mkfs.nilfs2 -d" "$at/new" "$mkfs" -q --size auto \
			-d "$at/live" "$at/new"
		rm "$at/new"
		requests "mkfs.nilfs2 -d --collect 1" "$at/new" "$mkfs" -q \
			--size auto --collect 1 -d "$at/live" "$at/new"
		requests "gc.nilfs2 --compact" "$at/behind" \
			"$build/gc/gc.nilfs2" -q --protect 0 --compact \
			"$at/behind"
	} | in_columns
	rm -r "$at"
}

# reads KIB COLLECT IMAGE: what a reader of all files in order, of KIB each, asks
# the device of 001 for, in requests of at most 512 KiB.
reads() {
	"$dump" logs --blocks "$3" | awk -v kib="$1" -v collect="$2" '
		NF == 7 && $7 == "data" && $3 >= 11 {
			if ($1 != last + 1 || run == 128) {
				requests++
				run = 0
			}
			last = $1
			run++
			n++
		}
		END {
			bytes = n * 4096
			rate = bytes / 1e6 / (bytes / 300e6 + requests * 348e-6)
			printf "%d|%d|%d|%d|%.0f\n", kib, collect, requests,
				bytes / requests / 1024, rate
		}'
}

# Nodes of maps as they come or 512 together, by the writer of the tools: 256 MiB
# in files of a size.
collected_001() {
	local at=$scratch/seeds kib i collect

	title "001: 256 MiB of files read in order, by how mkfs.nilfs2 wrote them"
	{
		echo "KiB each|--collect|requests|mean KiB|MB/s"
		for kib in 16 32 64 128 256 512 1024; do
			mkdir -p "$at/live"
			for ((i = 0; i < 262144 / kib; i++)); do
				head -c "${kib}K" /dev/urandom >"$at/live/$i"
			done
			for collect in 1 512; do
				"$mkfs" -q --size auto --collect $collect \
					-d "$at/live" "$at/new"
				reads "$kib" $collect "$at/new"
				rm "$at/new"
			done
			rm -r "$at"
		done
	} | in_columns
}

# extents NAME IMAGE MIB: of all files, and for 2 MiB.
extents() {
	local file n=0 files=0

	for file in $("$dump" ls "$2" / | grep '^[0-9]*$'); do
		n=$((n + $("$dump" bmap -s --json "$2" "/$file" |
			jq .map.extents)))
		files=$((files + 1))
	done
	awk -v name="$1" -v n="$n" -v files="$files" -v mib="$3" 'BEGIN {
		printf "%s|%d|%d|%d|%.2f\n", name, files, mib, n,
			2 * n / files / mib }'
}

ours_004() {
	local at=$scratch/seeds files mib

	title "004: as many files, by the tools with 16 threads"
	{
		echo "tool|files|MiB each|extents|for 2 MiB"
		while read -r files mib; do
			seeds_tree "$files" "$mib"
			"$mkfs" -q -j 16 --size auto -d "$at/live" "$at/new"
			extents "mkfs.nilfs2 -d" "$at/new" "$mib"
			"$build/gc/gc.nilfs2" -q -j 16 --protect 0 --compact \
				"$at/behind" >/dev/null
			extents "gc.nilfs2 --compact" "$at/behind" "$mib"
			rm -r "$at"
		done <<<"10 16"$'\n'"16 64"$'\n'"160 2"
	} | in_columns
}

# runs OPTION... : "POLICY WAF STARVED" of each run.
runs() {
	"$seeds_sim" "$@" |
		awk 'NF > 11 && $3 ~ /^[0-9]+$/ { print $1, $2, $12 }'
}

# half_cold OPTION... : 70 % full, five sevenths of which are never deleted.
half_cold() {
	runs --segments 1500 --segment-size 1M --fill 70 --workload files \
		--file-blocks 16 --hot 28 --low 150 --high 300 "$@"
}

# wear TITLE PUBLISHED OPTION... : of cost-benefit and others to timestamp.
wear() {
	local title=$1 published=$2 counts

	shift 2
	for counts in exact halved counters; do
		half_cold --counts "$counts" -p timestamp -p cost-benefit \
			-p greedy "$@" | sed "s/^/$counts /"
		[ "$counts" != exact ] ||
			half_cold --min-reclaimable 10 -p timestamp "$@" |
			sed 's/timestamp/timestamp+10%/; s/^/exact /'
		[ $# -gt 0 ] || break
	done | awk -v title="$title" -v published="$published" '
		$1 == "exact" && $2 == "timestamp" { all = $3 }
		$1 != "exact" && $2 == "timestamp" { next }
		{
			p = $2 == "cost-benefit" ? published " %" : "-"
			printf "%s|%s|%s|%s|%.0f %%|%s\n", title, $2, $1, $3,
				100 * $3 / all, p
		}'
}

# What is starved: a small volume where snapshots come often.
starving() {
	for counts in counters halved exact; do
		runs --segments 200 --segment-size 256K --fill 50 -w files \
			--file-blocks 16 --hot 40 -p greedy --low 10 \
			--high 20 --snapshot-every 1000 --snapshots 2 \
			--writes 60000 --counts "$counts" |
		sed "s/ /|/g; s/^/$counts|/"
	done
}

seed_002() {
	title "002: files made and deleted, wear beside the oldest first"
	{
		echo "snapshots|policy|counts|WAF|wear|published"
		wear none 45
		wear "one, every 20000" 43 --snapshot-every 20000
	} | in_columns
	title "002: segments that only a snapshot had, which is gone"
	{
		echo "counts|policy|WAF|starved"
		starving
	} | in_columns
}

# zones DIRTY OPTION... : 128 GiB at random to a file that fills 4068 zones, with so
# many dirty pages.
zones() {
	local scale=${BENCH_SEEDS_SCALE:-4} dirty=$1

	shift
	"$seeds_sim" --segments 4068 --segment-size $((8192 / scale))K \
		--data $((7983872 / scale)) --nodes 1018 \
		--writes $((33554432 / scale)) --low 8 --moves-change-nodes \
		--metadata-log --placement survivors --frees-dead \
		--dirty-pages $((dirty / scale)) "$@"
}

# nodes_moved NAME PUBLISHED-WAF PUBLISHED-MOVES OPTION...
nodes_moved() {
	local name=$1 waf=$2 moves=$3 got moved

	shift 3
	read -r got moved < <(zones 115000 "$@" | awk '
		NF > 11 && $3 ~ /^[0-9]+$/ { waf = $2 }
		$2 == "node" { moved = $4 }
		END { print waf, moved }')
	moved=$((moved * ${BENCH_SEEDS_SCALE:-4}))
	if [ "$waf" = - ]; then
		echo "$name|$got|-|$moved|-"
	else
		echo "$name|$(against "$waf" "$got")|$waf|$(against "$moves" \
			"$moved")|$moves"
	fi
}

seed_003() {
	local dirty policy row weight

	title "003: 4068 zones, 96 % full, victims by kind of their blocks"
	{
		echo "policy|WAF|published|nodes moved|published"
		nodes_moved greedy 18.75 253131743 -p greedy
		nodes_moved "data-first, as patched" - - -p data-first \
			--scarce 11
		nodes_moved "data-first, strict" 13.3 77463278 -p data-first
		for weight in 120 200 500; do
			nodes_moved "weighted, $weight %" 13.3 77463278 \
				-p weighted:$weight
		done
	} | in_columns
	title "003: WAF by how many pages are dirty, which was not said"
	{
		echo "pages|greedy|data-first, strict|weighted, 120 %|weighted, 500 %"
		for dirty in 0 50000 100000 115000 130000 160000 200000; do
			row=$dirty
			for policy in greedy data-first weighted:120 weighted:500; do
				row+="|$(BENCH_SEEDS_SCALE=16 zones $dirty \
					-p $policy 2>/dev/null |
					awk 'NF > 11 && $3 ~ /^[0-9]+$/ { waf = $2 }
						END { print waf ? waf : "full" }')"
			done
			echo "$row"
		done
	} | in_columns
}

seed_004() {
	title "004: writers of 2 MiB each into one log, 0: a request at a time"
	"$seeds_bin/writers" | sed 's/ /|/g' | in_columns
	! have jq || ours_004
}

# What gc.nilfs2 --free would come to, again and again, by each of its policies:
# the mean of three seeds.  See doc/policies.md.
seed_partial() {
	local workload seed policy policies=()

	for policy in optimal weighted:{1,50,120,200,300,500,1000} greedy \
		data-first cost-benefit cost-benefit-lfs timestamp; do
		policies+=(-p "$policy")
	done
	title "partial runs, 16 segments in a batch, with nodes, DAT and summaries"
	for workload in "files --file-blocks 16 --hot 40" hot-cold uniform; do
		for seed in 1 2 3; do
			# Word splitting of the options is meant.
			# shellcheck disable=SC2086
			runs -n 400 --segment-size 512K -f 65 --nodes 255 \
				--dat 128 --summaries 128 --flush-every 2000 \
				--low 30 --high 70 --step 16 --seed $seed \
				"${policies[@]}" -w $workload
		done | awk -v workload="${workload%% *}" '
			{ sum[$1] += $2; n[$1]++ }
			END {
				for (policy in n)
					printf "%s|%s|%.3f\n", workload,
						policy, sum[policy] / n[policy]
			}' | sort -t '|' -n -k 3
	done | in_columns
}

# amplifications CSV... : of files named by their traces, a line for each policy and
# placement, a column for each trace.
amplifications() {
	awk -F , '
		FNR == 1 {
			delete at
			for (i = 1; i <= NF; i++)
				at[$i] = i
			name = FILENAME
			sub(/.*\//, "", name)
			heads = heads "|" name
			files++
			next
		}
		{
			row = $at["policy"] "|" $at["placement"]
			if (!(row in cells))
				order[++rows] = row
			waf = $at["write_amplification"]
			cells[row] = cells[row] "|" (waf ? waf : "-")
		}
		END {
			print "policy|placement" heads
			for (i = 1; i <= rows; i++)
				print order[i] cells[order[i]]
		}' "$@" | in_columns
}

# Policies x placements x traces, cleaning at 15 % garbage.  Where a placement has to
# know what is hot, the trace does not say so.
seed_placements() {
	local kind scale=${BENCH_SEEDS_SCALE:-1} dir=$scratch/seeds
	local traces=(alibaba tencent msr)

	title "policies x placements x traces: blocks written for one of the user"
	mkdir -p "$dir"
	for kind in "${traces[@]}"; do
		awk -v kind="$kind" -v blocks=$((110000 / scale)) \
			-v writes=$((1100000 / scale)) -v seed=1 \
			-f "$here/seeds/traces.awk" |
		"$seeds_sim" -q -t - --trace-format "$kind" --segment-size \
			$((1024 / scale))K --garbage-threshold 15 \
			--sweep placement=all -p "${BENCH_POLICIES:-all}" \
			--warm-up $((550000 / scale)) --csv >"$dir/$kind" \
			2>/dev/null || [ -s "$dir/$kind" ]
	done
	(cd "$dir" && amplifications "${traces[@]}")
}

# trace_of NAME SEED AWK OPTION... : makes $scratch/seeds/NAME, and prints the options
# of gcsim.nilfs2 to replay it.
trace_of() {
	local name=$1 seed=$2 awk=$3 format=csv

	shift 3
	[ "$awk" = loads.awk ] || format=${name%-*}
	awk -v seed="$seed" -v blocks="$front_blocks" \
		-v writes=$((10 * front_blocks)) "$@" \
		-f "$here/seeds/$awk" >"$scratch/seeds/$name"
	echo "-t $scratch/seeds/$name --trace-format $format --warm-up 50%"
}

# load_of NAME SEED: the options of gcsim.nilfs2 for a load.
load_of() {
	local size="-n 1000 --seed $2 -w"

	case $1 in
	zipf-*) echo "$size zipf --skew ${1#zipf-}" ;;
	hot-90/10) echo "$size hot-cold" ;;
	hot-80/20) echo "$size hot-cold --hot 20 --hot-writes 80" ;;
	mixed) echo "$size mixed" ;;
	msr | alibaba) trace_of "$1" "$2" traces.awk -v kind="$1" ;;
	*) trace_of "$1" "$2" loads.awk -v kind="$1" ;;
	esac
}

# front_runs LOAD SEED OPTION... : "LOAD FILL SEED NAME WAF" of all placements.
front_runs() {
	local load=$1 seed=$2

	shift 2
	{
		"$seeds_sim" "$@" --sweep placement=dac,sepbit,midas \
			-p greedy,cost-benefit
		"$seeds_sim" "$@" --placement residual -p marginal
		"$seeds_sim" "$@" --placement residual -p marginal --low 7
	} | awk -F , -v load="$load" -v seed="$seed" '
		$1 == "key" {
			for (i = 1; i <= NF; i++)
				at[$i] = i
			next
		}
		{
			name = $at["placement"] "/" $at["policy"]
			if ($at["low"] == 7)
				name = "fair"
			print load, $at["fill"], seed, name,
				$at["blocks_written"] / $at["blocks_user"]
		}'
}

# The placement residual with the policy marginal, and the best of three others.
# The last three loads were not looked at before its constants were fixed.
seed_residual() {
	local front_blocks=25000 loads load seed options
	local seeds=${BENCH_SEEDS_RUNS:-2}

	mkdir -p "$scratch/seeds"
	title "residual by marginal, relative to the best of dac, sepbit, midas"
	loads="zipf-0.8 zipf-1.0 zipf-1.2 hot-90/10 hot-80/20 mixed shifting
		database msr alibaba speeds shuffled orders"
	for load in ${BENCH_SEEDS_LOADS:-$loads}; do
		for ((seed = 1; seed <= seeds; seed++)); do
			options=$(load_of "$load" "$seed")
			# Word splitting of the options is meant.
			# shellcheck disable=SC2086
			front_runs "$load" "$seed" -q --csv $options \
				--segment-size 128K --sweep fill=80,90,95
		done
	done | awk -f "$here/seeds/front.awk" | in_columns
}

# timed COMMAND... : wall and CPU seconds.
timed() {
	local TIMEFORMAT='%R %U'

	{ time "$@" >/dev/null; } 2>&1
}

# What N runs at once cost: at most 0.55 N times one by two idle processors.
seed_sweep() {
	local n=8 run=(-q -p greedy -n 400 --segment-size 1M --writes 1000000)
	local one all

	title "$n runs at once, relative to $n times one"
	one=$(timed "$seeds_sim" "${run[@]}")
	{
		echo "workers|wall|CPU"
		for workers in 1 2; do
			all=$(timed "$seeds_sim" "${run[@]}" --seeds $n \
				-j $workers)
			echo "$workers $one $all" | awk -v n=$n '{
				printf "%d|%.2f|%.2f\n", $1, $4 / n / $2,
					$5 / n / $3 }'
		done
	} | in_columns
}

# What nilfs_cleanerd moves after compaction by each order of gc.nilfs2.
seed_orders() {
	if ! "$guest" --available uml; then
		echo "(no guest to age a volume in)"
		return 0
	fi
	# shellcheck source=/dev/null
	. "$here/order.sh"
	bench_order
}

bench_seeds() {
	local seed

	for seed in ${BENCH_SEEDS:-000 001 002 003 004 partial placements \
		residual sweep orders}; do
		"seed_$seed"
	done
}
