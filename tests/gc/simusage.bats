#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the simulator refuses before it begins: numbers, options, memory.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A small volume, for a moment.
sim() {
	gcsim.nilfs2 --segments 200 --segment-size 256K --fill 70 \
		--writes 20000 --check 5000 "$@"
}

@test "numbers out of range are named with what is wrong, and nothing runs" {
	awk 'BEGIN { for (i = 0; i < 3000; i++)
		print i ",write," 4096 * (i % 900) ",4096" }' >trace
	while IFS='|' read -r options message; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr gcsim.nilfs2 $options
		[[ $stderr == *"$message"* ]] || {
			echo "$options: $stderr"
			return 1
		}
		[ -z "$output" ]
	done <<-'EOF'
		-n 0|--segments: '0' is not a number from 1 to 4294967295
		-n -1|--segments: '-1' is not a number from 1 to 4294967295
		-n 1e400|--segments: '1e400' is not a number from 1 to 4294967295
		-n nan|--segments: 'nan' is not a number from 1 to 4294967295
		-n 4294967296|--segments: '4294967296' is not a number from 1 to 4294967295
		--segments=|--segments: '' is not a number from 1 to 4294967295
		-n 4294967295|--segments: 4294967295 of 2048 blocks are more than 4294967294 blocks
		--segment-size 0|--segment-size: '0' is not a size from 1 to 18446744073709551615
		--segment-size 4096|--segment-size: 4096 is not 2 to 2147483647 blocks of 4096
		--segment-size 1E|--segment-size: 1152921504606846976 is not 2 to 2147483647 blocks of 4096
		--segment-size 99E|--segment-size: '99E' is not a size from 1 to 18446744073709551615
		--segment-size 10000|--segment-size: 10000 is no number of blocks of 4096
		--block-size 0|--block-size: '0' is not a size from 1024 to 65536
		--block-size 77|--block-size: '77' is not a size from 1024 to 65536
		--block-size 512|--block-size: '512' is not a size from 1024 to 65536
		--block-size 3000|--block-size: 3000 is no power of two
		--block-size 128K|--block-size: '128K' is not a size from 1024 to 65536
		--block-size=|--block-size: '' is not a size from 1024 to 65536
		--fill 0|--fill: '0' is not a number from 1 to 100
		--fill 101|--fill: '101' is not a number from 1 to 100
		--fill 0.5|--fill: '0.5' is not a number from 1 to 100
		--data 0|--data: '0' is not a number from 1 to 4294967294
		--data 4294967295|--data: '4294967295' is not a number from 1 to 4294967294
		--data 3000000 -n 10|--data: 3000000 blocks do not fit into 10 segments of 2048
		--classes 0 --placement dac|--classes: '0' is not a number from 1 to 4294967295
		--classes 65 --placement dac|--classes: 65: the placement dac has 2 to 64
		--dat-entries|--dat-entries needs --dat
		--summaries 1|--summaries: a block of them describes itself only
		--writes 0|--writes: '0' is not a number from 1 to 2305843009213693951
		--writes -5|--writes: '-5' is not a number from 1 to 2305843009213693951
		--writes 18446744073709551615|--writes: '18446744073709551615' is not a number from 1 to 2305843009213693951
		--warm-up 101%|--warm-up: '101' is not a number from 0 to 99
		--warm-up %|--warm-up: '' is not a number from 0 to 99
		--warm-up 18446744073709551615|--warm-up: '18446744073709551615' is not a number from 0 to 2305843009213693951
		--flush-every 18446744073709551615|--flush-every: '18446744073709551615' is not a number from 0 to 2305843009213693951
		--protect 18446744073709551615|--protect: '18446744073709551615' is not a number from 0 to 2305843009213693951
		--snapshot-every 18446744073709551615|--snapshot-every: '18446744073709551615' is not a number from 0 to 2305843009213693951
		--hot 101|--hot: '101' is not a number from 0 to 100
		--hot-writes 101|--hot-writes: '101' is not a number from 0 to 100
		--sequential 101|--sequential: '101' is not a number from 0 to 100
		--trims 100|--trims: '100' is not a number from 0 to 99
		--skew nan|--skew: 'nan' is not a number from 0 to 100
		--skew 1e400|--skew: '1e400' is not a number from 0 to 100
		--skew -1|--skew: '-1' is not a number from 0 to 100
		--skew 101|--skew: '101' is not a number from 0 to 100
		--skew=|--skew: '' is not a number from 0 to 100
		--skew 1.2.3|--skew: '1.2.3' is not a number from 0 to 100
		--lifetime fixed:0|--lifetime: '0' is not a number from 1 to 281474976710656
		--file-blocks 0|--file-blocks: '0' is not a number from 1 to 4294967295
		--max-search 0|--max-search: '0' is not a number from 1 to 18446744073709551615
		--min-reclaimable 101|--min-reclaimable: '101' is not a number from 0 to 100
		--mc-min-reclaimable 101|--mc-min-reclaimable: '101' is not a number from 0 to 100
		--mc-step 0|--mc-step: '0' is not a number from 1 to 4294967295
		--garbage-threshold 0|--garbage-threshold: '0' is not a number from 1 to 99
		--garbage-threshold 100|--garbage-threshold: '100' is not a number from 1 to 99
		--scarce 4294967295|--scarce: '4294967295' is not a number from 0 to 4294967294
		--second 0 -p timestamp|--second: '0' is not a number from 1 to 4294967295
		--low 0|--low: '0' is not a number from 1 to 4294967295
		--low 1001|--low: 1001 clean segments are more than all 1000
		--high 0|--high: '0' is not a number from 1 to 4294967295
		--high 1001|--high: 1001 clean segments are more than all 1000
		--low 5 --high 4|--high: 4 is less than --low, 5
		-n 20 --step 30|--step: 31 clean segments are more than all 20
		--step 0|--step: '0' is not a number from 1 to 4294967295
		--step 4294967295 --nodes 10 --garbage-threshold 10|blocks are more than 4294967294 blocks
		--victims 0|--victims: '0' is not a number from 1 to 4294967295
		--check 0|--check: '0' is not a number from 1 to 2305843009213693951
		--snapshots 0|--snapshots: '0' is not a number from 1 to 4294967295
		--seeds 0|--seeds: '0' is not a number from 1 to 10000000
		--seeds 10000001|--seeds: '10000001' is not a number from 1 to 10000000
		--seed -1|--seed: '-1' is not a number from 0 to 18446744073709551615
		--threads 0|--threads: '0' is not a number from 1 to 4294967295
		--policy weighted:0|--policy: 'weighted:0': the number is not from 1 to
		--policy d-choices:x|--policy: 'd-choices:x': the number is not from 1 to
		--policy weighted:99999999999|--policy: 'weighted:99999999999': the number is not from 1 to
		--policy greedy:2|--policy: 'greedy:2': greedy has no number
		--policy none|--policy: unknown policy 'none'
		--sweep low=1,1001|--low: 1001 clean segments are more than all 1000
		--sweep step=0:3|--step: '0' is not a number from 1 to 4294967295
		--sweep block-size=4096,5000|--block-size: 5000 is no power of two
		--sweep fill=90:80|--sweep: fill: '90:80' is a range without numbers
		--sweep fill=50:80:0|--sweep: fill: '50:80:0' is a range without numbers
		--sweep writes=1:5000000|--sweep: writes has more than 100000 values
		--sweep seed=1:99999 --sweep step=1:999|--sweep: more than 10000000 runs
		--sweep fill=50,,60|--sweep: fill: a value is missing
		--sweep skew=0.5:1e400|--skew: '0.5:1e400' is not a number from 0 to 100
		-t trace --segment-size 64K --low 5000|--low: 5000 clean segments are more than all
		-t trace --placement hot-cold|--placement: hot-cold: a trace does not say what is hot
		-t trace --sweep placement=one,hot-cold|--placement: hot-cold: a trace does not say what is hot
	EOF
	# Zeros that say what they mean.
	sim --nodes 0 --dat 0 --summaries 0 --protect 0 --dirty-pages 0 \
		--trims 0 --flush-every 0 --min-reclaimable 0 --seed 0
}

