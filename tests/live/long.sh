#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# long.sh [SCENARIO...]: many calls of the kernel's cleaner on mounted volumes, in
# guests, while writers check themselves, and a table of them.
#
# A volume is sound after each scenario: its files and snapshots are those of the
# writers' models, also after another mount, fsck.nilfs2 finds nothing, the kernel has
# no complaint, and gc.nilfs2 said nothing that is not expected.  COUNT (20000) is the
# number of calls in all, SEED (1) chooses what is done when, LIMIT (900) are the seconds
# of a scenario.  Images and output of scenarios with a fault stay in live-SCENARIO of
# the build; with KEEP=1 all do.
# NILFS2_BUILD and NILFS2_SOURCE say where programs and tests are.
set -u -o pipefail

lab=$NILFS2_SOURCE/tests/kernel
live=$NILFS2_SOURCE/tests/live
count=${COUNT:-20000} seed=${SEED:-1} limit=${LIMIT:-900}
# What mkfs makes is the volume of tests/live; this one knows small segments too.
PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/dump:$NILFS2_BUILD/fsck:$NILFS2_BUILD/gc:$PATH
. "$lab/lab.bash"

policies=(optimal greedy cost-benefit cost-benefit-lfs data-first weighted timestamp)
names=("${policies[@]}" snapshots remounts sizes cleaners full signals cuts logged
	blocks-1k blocks-2k segments-64k segments-8m vast)

# Megabytes and options of mkfs.nilfs2, if others than these.
declare -A size format plain found
usual_size=96 usual_format='-B 64'
size[snapshots]=192 size[sizes]=192
size[logged]=64
size[blocks-1k]=64 format[blocks-1k]='-b 1024 -B 256'
size[blocks-2k]=64 format[blocks-2k]='-b 2048 -B 128'
format[segments-64k]='-B 16'
size[segments-8m]=512 format[segments-8m]='-B 2048'
size[vast]=65536 format[vast]='-B 2048'
# What may be found: the device is longer than the volume; the power was cut while a
# file was removed, which the kernel does in two steps.
found[sizes]='^sb-dev-size: '
found[cuts]='^inode-orphan: ' found[logged]='^inode-orphan: '
for name in "${policies[@]}"; do
	plain[$name]="--policy $name"
done
for name in blocks-1k blocks-2k segments-64k segments-8m; do
	plain[$name]=
done
# Most of it is clean always.
plain[vast]="--low 8180 --high 8190"

fault()
{
	faults=$((faults + 1))
	echo "$name: $*" >>complaints
}

# in_guest FUNCTION [GUEST.SH-OPTION...] [IMAGE...]: status is that of the guest.
in_guest()
{
	local function=$1

	shift
	{
		echo "PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/dump:$NILFS2_BUILD/fsck"
		echo "PATH=\$PATH:$NILFS2_BUILD/gc:/usr/sbin:/usr/bin:/sbin:/bin"
		echo "live=$live CALLS=$calls LIMIT=$limit SEED=$seed RANDOM=$seed$round"
		echo "round=$round; . \$live/scenarios.bash; $function"
	} >script
	nice -n 5 "$lab/guest.sh" --share "$PWD/share" --timeout $((limit + 300)) \
		--dmesg dmesg.now "$@" <script >said.now 2>errors.now
	status=$?
	cat said.now >>said
	cat dmesg.now >>dmesg
	cat errors.now >>errors
	while read -r line; do
		fault "${line#fault: }"
	done < <(grep '^fault: ' said.now
		grep -vE 'scenarios.bash: line .* (Killed|Terminated|Hangup|Interrupt) ' \
			errors.now)
	dmesg=$(<dmesg.now)
	while read -r line; do
		fault "the kernel: $line"
	done < <(kernel_complaints "$dmesg" | grep -vE "${permitted:-^$}" | uniq -c)
}

