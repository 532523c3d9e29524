#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Experiments: many runs at once are the same as one at a time.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A small volume, for a moment.
sim() {
	gcsim.nilfs2 --segments 100 --segment-size 128K --writes 5000 "$@"
}

# What both a run of its own and one of a sweep say.
results='{policy, write_amplification, blocks_user, blocks_written,
	segments_cleaned, segments_clean, wear_mean, blocks_moved, notes, error}'

@test "a row of a sweep is a run with the same options" {
	sim --sweep fill=50:70:10 --sweep placement=one,sepbit \
		-p greedy,cost-benefit --seeds 2 --seed 7 --json >swept
	for fill in 50 60 70; do
		for placement in one sepbit; do
			for policy in greedy cost-benefit; do
				for seed in 7 8; do
					sim -f $fill --placement $placement \
						-p $policy --seed $seed --json
				done
			done
		done
	done | gojq -c ".runs[] | $results" >alone
	gojq -c ".runs[] | $results" swept | diff - alone
	[ "$(wc -l <alone)" -eq 24 ]
	# In this order, as each row says.
	gojq -r '.runs[] | "\(.fill) \(.placement) \(.policy) \(.seed)"' swept |
		sort -c -s -n -k 1,1
	gojq -e '.runs[23] | .fill == 70 and .placement == "sepbit" and
		.policy == "cost-benefit" and .seed == 8 and
		.segments == 100 and .segment_size == 131072 and
		.version == "'"$(gcsim.nilfs2 --version | awk '{ print $NF; exit }')"'"' swept
}

@test "the number of workers does not matter" {
	for how in --json --json-lines --csv -q; do
		for workers in 1 2 5; do
			sim --sweep fill=60:80:5 -p all -j $workers $how \
				>"said-$workers"
		done
		cmp said-1 said-2
		cmp said-1 said-5
	done
	sim -p all -j 1 >said-1
	sim -p all -j 3 >said-2
	cmp said-1 said-2
}

@test "means and intervals over seeds are those of the rows" {
	sim --sweep fill=60,70 -p greedy,random --seeds 5 --json >said
	gojq -e '(.means | length) == 4 and all(.means[]; .runs == 5)' said
	# 2.776 is the quantile of 4 degrees; numbers have three decimals.
	gojq -e '[.runs[] | {fill, policy, waf: (.blocks_written / .blocks_user)}]
		as $all | all(.means[]; . as $m |
		[$all[] | select(.fill == $m.fill and .policy == $m.policy).waf]
		as $w | ($w | add / 5) as $mean |
		(2.7764 * (($w | map(. - $mean | . * .) | add / 4 / 5) | sqrt))
		as $ci |
		($m.write_amplification_mean - $mean | fabs) < 0.0006 and
		($m.write_amplification_interval - $ci | fabs) < 0.0006 and
		($m.write_amplification_least - ($w | min) | fabs) < 0.0006 and
		($m.write_amplification_most - ($w | max) | fabs) < 0.0006)' said
}

@test "comma-separated values are those of JSON" {
	sim --sweep fill=60,100 --sweep lifetime=exponential:9 -p greedy \
		--seeds 2 --json >said || true
	run -1 --separate-stderr sim --sweep fill=60,100 \
		--sweep lifetime=exponential:9 -p greedy --seeds 2 --csv
	echo "$output" >csv
	python3 - <<'END'
import csv, json
runs = json.load(open("said"))["runs"]
rows = list(csv.DictReader(open("csv")))
assert len(rows) == len(runs) == 4
for row, run in zip(rows, runs):
    for key, value in run.items():
        if key.endswith("_names"):
            continue
        got = row[key]
        if key == "notes":
            assert got == ",".join(run.get("notes_names") or []), got
        elif value is None:
            assert got == "", (key, got)
        elif isinstance(value, bool):
            assert got == str(value).lower(), (key, got)
        elif isinstance(value, (int, float)):
            assert float(got) == value, (key, got)
        else:
            assert got == value, (key, got)
assert rows[0]["runs"] == "2" and rows[2]["runs"] == "0"
assert abs(float(rows[0]["write_amplification_mean"]) - sum(
    float(r["write_amplification"]) for r in rows[:2]) / 2) < 0.0011
assert "gains nothing" in rows[2]["error"] and not rows[2]["blocks_user"]
END
	run -2 sim --csv --json
}

