#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The rule of --keep chooses what its definition says, whatever the clock was, makes
# these checkpoints snapshots, and later drops those that it has made, and no others.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load ../fsck/damage
load gc

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$BATS_TEST_TMPDIR/volume
	export TZ=CET-1CEST,M3.5.0,M10.5.0/3
}

# at TIME OPTION...: gc.nilfs2 at that time.
at() {
	local time=$1

	shift
	SOURCE_DATE_EPOCH=$time gc.nilfs2 -q --no-check "$@" "$image"
}

# volume TIME...: with a checkpoint of each time, the first one from mkfs.nilfs2.
volume() {
	SOURCE_DATE_EPOCH=$1 mkfs.nilfs2 -q -B 64 --size 64M "$image"
	shift
	[ $# -eq 0 ] || add "$@"
}

# add TIME...: checkpoints, which were snapshots.
add() {
	local time

	for time; do
		at "$time" --take-snapshot --json >taken
		gojq .snapshots.taken taken
	done >all
	at "$time" --to-checkpoint "$(paste -sd , all)" >report
}

# points: all checkpoints, with their times, and whether they are minor.
points() {
	dump.nilfs2 checkpoints -a --json "$image" |
		gojq -r '.checkpoints[] | "\(.checkpoint) \(.created) \(.minor)"'
}

# wanted RULE: what the definition chooses.
wanted() {
	points | perl "$NILFS2_SOURCE/tests/gc/keep.pl" "$1"
}

# keep RULE OPTION...: with a record here.
keep() {
	local rule=$1

	shift
	at 1800000000 --keep "$rule" --keep-state record "$@"
}

# chosen: as wanted has it, from the report in $output.
chosen() {
	gojq -r '.snapshots.checkpoints[] | select(.periods != 0) |
		"\(.checkpoint) \(.periods_names | join(","))"' <<<"$output"
}

# results: the lines of the report, "CNO RESULT".
results() {
	gojq -r '.snapshots.checkpoints[] | "\(.checkpoint) \(.result)"' \
		<<<"$output"
}

@test "periods are chosen as their definition says, with a clock that jumps" {
	local seed zone rule

	for seed in 1 2; do
		rm -f "$image"
		volume $(perl "$NILFS2_SOURCE/tests/gc/keep.pl" --times $seed 40)
		# Minor checkpoints, and some without the one before.
		at 1701000000 --to-snapshot 5
		at 1701000100 --to-checkpoint 5
		at 1701000200 --delete-checkpoints "$((seed + 7)),20,42" --free 0 \
			>report
		for zone in UTC0 "$TZ" LHST-10:30LHDT-11,M10.1.0,M4.1.0 HST10; do
			for rule in last=3 hourly=24 daily=7 weekly=4 monthly=12 \
				yearly=2 last=1,hourly=2,daily=2,weekly=2,monthly=2 \
				last=4000000000,yearly=1; do
				export TZ=$zone
				run -0 keep "$rule" -n --json
				diff <(wanted "$rule") <(chosen)
			done
			run -0 keep hourly=30,daily=9 -n --json --utc
			diff <(TZ=UTC0 wanted hourly=30,daily=9) <(chosen)
		done
	done
	[ ! -e record ]
}

@test "weeks begin on Monday, and the hour that is repeated is two" {
	# Sunday and Monday, 2024-12-29 23:30 and 2024-12-30 00:30, in Berlin.
	volume 1735511400 1735515000 1735900000
	run -0 keep weekly=9 -n --json
	[ "$(chosen)" = $'1 weekly\n3 weekly' ]
	run -0 keep yearly=9 -n --json
	[ "$(chosen)" = $'2 yearly\n3 yearly' ]
	# 02:30, in summer and in winter time.
	rm "$image"
	volume 1698539400 1698543000
	run -0 keep hourly=9 -n --json
	[ "$(chosen)" = $'1 hourly\n2 hourly' ]
	run -0 keep daily=9 -n --json
	[ "$(chosen)" = "2 daily" ]
}

@test "snapshots of the rule are dropped, those by hand are not" {
	local rule=last=2,daily=3,monthly=2 day time before

	volume 1700000000 1700100000
	at 1700100001 --take-snapshot
	hand=$(checkpoints -s)
	for day in 2 3 4 9 40 41; do
		time=$((1700000000 + day * 86400))
		add $time $((time + 7200)) $((time + 3600))
		wanted $rule | cut -d ' ' -f 1 >is
		keep $rule
		diff <(sort -nu is - <<<"$hand") <(checkpoints -s)
		diff <(grep -vxF "$hand" is) <(grep -v '^#' record | cut -d ' ' -f 1)
		is_clean
		# Without new files nothing changes.
		before=$(state_of "$image")
		keep $rule
		[ "$(state_of "$image")" = "$before" ]
	done
	[ "$(grep -v '^#' record | cut -d ' ' -f 1 | tail -n 1)" -gt 20 ]
	# A snapshot that is named is one by hand from then on.
	taken=$(grep -v '^#' record | cut -d ' ' -f 1 | head -n 1)
	keep last=1 --to-snapshot "$taken"
	checkpoints -s | grep -qx "$taken"
	checkpoints -s | grep -qx "$hand"
	! grep "^$taken " record
	# So is everything that is not in the record.
	keep last=4
	rm record
	checkpoints -s >before
	keep last=1
	diff before <(checkpoints -s)
}

@test "a forecast says what becomes of each snapshot" {
	volume 1700000000 1700100000 1700200000 1700300000
	keep last=2
	at 1700300001 --to-snapshot 1
	before=$(state_of "$image")
	cp record before
	export SOURCE_DATE_EPOCH=1800000000
	run -0 gc.nilfs2 --no-check --keep last=1,daily=3 --keep-state record -n "$image"
	echo "$output"
	[[ $output =~ 1\ +2023-11-14\ 23:13:20\ \+0100\ +by\ hand\ +- ]]
	[[ $output =~ 2\ +2023-11-16\ 03:00:00\ \+0100\ +new\ +daily ]]
	[[ $output =~ 4\ +2023-11-18\ 10:33:20\ \+0100\ +kept\ +last,daily ]]
	run -0 keep last=1 -n --json
	[ "$(results)" = $'1 by hand\n3 dropped\n4 kept' ]
	[ "$(gojq .snapshots.unmade <<<"$output")" -eq 1 ]
	[ "$(state_of "$image")" = "$before" ]
	cmp before record
	run -0 keep last=1 -v --json
	[ "$(results)" = $'1 by hand\n3 dropped\n4 kept' ]
	[ "$(checkpoints -s | paste -sd ,)" = 1,4 ]
}

@test "snapshots that the rule drops can be deleted in the same run" {
	volume 1700000000 1700100000 1700200000 1700300000
	keep last=3
	[ "$(checkpoints -s | paste -sd ,)" = 2,3,4 ]
	before=$(state_of "$image")
	run -1 keep last=1 --delete-checkpoints 4 --to-snapshot 4
	run -1 keep last=2 --delete-checkpoints 3
	[[ $output == *"checkpoint 3 is a snapshot, kept"* ]]
	[ "$(state_of "$image")" = "$before" ]
	run -0 keep last=1 --delete-checkpoints 2,3
	[ "$(checkpoints -s)" = 4 ]
	run ! grep -qx '[23]' <(checkpoints)
}

@test "a record of another volume drops nothing, and a wrong one stops the run" {
	volume 1700000000 1700100000 1700200000
	keep last=3
	sed -i 's/^2 1700100000/2 1700100001/; $a 99 1700000000' record
	keep last=1
	[ "$(checkpoints -s | paste -sd ,)" = 2,3 ]
	diff <(echo 3 1700200000) <(grep -v '^#' record)
	before=$(state_of "$image")
	for line in '3 x' 3 '3 4 5' "$(printf '%0300d 1' 3)" ''; do
		printf '# a record\n%s\n' "$line" >record
		run -1 keep last=2
		[[ $output == *"record: line 2 is not that of a record"* ]]
	done
	printf '3 1700200000' >record
	run -1 keep last=2
	rm record
	ln -s other record
	run -1 keep last=2
	[[ $output == *"is a symbolic link"* ]]
	run -1 at 1800000000 --keep last=2 --keep-state nowhere/record
	[[ $output == *"nowhere"* ]]
	[ "$(state_of "$image")" = "$before" ]
}

@test "a run that fails leaves the record of what is there" {
	volume 1700000000 1700100000 1700200000
	keep last=2
	add 1700300000
	before=$(state_of "$image")
	cp record before
	# The log is behind the limit; so no byte of it is written.
	run bash -c 'trap "" XFSZ; ulimit -f 32; exec "$@"' - \
		gc.nilfs2 -q --no-check --keep last=2 --keep-state record "$image"
	[ "$status" -eq 1 ]
	echo "$output"
	[[ $output == *"File too large"* ]]
	[ "$(checkpoints -s | paste -sd ,)" = 2,3 ]
	cmp before record
	keep last=2
	[ "$(checkpoints -s | paste -sd ,)" = 3,6 ]
}

@test "without a name the record is that of the volume's UUID" {
	volume 1700000000 1700100000
	uuid=$(dump.nilfs2 info --json "$image" | gojq -r '.superblocks[0].s_uuid')
	mkdir state
	export STATE_DIRECTORY=$PWD/state/nilfs2-gc
	at 1800000000 --keep last=1
	[ "$(ls state/nilfs2-gc)" = "$uuid.keep" ]
	at 1800000000 --keep last=1
	add 1700200000
	at 1800000000 --keep last=1
	[ "$(checkpoints -s | wc -l)" -eq 1 ]
	STATE_DIRECTORY=/proc/none run -1 at 1800000000 --keep last=2
	[[ $output == *"--keep-state names another file"* ]]
	at 1800000000 --uuid clear
	run -1 at 1800000000 --keep last=1
	[[ $output == *"has no UUID"* ]]
	keep last=1
}

@test "a rule that is wrong, and what goes not with it" {
	volume 1700000000
	refuses() {
		run -2 gc.nilfs2 --keep "$1" "$image"
		[[ $output == *"--keep: $2"* ]]
	}
	refuses dayly=3 "unknown period 'dayly': did you mean 'daily'?"
	refuses fortnightly=3 "unknown period 'fortnightly'; choose last, hourly"
	refuses daily "'daily' has no count"
	refuses daily=0 "daily: '0' is not a number from 1 to 4294967295"
	refuses daily=4294967296 "daily: '4294967296' is not a number"
	refuses daily=-1 "daily: '-1' is not a number"
	refuses daily= "daily: '' is not a number"
	refuses daily=1,,last=1 "'' is not a period and a count"
	refuses "" "'' is not a period and a count"
	refuses daily=1,last=1,daily=2 "daily is given twice"
	run -2 gc.nilfs2 --keep daily=1 --keep daily=2 "$image"
	[[ $output == *"daily is given twice"* ]]
	run -2 gc.nilfs2 --keep daily=1 --to-checkpoint 1 "$image"
	run -2 gc.nilfs2 --keep daily=1 --output copy "$image"
	run -2 gc.nilfs2 --keep daily=1 --watch "$image"
	run -2 gc.nilfs2 --keep-state record "$image"
	[[ $output == *"--keep-state needs --keep"* ]]
}

@test "a damaged checkpoint is not chosen" {
	volume 1700000000 1700100000 1700200000
	damage checkpoint:2 "cp_ifile_inode.i_bmap[1]=1"
	before=$(state_of "$image")
	run -4 gc.nilfs2 --keep last=3 --keep-state record "$image"
	[[ $output == *"a checkpoint to be a snapshot is damaged"* ]]
	[ "$(state_of "$image")" = "$before" ]
	[ ! -e record ]
	run -0 gc.nilfs2 --keep last=1 --keep-state record "$image"
}
