#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator as a tool: the choices of gc.nilfs2, the same every time.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../kernel/things

policies="optimal greedy cost-benefit cost-benefit-lfs data-first weighted
	timestamp"

# need_corpus sets it.
corpus=

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A small volume, for a moment.
sim() {
	gcsim.nilfs2 --segments 200 --segment-size 256K --fill 70 \
		--writes 20000 --check 5000 "$@"
}

# value POLICY KEY: of the runs in the file "said".
value() {
	gojq -r --arg policy "$1" \
		".runs[] | select(.policy == \$policy) | .$2" said
}

@test "from an image, the victims of gc.nilfs2 in its order" {
	need_corpus
	local name policy image victims=0

	for name in $(sample 8 $(corpus_names)); do
		image=$corpus/$name/image
		for policy in $policies; do
			"$NILFS2_BUILD/tests/gc/victims" "$policy" \
				"$image" >want
			gcsim.nilfs2 -p "$policy" --victims 1000000 "$image" |
				awk 'NR > 1 { print $1 }' >got
			diff want got || {
				echo "$name, $policy"
				return 1
			}
			victims=$((victims + $(wc -l <want)))
		done
	done
	[ "$victims" -gt 500 ]
}

@test "of equal segments that comes first which --ties says" {
	need_corpus
	local image ties key groups=0

	for name in nearly-full plain-checkpoints cleaned-1k; do
		image=$corpus/$name/image
		dump.nilfs2 segments --json "$image" |
			gojq -r '.segments[] | "\(.segment) \(.modified)"' |
			sort -k 1,1 >times
		# Segment, live blocks, time.
		victims() {
			gcsim.nilfs2 -p "$1" --victims 1000000 --ties "$2" \
				"$image" | awk 'NR > 1 { print $1, $2, NR }' |
				sort -k 1,1 | join - times | sort -n -k 3,3 |
				cut -d ' ' -f 1,2,4
		}
		while read -r ties key; do
			victims optimal "$ties" >"$ties"
			# shellcheck disable=SC2086
			sort -s -k 2,2n $key "$ties" | diff - "$ties"
		done <<-'EOF'
			first -k 1,1n
			last -k 1,1nr
			oldest -k 3,3n -k 1,1n
			youngest -k 3,3nr -k 1,1n
		EOF
		victims optimal random >random
		sort -s -n -k 2,2 random | diff - random
		diff <(sort random) <(sort first)
		cmp -s first last || groups=$((groups + 1))
		cmp -s first random || groups=$((groups + 1))
		# Where all are compared, too, that is another order of the same.
		victims timestamp last | sort >last
		victims timestamp first | sort | diff - last
	done
	[ "$groups" -eq 6 ]
}

@test "from an image, years of writing lose no block" {
	need_corpus
	for name in snapshots small-files; do
		gcsim.nilfs2 -p timestamp --min-reclaimable 10 --dat 128 \
			--nodes 255 --summaries 250 --low 6 --writes 200000 \
			--check 10000 "$corpus/$name/image"
	done
}

@test "from an image, all data is there, of segments being written as well" {
	need_corpus
	for name in small-files cleaned sparse-2k; do
		# As long a run as there is data, five times.
		gcsim.nilfs2 --json "$corpus/$name/image" >said
		data=$(dump.nilfs2 segments --json "$corpus/$name/image" |
			gojq '[.segments[].live] | add')
		[ "$(value optimal blocks_user)" -eq $((5 * data)) ]
	done
}

@test "files of an image that are hot" {
	need_corpus
	local image=$corpus/cleaned/image

	hot() {
		gcsim.nilfs2 -w hot-cold --hot-writes 100 --writes 40000 \
			--check 5000 -p greedy --json "$@" "$image" >said
		gojq '.kinds[] | select(.kind == "data") | .blocks_moved' said
	}
	# Written whole, again and again, it leaves nothing alive after it but
	# what it shares its first and its last segment with.
	blocks=$(dump.nilfs2 bmap -s --json "$image" /kept |
		gojq .map.data_blocks)
	moved=$(hot --hot-file /kept --file-blocks "$blocks")
	[ "$moved" -le 254 ]
	run -1 gcsim.nilfs2 --hot-file /none "$image"
	[[ $output == *"/none: no such file on the volume"* ]]
	run -1 gcsim.nilfs2 --hot-file /kept --hot-file kept "$image"
	[[ $output == *"more blocks of hot files than live"* ]]
	run -2 gcsim.nilfs2 --hot-file /kept
}