@test "a run that fails leaves the others alone" {
	run -1 --separate-stderr sim --sweep fill=60,100 -p greedy,timestamp \
		--json
	echo "$output" >said
	gojq -e '[.runs[] | .error == null] == [true, true, false, false] and
		(.runs[2] | .write_amplification == null and
			.blocks_user == null)' said
	[ "$(grep -c "cleaning gains nothing" <<<"$stderr")" -eq 2 ]
	# Each is named by what makes it another run.
	[[ $stderr == *"gcsim.nilfs2: fill 100, greedy: cleaning gains"* ]]
	[[ $stderr == *"gcsim.nilfs2: fill 100, timestamp: cleaning gains"* ]]
	run -1 --separate-stderr sim --sweep placement=one,dac \
		--sweep fill=60,100 -p greedy --seeds 2 --seed 6
	[ "$(wc -l <<<"$stderr")" -eq 4 ]
	[[ $stderr == *"gcsim.nilfs2: placement dac, fill 100, greedy, seed 7: cleaning gains"* ]]
	run -1 --separate-stderr sim -f 100
	[[ $stderr == "gcsim.nilfs2: optimal: cleaning gains"* ]]
	# What only some of all policies can do.
	run -1 --separate-stderr sim -p all --max-search 10 --json
	gojq -e 'any(.runs[]; .error == null) and any(.runs[];
		.error != null and (.error | test("--max-search")))' <<<"$output"
	run -2 sim -p greedy -p d-choices --max-search 10
}

@test "a run that measured nothing has no number" {
	# The volume has room for all of it.
	gcsim.nilfs2 -n 1000 --segment-size 64K -f 10 --writes 100 --json >said
	gojq -e '.runs[0] | .write_amplification == null and
		.notes_names == ["no-victim"] and .blocks_written == 100' said
	gcsim.nilfs2 -n 1000 --segment-size 64K -f 10 --writes 100 >text
	grep -q '^optimal  *- ' text
	grep -q '^no-victim: ' text
	# Written in sequence, it cleans without moving anything.
	sim -w sequential -p greedy --json >said
	gojq -e '.runs[0].write_amplification == 1' said
}

@test "a run that is not steady, and one that is too small, say so" {
	# Nothing is cleaned at first.
	sim -f 50 -p greedy --json >said
	gojq -e '.runs[0].notes_names | index("not-steady")' said
	gojq -e '.runs[0] | (.half_blocks_written / .half_blocks_user) * 1.05 <
		(.blocks_written - .half_blocks_written) /
		(.blocks_user - .half_blocks_user)' said
	gcsim.nilfs2 -n 300 --segment-size 256K -p greedy --json >said
	gojq -e '.runs[0].notes == 0' said
	# Two of the ten segments are no data, which is what the cleaner needs.
	gcsim.nilfs2 -n 10 --segment-size 256K --json >said
	gojq -e '.runs[0].notes_names | index("too-small")' said
}