# sound [OPTION...] IMAGE: fsck.nilfs2 finds nothing else.
sound()
{
	fsck.nilfs2 -fnq "$@" >fsck.now 2>&1 || fault "fsck: status $?"
	! lines=$(grep -vE "${found[$name]-^$}" fsck.now) ||
		fault "fsck: $(head -n 5 <<<"$lines")"
}

# whole FUNCTION: a scenario that ends by itself.
whole()
{
	in_guest "$1" - image
	[ "$status" -eq 0 ] && grep -qx finished said || fault "status $status"
	sound --data image
}

# made: calls of the kernel, and blocks that they moved.
made()
{
	cat share/run.*/* share/report.* 2>/dev/null | awk '
		$1 == "calls" || /^Calls of the kernel:/ { n += $NF }
		$1 == "blocks_moved" || /^Blocks moved:/ { moved += $NF }
		END { print n + 0, moved + 0 }'
}

# The power is cut at a random moment, again and again.
run_cuts()
{
	local begin=$SECONDS n

	for ((round = 1; ; round++)); do
		in_guest cut --kill-after $((RANDOM % 6 + 2)).$((RANDOM % 10)) - image
		[ "$status" -eq 137 ] || fault "status $status in round $round"
		sound image
		read -r n _ <<<"$(made)"
		[ "$n" -lt "$calls" ] && [ $((SECONDS - begin)) -lt "$limit" ] || break
	done
	round=$((round + 1))
	whole after_cut
}

# What is on the device after each flush, or a part of these states.
run_logged()
{
	cp --sparse=always image first
	truncate -s 8G log
	in_guest logged - image log
	[ "$status" -eq 0 ] && grep -qx finished said || fault "status $status"
	sound --data image
	perl "$live/replay.pl" log first "${STATES:-400}" share/states "${found[logged]}" \
		>replayed 2>&1 ||
		fault "replay: $(grep -v '^replayed' replayed | head -n 5)"
	cat replayed >>said
	round=1
	in_guest states - first.[0-9]*
	[ "$status" -eq 0 ] && grep -qx finished said.now || fault "status $status"
	for image in first.[0-9]*; do
		sound "$image"
	done
	[ -n "${KEEP-}" ] || rm -f log first first.[0-9]*
}

# scenario NAME
scenario()
{
	local begin=$SECONDS function=$1 n moved status line round=0

	name=$1 faults=0
	rm -rf "live-$name"
	mkdir -p "live-$name/share"
	cd "live-$name" || exit
	truncate -s "${size[$name]-$usual_size}M" image
	# Words of options.
	# shellcheck disable=SC2086
	mkfs.nilfs2 -q ${format[$name]-$usual_format} image || fault mkfs
	case $name in
	cuts|logged) "run_$name" ;;
	*) whole "${plain[$name]+plain }${plain[$name]-$name}" ;;
	esac
	read -r n moved <<<"$(made)"
	[ "$n" -gt 0 ] || fault "no calls"
	printf '%-16s %8d %10d %8d %7d\n' "$name" $((SECONDS - begin)) "$moved" "$n" \
		"$faults"
	all_calls=$((all_calls + n)) all_moved=$((all_moved + moved))
	all_faults=$((all_faults + faults))
	[ "$faults" -eq 0 ] || sed 's/^/# /' complaints
	cd ..
	[ "$faults" -gt 0 ] || [ -n "${KEEP-}" ] || rm -r "live-$name"
}

reason=$("$lab/guest.sh" --available uml) || { echo "1..0 # SKIP $reason"; exit 0; }
[ $# -gt 0 ] || set -- "${names[@]}"
calls=$(((count + $# - 1) / $#)) RANDOM=$seed
all_calls=0 all_moved=0 all_faults=0
cd "$NILFS2_BUILD" || exit
printf '%-16s %8s %10s %8s %7s\n' SCENARIO SECONDS MOVED CALLS FAILED
for scenario; do
	scenario "$scenario"
done
echo "$# scenarios: $all_calls calls, $all_moved blocks moved, $all_faults faults," \
	"$SECONDS seconds"
[ "$all_faults" -eq 0 ]