@test "a policy may have a weight, as in gc.nilfs2" {
	sim -f 50 --dat 128 --nodes 255 -p optimal -p weighted:100 \
		-p weighted -p weighted:500 --json >said
	[ "$(gojq -r '[.runs[].policy] | join(" ")' said)" = \
		"optimal weighted:100 weighted weighted:500" ]
	# To weigh both the same is to take the fewest.
	gojq -e '.runs | (.[0] | del(.policy)) == (.[1] | del(.policy)) and
		(.[2] | del(.policy)) == (.[3] | del(.policy)) and
		(.[1] | del(.policy)) != (.[2] | del(.policy))' said
	run -2 sim -p weighted:0
	run -2 sim -p optimal:2
}

@test "a segment that claims more blocks than it has is none to start from" {
	need_corpus
	image=$(copy_image snapshots)
	used=$(gcsim.nilfs2 --victims 1 "$image" | awk 'NR > 1 { print $1 }')
	dump.nilfs2 set --expert --fix-checksums "$image" "segment:$used" \
		su_nblocks=4000000000
	run -1 gcsim.nilfs2 "$image"
	[[ $output == *"segment $used: 4000000000 blocks written"* ]]
}

@test "the same options, the same outcome; another seed, another one" {
	sim -w hot-cold -p greedy --json >one
	sim -w hot-cold -p greedy --json >two
	cmp one two
	sim -w hot-cold -p greedy --json --seed 2 >two
	run ! cmp -s one two
}

@test "every user and every policy" {
	local workload
	local -a all=()

	for policy in $policies; do
		all+=(-p "$policy")
	done
	for workload in uniform hot-cold zipf bounded-zipf sequential mixed files \
		rewrite lifetimes; do
		sim -w "$workload" "${all[@]}" --fill 35 --file-blocks 4 \
			--hot 30 --nodes 255 --dat 128 --summaries 20 --flush-every 500 \
			--snapshot-every 4000 --snapshots 1 --protect 1000 \
			--placement survivors --json >said
		[ "$(gojq '.runs | length' said)" -eq 7 ]
		gojq -e 'all(.runs[]; .blocks_written >= .blocks_user)' said
	done
}

@test "who writes in sequence moves nothing" {
	sim -w sequential -p timestamp -p greedy --json >said
	gojq -e 'all(.kinds[]; .blocks_moved == 0)' said
	[[ $(value timestamp write_amplification) =~ ^1(\.000)?$ ]]
}

@test "who leaves segments with little garbage alone moves half, or less" {
	sim -w files --file-blocks 16 --hot 28 --low 20 --high 40 \
		-p timestamp --json >said
	all=$(value timestamp blocks_written)
	sim -w files --file-blocks 16 --hot 28 --low 20 --high 40 \
		-p timestamp --min-reclaimable 10 --json >said
	[ "$(value timestamp segments_skipped)" -gt 100 ]
	[ $((2 * $(value timestamp blocks_written))) -lt "$all" ]
}

@test "counters that snapshots deceive starve segments, exact counts none" {
	local counts

	for counts in exact counters halved; do
		sim -w files --fill 50 --file-blocks 16 --hot 40 -p greedy \
			--low 10 --high 20 --snapshot-every 1000 --snapshots 2 \
			--writes 60000 --counts "$counts" --json >said
		value greedy segments_starved >"starved-$counts"
		value greedy blocks_written >"written-$counts"
	done
	[ "$(cat starved-exact)" -eq 0 ]
	[ "$(cat starved-counters)" -gt 0 ]
	[ "$(cat starved-halved)" -lt "$(cat starved-counters)" ]
	[ "$(cat written-exact)" -lt "$(cat written-halved)" ]
	[ "$(cat written-halved)" -lt "$(cat written-counters)" ]
}

@test "a trace is done, on a volume as large as it needs" {
	printf '%s\n' 'time,operation,offset,length' '0,write,0,1048576' \
		'1,write,0,4096' '2,delete,0,8192' '3,sync' >trace
	gcsim.nilfs2 -n 4 --segment-size 1M -t trace -p greedy --json >said
	[ "$(value greedy blocks_user)" -eq 257 ]
	[ "$(value greedy blocks_written)" -eq 257 ]
}