@test "volumes of a trace, and their sum" {
	awk 'BEGIN { srand(3); for (i = 0; i < 9000; i++)
		printf "%d,write,%d,4096,%s\n", i, 4096 * int(rand() * 900),
			i % 3 ? "a" : "b" }' >trace
	sum() {
		gcsim.nilfs2 -t trace --volume each --segment-size 64K \
			-p greedy,optimal "$@"
	}
	sum --json >said
	gojq -e '(.totals | length) == 2 and all(.totals[]; . as $t |
		.volume == "total" and
		([.runs] | length) == 1 and .blocks_user == 9000)' said
	gojq -e '. as $all | all("blocks_user", "blocks_written",
		"segments_cleaned", "wear_sum"; . as $key |
		([$all.runs[] | select(.policy == "greedy")[$key]] | add) ==
		($all.totals[] | select(.policy == "greedy")[$key]))' said
	sum >text
	[ "$(awk '$1 == "total" { print $4 }' text | sort -u)" = 9000 ]
	# Read once, replayed by several at the same time.
	sum --sweep fill=60:80:10 -j 1 --csv >one
	sum --sweep fill=60:80:10 -j 3 --csv >three
	cmp one three
	run -1 --separate-stderr sum --sweep step=1,70 -n 80 --json
	[[ $stderr == *"gcsim.nilfs2: step 70, volume b, optimal: "* ]]
	sum -f 70 --volume b --json >alone
	sum --sweep fill=60:80:10 --json | gojq -c '.runs[] | select(.fill == 70
		and .volume == "b") | '"$results" >swept
	gojq -c ".runs[] | $results" alone | diff - swept
}

@test "sweeps of what cannot be swept are refused" {
	echo '0,write,0,1048576' >trace
	for sweep in fill none=1 svg=a trace=a seeds=1,2 fill=1,200 fill=x \
		placement=none frees-dead=maybe fill=90:80; do
		run -2 sim --sweep "$sweep"
	done
	run -2 sim --sweep fill=50 --sweep fill=60
	run -2 sim --sweep seed=1,2 --seeds 2
	run -2 sim --seeds 0
	run -2 gcsim.nilfs2 -t trace --sweep hot=1,2
	run -2 gcsim.nilfs2 -t trace --sweep block-size=4K,8K
	run -2 sim --sweep fill=50 --emit --svg picture.svg
	run -2 sim --sweep seed=1:65 --sweep ties=first,last --svg picture.svg \
		--sweep placement=one,dac --sweep fill=50:66
	[[ $output == *"more than 64 plots"* ]]
	[ ! -e picture.svg ]
	for option in --curve --wear "--victims 3"; do
		# shellcheck disable=SC2086
		run -2 sim --sweep fill=50 $option
		[[ $output == *"need runs without --sweep"* ]]
	done
	sim --sweep frees-dead=no,yes --json >said
	gojq -e '[.runs[].frees_dead] == [false, true]' said
}

# points N: of the N-th line, "X,Y" each.
points() {
	grep -oP '<polyline.* points="\K[^"]*' picture.svg | sed -n "$1p" |
		tr ' ' '\n'
}