@test "every option with a number names itself and what it was given" {
	local option kind value n=0

	gcsim.nilfs2 --help | sed -n 's/^ .*--\([a-z-]*\) \([A-Z%[]*\]*\)\( .*\)\?$/\1 \2/p' \
		>options
	while read -r option kind; do
		case $kind in
		N | FD | PERCENT | SIZE | NUMBER | 'N[%]') ;;
		*) continue ;;
		esac
		n=$((n + 1))
		for value in "" x -1 1e400 nan 0x 99999999999999999999; do
			run -2 --separate-stderr gcsim.nilfs2 "--$option=$value"
			[[ $stderr == "gcsim.nilfs2: --$option: '$value' is not a "*" from "*" to "* ]] || {
				echo "--$option=$value: $stderr"
				return 1
			}
		done
	done <options
	# All that there are in the table.
	[ "$n" -ge 40 ]
}

@test "what takes more memory than there may be is refused before it begins" {
	while IFS='|' read -r options message; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr gcsim.nilfs2 $options
		[[ $stderr == *"memory: "*"$message"* ]] || {
			echo "$options: $stderr"
			return 1
		}
		[ -z "$output" ]
	done <<-'EOF'
		-n 1000000 --max-memory 1G|takes 13.8 GiB, most of it for maps of blocks, and --max-memory is 1 GiB: lower it by --segments or --segment-size
		-n 1000 -p greedy,optimal -j 2 --max-memory 20M|2 runs at a time take 3
		-n 1000 -p greedy,optimal -j 2 --max-memory 20M|lower it by --threads, --segments
		-n 1000 --seeds 3 -j 2 --max-memory 20M|2 runs at a time
		--sweep segments=10,900,10,1000 -j 2 --max-memory 20M|2 runs at a time
		-n 1000 --placement sepbit --max-memory 20M -j 1|maps of blocks
		-n 100 --placement future --writes 10000000 -j 1 --max-memory 20M|all writes, recorded for the placement, and --max-memory is 20 MiB: lower it by --writes
		-n 1000 -f 10 --protect 10 -j 1 --max-memory 20M|lower it by --snapshot-every
		-n 700 -p cost-benefit-data -j 1 --max-memory 20M|1 run at a time takes 2
		-n 1000 -w lifetimes -j 1 --max-memory 20M|lower it by --file-size
		-n 3 --segment-size 1T -j 1 --max-memory 20M|lower it by --segments
		-n 2147483647 --segment-size 8192 --max-memory 1G|tables of segments
		--sweep seed=1:9999 --sweep step=1:50 -n 5000 --segment-size 64K --max-memory 90M|most of it for results
		--victims 5 -n 100000 --max-memory 20M|1 run at a time
	EOF
	# The same where it is enough, also for several that are smaller.
	gcsim.nilfs2 -n 700 -j 1 --max-memory 20M --writes 1000 -p greedy,optimal
	sim -j 2 --max-memory 20M --sweep segments=50:200:50 -p greedy
	# Of other machines.
	gcsim.nilfs2 -n 1000000 --max-memory 1G --emit | grep -q -- '--segments 1000000'
	# A pipe, as soon as it is too much; and what is read fits, but not twice.
	seq 30000 | awk '{ printf "0,write,%.0f,4096\n", $1 * 999424 }' >trace
	run -1 gcsim.nilfs2 -t - --trace-format csv --max-memory 512K <trace
	[[ $output == *"memory: the table of the addresses"*"more than 512 KiB"*"--block-size"* ]]
	gcsim.nilfs2 -t - --segment-size 64K -j 2 --max-memory 20M <trace
	run -1 gcsim.nilfs2 -t trace --segment-size 64K -j 2 --seeds 2 \
		--max-memory 5M
	[[ $output == *"2 runs at a time"*"--fill (more)"* ]]
}