@test "pictures and curves" {
	sim --svg picture.svg --curve -p timestamp -p greedy --json >said
	[ "$(gojq '.curve | length' said)" -gt 100 ]
	# Two plots of two curves, with a legend; two maps.
	[ "$(grep -c '<polyline.*points="[0-9.]*,[0-9.]* ' picture.svg)" -eq 4 ]
	for policy in timestamp greedy; do
		[ "$(grep -c ">$policy</text>" picture.svg)" -eq 2 ]
		grep -q ">Segments at the end: $policy<" picture.svg
	done
	grep -q '>blocks written by the user</text>' picture.svg
	xmllint --noout picture.svg
	# Curves in the same place: each is narrower than the ones below it, and
	# drawn as no other.
	sim --force --svg picture.svg -p optimal -p greedy -p cost-benefit \
		-p cost-benefit-lfs -p data-first -p weighted -p timestamp
	grep -oP '<g fill.*stroke-width="\K[0-9.]*' picture.svg >widths
	[ "$(wc -l <widths)" -eq 14 ]
	head -n 7 widths | sort -rnuc
	[ "$(grep '<g fill' picture.svg | sed 's/stroke-width="[0-9.]*"//' |
		sort -u | wc -l)" -eq 7 ]
	sim --wear -p greedy --json >said
	[ "$(gojq '[.wear[].count] | add' said)" -eq 200 ]
}

@test "no picture takes the place of anything, and nothing is simulated then" {
	need_corpus
	image=$(copy_image snapshots)
	echo '0,write,0,1048576' >trace
	sum=$(cksum "$image" trace)
	for force in '' --force; do
		# shellcheck disable=SC2086
		spares_things 1 gcsim.nilfs2 $force --writes 10 --svg OUT "$image"
		# shellcheck disable=SC2086
		spares 1 ./trace 'is the input itself' gcsim.nilfs2 $force -n 4 \
			--segment-size 1M --svg OUT -t trace
		# With the image of a replay too.
		# shellcheck disable=SC2086
		spares 1 "$image" 'is the input itself' gcsim.nilfs2 $force \
			--writes 10 --svg OUT -t trace "$image"
	done
	spares 1 mine exists gcsim.nilfs2 --writes 10 --svg OUT "$image"
	[[ $output == *--force* && $output != *WAF* ]]
	[ "$(cksum "$image" trace)" = "$sum" ]
}

@test "a volume that is too full for its cleaner ends the run" {
	run -1 sim --fill 100
	[[ $output == *"gcsim.nilfs2: "*"cleaning gains nothing"* ]]
	# A log, the step, 14 segments of nodes, and five more.
	run -2 sim --step 1073741824 --nodes 10
	[[ $output == *"1073741844 clean segments are more than all 200"* ]]
	# A segment for each log, or for the three that one victim may end.
	run -2 sim --step 300 --placement sepbit
	[[ $output == *"306 clean segments are more than all 200"* ]]
	run -2 sim --step 300 --placement midas
	[[ $output == *"303 clean segments are more than all 200"* ]]
	run -2 --separate-stderr sim -p none
	run -2 --separate-stderr sim --fill 101
}

# looking WINDOW: the experiment of "f2fs: optimize gc for better performance" (2013),
# as tests/bench/seeds.sh has it: cleanings, and dead blocks of the victims.
looking() {
	awk -v seed=1 -f "$NILFS2_SOURCE/tests/bench/seeds/records.awk" |
		gcsim.nilfs2 -q -t - --trace-format csv --segments 1011 \
			--segment-size 2M --nodes 8 --moves-change-nodes \
			--metadata-log --placement survivors --frees-dead \
			--sync --fill-holes 96 --low 49 -p greedy \
			--max-search "$1" --warm-up 416184 \
			--flush-every 416184 --json >said
	gojq -r '"\(.runs[0].segments_cleaned) \([.kinds[].blocks_reclaimed] |
		add) \(.runs[0].blocks_filled)"' said
}

# near GOT PUBLISHED PERCENT
near() {
	awk -v got="$1" -v want="$2" -v off="$3" 'BEGIN {
		exit !(got > want * (1 - off / 100) &&
			got < want * (1 + off / 100)) }'
}

@test "who looks further cleans less, by as much as f2fs was measured to" {
	read -r cleanings garbage filled < <(looking 4096)
	near "$cleanings" 645 15
	near "$garbage" 106682 15
	# What was overwritten is, but for the first segments, in holes again.
	[ "$filled" -gt $((200000 - 48 * 512)) ]
	read -r cleanings garbage filled < <(looking 20)
	near "$cleanings" 1174 20
	near "$garbage" 174840 45
	[ "$garbage" -gt 100000 ]
}

@test "no warm-up is one of no blocks" {
	# All data once, then at once what is measured.
	gcsim.nilfs2 -n 100 --segment-size 256K -f 80 --json --warm-up 0 \
		-p greedy >said
	gojq -e '.runs[0] | .blocks_before == .blocks_data' said
	sim --sweep warm-up=0,50% -p greedy --json >said
	gojq -e '[.runs[].warm_up] == ["0", "50%"]' said
}