@test "a picture of a sweep has its means and intervals, and all series" {
	sim --sweep placement=one,dac --sweep fill=60,50,70 --seeds 3 \
		-p greedy,random,timestamp --svg picture.svg --json >said
	xmllint --noout picture.svg
	# Two plots of three series, and their bars.
	[ "$(grep -c '<polyline' picture.svg)" -eq 6 ]
	[ "$(grep -c 'class="interval"' picture.svg)" -eq 18 ]
	for text in greedy random timestamp "fill (percent)" \
		"blocks written per block of the user"; do
		[ "$(grep -c ">$text</text>" picture.svg)" -eq 2 ]
	done
	for text in "placement one" "placement dac"; do
		[ "$(grep -c ">$text</text>" picture.svg)" -eq 1 ]
	done
	grep -q ">mean of 3 runs each; bars are the intervals of 95 %" picture.svg
	# All points are on one scale, from left to right.
	gojq -r '.means[] | select(.policy == "random" and .placement == "dac") |
		"\(.fill) \(.write_amplification_mean) \(.write_amplification_interval)"' \
		said | sort -n >want
	points 5 | sort -t , -n -c
	points 5 | tr ',' ' ' | paste - want | awk '
		NR == 1 { x = $1; y = $2; fill = $3; waf = $4 }
		NR == 2 { a = ($1 - x) / ($3 - fill); b = ($2 - y) / ($4 - waf) }
		NR == 3 { dx = x + a * ($3 - fill) - $1
			dy = y + b * ($4 - waf) - $2 }
		END { exit !(NR == 3 && a > 0 && b < 0 && dx * dx < 0.1 &&
			dy * dy < 0.1) }'
	scale=$(points 5 | tr ',' ' ' | paste - want | awk '
		NR == 1 { y = $2; waf = $4 }
		NR == 2 { print (y - $2) / ($4 - waf) }')
	# Their bars are as long as the intervals: the 13th to 15th are these.
	grep -oP 'class="interval".*m-4 0v\K[0-9.]*' picture.svg |
		sed -n 13,15p | paste - want | awk -v scale="$scale" '
		{ d = $1 - 2 * scale * $4; bad += d * d > 0.1 }
		END { exit bad || NR != 3 }'
}

@test "a picture of one value, of one number, and of none" {
	# No line from it to anywhere, and no values between it and the next.
	sim --sweep fill=60 -p greedy --svg picture.svg
	xmllint --noout picture.svg
	[ "$(grep -c '<circle' picture.svg)" -eq 1 ]
	run ! grep -q '<polyline' picture.svg
	grep -q '>60</text>' picture.svg
	run ! grep -q '>60\.' picture.svg
	# Along x is what has several values.
	sim --sweep fill=60 --sweep placement=one,dac -p greedy \
		--force --svg picture.svg
	[ "$(grep -c '<circle' picture.svg)" -eq 2 ]
	grep -q '>placement (name)</text>' picture.svg
	grep -q '>fill 60</text>' picture.svg
	sim --sweep fill=60 --sweep step=1,2 -p greedy --force --svg picture.svg
	grep -q '>step (n)</text>' picture.svg
	[ "$(grep -c '<polyline' picture.svg)" -eq 1 ]
	# One of two has ended.
	run -1 sim --sweep fill=60,100 -p greedy --force --svg picture.svg
	[ "$(grep -c '<circle' picture.svg)" -eq 1 ]
	run ! grep -q '<polyline' picture.svg
	# Nothing to draw is no picture, whatever runs there are.
	rm picture.svg
	for runs in "--sweep fill=100" "--fill 100"; do
		# shellcheck disable=SC2086
		run -1 sim $runs -p greedy --svg picture.svg
		[[ $output == *"--svg: no run has a result, so there is no picture"* ]]
		[ ! -e picture.svg ]
	done
	gcsim.nilfs2 -n 1000 --segment-size 64K -f 10 --writes 100 \
		--sweep step=1,2 --svg picture.svg
	[ ! -e picture.svg ]
}

@test "pictures of sweeps over words, of policies, and of merged results" {
	local -a sweep=(--sweep placement=one,dac,age -p greedy,timestamp)

	sim "${sweep[@]}" --svg picture.svg
	xmllint --noout picture.svg
	# Six marks, two in the legend; no bars of single runs.
	[ "$(grep -c '<circle' picture.svg)" -eq 8 ]
	! grep -q 'class="interval"' picture.svg
	for text in one dac age "placement (name)"; do
		[ "$(grep -c ">$text</text>" picture.svg)" -eq 1 ]
	done
	sim "${sweep[@]}" --emit >commands
	sh commands >results
	sim "${sweep[@]}" --merge --svg merged.svg results >/dev/null
	cmp picture.svg merged.svg
	cp results before
	run -1 sim "${sweep[@]}" --merge --force --svg results /dev/null results
	cmp results before
	[[ $output == *"is the input itself"* ]]
	# Without an axis, the policies are one; failures are no points.
	sim -p all --csv --force --svg picture.svg >rows
	[ "$(grep -c '<circle' picture.svg)" -eq $(($(wc -l <rows) - 1)) ]
	run -1 sim -p greedy --sweep fill=50,60,100 --force --svg picture.svg
	[ "$(points 1 | wc -l)" -eq 2 ]
}

@test "progress of many runs goes from nothing to all" {
	sim --sweep fill=50:90:5 -p greedy -j 2 -C 3 3>steps >/dev/null
	awk '$4 != "runs" || $2 < last { bad = 1 } { last = $2; all = $3 }
		END { exit bad || !NR || last != all }' steps
}

# both ARGUMENT...: a sweep here, and the same by its commands, the last one
# first; what is printed must be the same.
both() {
	local how part

	gcsim.nilfs2 "$@" --emit >commands
	mkdir -p results
	rm -f results/*
	tac commands | split -n r/3 - part.
	for part in part.a?; do
		sh "$part" >"results/$part" || true
	done
	for how in "" --csv --json --json-lines; do
		# shellcheck disable=SC2086
		gcsim.nilfs2 "$@" $how >here 2>errors || [ $? -eq 1 ]
		# shellcheck disable=SC2086
		gcsim.nilfs2 "${@:1:$#-images}" $how --merge results/* >merged \
			2>merged-errors || [ $? -eq 1 ]
		cmp here merged
		diff errors merged-errors
	done
}

@test "emitted commands and their merged results are the same as a sweep" {
	images=0
	both -n 100 --segment-size 128K --writes 5000 --sweep fill=50,70,100 \
		--sweep placement=one,dac -p all --seeds 2 --frees-dead \
		--warm-up 20%
	[ "$(wc -l <commands)" -eq "$(sort -u commands | wc -l)" ]
	grep -o 'key [0-9a-f]*' commands | sort -u | wc -l |
		grep -qx "$(wc -l <commands)"
	both -n 100 --segment-size 128K --writes 5000 -w lifetimes \
		--sweep lifetime=exponential:900,uniform:1:3000
	# Names that a shell would read otherwise.
	awk 'BEGIN { srand(3); for (i = 0; i < 3000; i++)
		printf "%d,write,%d,4096,%s\n", i, 4096 * int(rand() * 900),
			i % 3 ? "it'"'"'s $a" : "b" }' >'a trace'
	both -t 'a trace' --volume each --segment-size 64K \
		--sweep fill=60,80 -p greedy
	[ "$(wc -l <commands)" -eq 4 ]
	mkfs.nilfs2 -q -B 16 --size 16M 'an image'
	images=1
	both --sweep step=1:3 --writes 3000 'an image'
}

@test "results that are missing, of other runs, or contradict each other" {
	local -a sweep=(--sweep fill=50,60 -p greedy)

	sim "${sweep[@]}" --emit >commands
	[ "$(wc -l <commands)" -eq 2 ]
	sim "${sweep[@]}" --emit --json >said
	gojq -r '.commands[].command' said | diff - commands
	[ "$(gojq -r '.commands[0].command | capture("key (?<k>[0-9a-f]*)").k' \
		said)" = "$(gojq -r '.commands[0].key' said)" ]
	sh <(head -n 1 commands) >first
	sh <(tail -n 1 commands) >second
	run -1 --separate-stderr sim "${sweep[@]}" --merge --json first
	gojq -e '.runs[0].error == null and .runs[1].error == "no result"' \
		<<<"$output"
	sim "${sweep[@]}" --merge <(gzip <first) second first
	cat first second | sim "${sweep[@]}" --merge
	run -0 sim --sweep fill=50 -p greedy --merge first second
	[[ $output == *"1 results of other runs are ignored"* ]]
	sed 's/"blocks_written":/&1/' first >other
	run -1 sim "${sweep[@]}" --merge first second other
	[[ $output == *"other: line 1: run "*"has another result than before"* ]]
	head -c 900 first >cut
	run -1 sim "${sweep[@]}" --merge cut
	[[ $output == *"cut: line 1 is no JSON"* ]]
	# A key is one of its options.
	run -2 sh -c "$(head -n 1 commands) --step 3"
	[[ $output == *"--key: the key of these options"* ]]
	run -2 sim "${sweep[@]}" --key 1234
	run -2 sim --emit -t -
	run -2 sim --emit --csv
	run -2 sim --emit --merge
}