@test "what is out of range or does not apply is a usage error" {
	while read -r options; do
		# shellcheck disable=SC2086
		run -2 --separate-stderr gcsim.nilfs2 $options
		[ -n "$stderr" ]
	done <<-'EOF'
		--lifetime fixed:0
		--skew 101
		--placement none
		--placement sepbit --classes 4
		--placement one --classes 2
		--placement dac --classes 65
		--placement age --classes 65
		--placement residual --classes 1
		--placement residual --classes 65
		--placement midas --classes 2
		--placement midas --classes 17
		--placement future --dirty-pages 10
		--garbage-threshold 100
		--garbage-threshold 10 --low 3
		--garbage-threshold 10 --fill 50
		--garbage-threshold 10 --segments 50
		--garbage-threshold 10 --max-search 5
		--garbage-threshold 10 -p data-first
		--ages root --max-search 2 -p cost-benefit
		--ties last -p data-first
		--ties last --max-search 2
		--max-search 2 -p d-choices
		-p random:1
		-p d-choices:0
		-p windowed:x
		-p windowed:
		--second 10 -p greedy
		--fill-holes 10 --summaries 128
		--fill-holes 10 --protect 100
		--fill-holes 10 --snapshot-every 100
		--fill-holes 10 --garbage-threshold 15
		--sync
		--sync --nodes 8 --dirty-pages 10
	EOF
}

@test "--list has a phrase for every word that an option takes" {
	gcsim.nilfs2 --list --json >said
	for option in workload placement policy; do
		for name in $(gojq -r --arg o $option '.words[] |
			select(.option == $o and .summary != "") | .name' said); do
			echo "$name"
			gcsim.nilfs2 -n 50 --segment-size 64K --fill 50 --writes 10 \
				--$option "$name" >/dev/null
		done >"$option"
		[ -s "$option" ]
	done
	gcsim.nilfs2 -n 50 --segment-size 64K -f 30 --writes 10 --json \
		--sweep workload=all --sweep placement=all -p all >all || true
	for option in workload placement; do
		[ "$(gojq -r ".runs[].$option" all | sort -u)" = \
			"$(sort "$option")" ]
	done
	[ "$(gojq -r .runs[].policy all | sort -u)" = "$(sort policy)" ]
	run -2 gcsim.nilfs2 --list --emit
}

@test "the recipes of the manual page have the published figures" {
	local -a commands=()
	mapfile -t commands < <(awk '/^Three recipes/ { on = 1 } /^\.SH/ { on = 0 }
		on' "$NILFS2_SOURCE/man/gcsim.nilfs2.8" |
		sed -e ':a' -e '/\\$/{N;ba' -e '}' -e 's/\\\n//g' -e 's/\\-/-/g' |
		sed -n 's/^\.B \(gcsim\.nilfs2 .*\)/\1/p')
	[ "${#commands[@]}" -eq 3 ]
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		"${words[@]}" --json >said
		gojq -r '.runs[].write_amplification' said
	done >got
	# By theory, by the model, and by the simulator of SepBIT; the cleaner keeps
	# a little clean.
	printf '%s\n' 1.480 2.693 5.179 5.000 2.754 4.988 4.872 3.574 2.593 \
		2.633 2.200 2.494 2.063 | paste got - >both
	awk '$1 / $2 > 1.02 || $1 / $2 < 0.98 { exit 1 } END { exit NR != 13 }' both
}