@test "what is scarce is as asked for, with an image as well" {
	need_corpus
	local name image others=0

	for name in $(sample 8 $(corpus_names)); do
		image=$corpus/$name/image
		# Where all is scarce, data-first is greedy.
		gcsim.nilfs2 -p data-first --scarce 4000000 --victims 1000 \
			"$image" >scarce
		gcsim.nilfs2 -p greedy --victims 1000 "$image" | diff - scarce
		gcsim.nilfs2 -p data-first --scarce 0 --victims 1000 \
			"$image" >strict
		cmp -s scarce strict || others=$((others + 1))
	done
	[ "$others" -gt 0 ]
}

@test "an image has its own sizes" {
	mkfs.nilfs2 -q -B 16 --size 16M image
	for option in "-n 10" "--data 5" "-f 70" "--segment-size 4M" \
		"--block-size 8192" "--sweep fill=80,90" \
		"--sweep segments=100:200:50"; do
		# shellcheck disable=SC2086
		run -2 gcsim.nilfs2 $option image
		[[ $output == *"are those of the image"* ]]
	done
	run -2 gcsim.nilfs2 --fill-holes 10 image
	[[ $output == *"--fill-holes is not for images"* ]]
}

@test "a failed run from an image has its blocks counted from the start" {
	need_corpus
	run -1 gcsim.nilfs2 --low 1000 "$corpus/nearly-full/image"
	[[ $output == *"gains nothing after 0 blocks of the user"* ]]
}

@test "groups of midas stay, however many segments are cleaned at once" {
	for placement in one midas; do
		gcsim.nilfs2 -n 512 --segment-size 256K -f 80 -w zipf -p greedy \
			--placement $placement --step 8 --high 24 --warm-up 300000 \
			--check 50000 --json >$placement
	done
	gojq -e --slurpfile one one '.runs[0].write_amplification <
		0.9 * $one[0].runs[0].write_amplification' midas
	# Rounds that gain more than all queues together would have.
	for placement in one midas; do
		gcsim.nilfs2 -n 512 --segment-size 256K -f 80 -w zipf \
			-p greedy -p cost-benefit --placement $placement --high 64 \
			--json >$placement
	done
	gojq -e --slurpfile one one 'all(range(2) as $i |
		.runs[$i].write_amplification <
			0.96 * $one[0].runs[$i].write_amplification; .)' midas
	for classes in 3 16; do
		gcsim.nilfs2 -n 512 --segment-size 64K -f 80 -w zipf -p greedy \
			--placement midas --classes $classes --warm-up 60000 \
			--check 20000 --json | gojq -e '.runs[0].error == null'
	done
}

@test "steps whose metadata takes what they gain are named" {
	# From a step of 12 victims on, with 98 of 128 live and 303 blocks of the
	# DAT, there is more to gain than its flush writes.
	for step in 2 12; do
		status=$((step == 2))
		run "-$status" gcsim.nilfs2 -n 400 --segment-size 512K -f 75 -w zipf \
			--dat 128 --step $step -p timestamp --min-reclaimable 10
		[[ $status -eq 0 || $output == *"in steps of 2, which wrote "*" blocks of metadata and moved "*"a larger --step writes less"* ]]
	done
}

@test "a root of ages is for the policies that have ages" {
	sim -w hot-cold -p greedy,random,cost-benefit --json >plain
	sim -w hot-cold -p greedy,random,cost-benefit --ages root --json >root
	[ "$(gojq -c '.runs[:2]' plain)" = "$(gojq -c '.runs[:2]' root)" ]
	[ "$(gojq -c '.runs[2]' plain)" != "$(gojq -c '.runs[2]' root)" ]
}

@test "workloads of given distributions" {
	sim -p greedy --json >said
	uniform=$(value greedy write_amplification)
	# All of them equal.
	sim -w zipf --skew 0 -p greedy --json >said
	awk -v got="$(value greedy write_amplification)" -v want="$uniform" \
		'BEGIN { exit !(got > want * 0.98 && got < want * 1.02) }'
	# Nearly all writes to one block: what is moved is old, and full.
	sim -w zipf --skew 10 -p greedy --json >said
	awk -v got="$(value greedy write_amplification)" \
		'BEGIN { exit !(got < 1.02) }'
	# Half of the blocks live, so cleaning is that of a volume half as full.
	sim -w lifetimes --lifetime exponential:4480 -p greedy --json >said
	half=$(value greedy write_amplification)
	sim -f 35 -p greedy --json >said
	awk -v got="$half" -v want="$(value greedy write_amplification)" \
		'BEGIN { exit !(got > want * 0.93 && got < want * 1.07) }'
	# Trims make room.
	sim --trims 30 -p greedy --json >said
	awk -v got="$(value greedy write_amplification)" -v uniform="$uniform" \
		'BEGIN { exit !(got < uniform) }'
	sim -w mixed --sequential 100 -p greedy --json >said
	value greedy write_amplification | grep -qx '1\(\.0*\)\?'
	run sim --trims 100
	[[ $status -ne 0 && $output == *"--trims: '100' is not a number from 0 to 99"* ]]
	run sim --skew x
	[[ $status -ne 0 && $output == *"--skew: 'x' is not a number"* ]]
	run sim --lifetime normal:3
	[[ $status -ne 0 && $output == *"--lifetime: 'normal:3' is no distribution"* ]]
}

@test "every placement, with every policy, snapshots and metadata" {
	local placement policy
	local -a all=()

	for policy in $policies random d-choices windowed age-threshold:5000 \
		cost-benefit-data marginal; do
		all+=(-p "$policy")
	done
	for placement in one survivors hot-cold age dac sepbit midas \
		sfs multilog fadac warcip sfr mq eti residual future; do
		sim -w zipf "${all[@]}" --fill 35 --nodes 255 --dat 128 --dat-entries \
			--metadata-log --snapshot-every 4000 --trims 5 \
			--placement "$placement" --json >said
		[ "$(gojq '.runs | length' said)" -eq 13 ]
		gojq -e 'all(.runs[]; .blocks_written >= .blocks_user)' said
	done
}

# same A B: both have the same results, but for the name of the policy.
same() {
	gojq -e --arg a "$1" --arg b "$2" '[.runs[] | select(.policy == $a or
		.policy == $b) | del(.policy)] | length == 2 and .[0] == .[1]' \
		said
}

@test "policies that are others in the limit" {
	sim -w hot-cold -p greedy -p windowed:1000000 -p d-choices:5000 \
		-p random -p d-choices:1 -p timestamp -p windowed:1 --json >said
	same greedy windowed:1000000
	same greedy d-choices:5000
	same random d-choices:1
	same timestamp windowed:1
	run ! same greedy random
	# Nothing is moved apart where there is but one class.
	sim -w zipf -p greedy --placement age --classes 1 --json >one
	sim -w zipf -p greedy --placement survivors --json >two
	diff <(gojq .runs one) <(gojq .runs two)
}

@test "residual has more logs than clean segments, which dac cannot" {
	local volume="-q -n 200 --segment-size 64K -f 85 -w zipf --classes 40"

	# shellcheck disable=SC2086
	gcsim.nilfs2 $volume -p marginal --placement residual --writes 20000 \
		--step 2 --check 5000 --json >said
	gojq -e '.runs[0] | .error == null and .segments_clean <= 4' said
	# shellcheck disable=SC2086
	run gcsim.nilfs2 $volume -p marginal --placement dac --low 4
	[[ $status -ne 0 && $output == *"gains nothing"* ]]
}

@test "no placement is better than one that knows the future" {
	local placement threshold

	for threshold in "-n 420" "--garbage-threshold 20"; do
		for placement in one survivors age dac sepbit sfs multilog \
			fadac warcip sfr mq eti residual future; do
			# shellcheck disable=SC2086
			gcsim.nilfs2 --data 20000 --segment-size 256K \
				-w zipf -p cost-benefit --placement $placement \
				$threshold \
				--writes 100000 --check 50000 --json >said
			echo "$placement $(value cost-benefit blocks_written)"
		done | sort -nk 2 >order
		cat order
		[[ $(head -n 1 order) == future* ]]
		[[ $(tail -n 1 order) == one* ]]
	done
}

@test "by garbage, no more than so much of a trace is garbage" {
	seq 0 9999 | awk '{ print "0,write," $1 % 2000 * 4096 ",4096" }' >trace
	gcsim.nilfs2 -t trace --trace-format csv --segment-size 64K -p greedy \
		--garbage-threshold 30 --json >said
	# 2000 blocks live, so there are 2000 / 0.7 of them, and a few segments.
	places=$((($(value greedy blocks_written) / 16) - $(value greedy segments_cleaned)))
	[ "$places" -ge $((2000 * 100 / 70 / 16 - 1)) ]
	[ "$places" -le $((2000 * 100 / 70 / 16 + 3)) ]
}
