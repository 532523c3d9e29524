#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel.sh [--every N] [--many N [--seed S]] [NAME...]: what the kernel says of
# repaired volumes.
#
# A sample of the cases of each image of the corpus is repaired.  The kernel
# mounts what is left, and its snapshots, and reads all files.  Where the table
# says "restored" or "false", the trees are those that it found when the image was made.
#
# With --many these are volumes that had several damages at once, of N seeds from S
# (6000) on, with --every of every Nth seed.  The kernel reads and writes them, mounts
# snapshots, makes one, nilfs_cleanerd cleans them, and a check finds nothing then but
# warnings that the repair has left.
#
# Nowhere has the kernel's log a complaint.
# NILFS2_BUILD and NILFS2_SOURCE say where programs and tests are.

set -eu

lab=$NILFS2_SOURCE/tests/kernel
every='' many='' seed=6000
. "$lab/lab.bash"
. "$NILFS2_SOURCE/tests/fsck/repairs_kernel.bash"

# guest_script WHAT: what the guest does with each volume, see use.pl.
guest_script() {
	echo 'guest_module loop'
	echo "exec perl '$NILFS2_SOURCE/tests/fsck/use.pl' $1 \"\$SHARE\"/*.img"
}

# outcome CASE: what was found in that volume.
outcome() {
	sed -n "s/^$1 //p" "$work/said"
}

# cases: "CASE VERDICT" of each.
cases() {
	awk '$1 == "CASE" { for (i = 4; i <= NF; i++)
		if ($i ~ /^sums=/) print $3, $(i + 1) }' "$work/cases"
}

# seen ID VERDICT: what the kernel found otherwise in a volume that it read.
seen() {
	local found

	found=$(outcome "$1")
	case $2,$found in
	*,refused* | *,gone* | *,)
		echo "$2: the kernel cannot read it" ;;
	restored,"$sound" | unproved,"$sound" | false,"$sound") ;;
	restored,* | unproved,* | false,*)
		echo "$2: the kernel finds another tree" ;;
	esac
}

# used ID VERDICT: what failed in a volume that the kernel used.
used() {
	sed -n "s/^volume $1\.img: /$2: /p" "$work/said"
	check "$1" >"$work/after" || echo "$2: is wrong after the kernel wrote"
	grep -vxFf "$work/$1.left" "$work/after"
}

# check ID: what is wrong with that volume.
check() {
	"$NILFS2_BUILD/fsck/fsck.nilfs2" -fnq "$work/$1.img" 2>&1
}

# judge NAME HOW: prints what the kernel finds otherwise, and how many there are.
judge() {
	local id verdict bad=0 all=0 lines

	while read -r id verdict; do
		[ -e "$work/$id.img" ] || continue
		all=$((all + 1))
		lines=$("$2" "$id" "$verdict"
			sed -n "s/^$id\.img: //p" "$work/blames") || :
		[ -n "$lines" ] || continue
		bad=$((bad + 1))
		sed "s/^/$1 $id /" <<<"$lines"
	done < <(cases)
	printf '%-20s %5d volumes, of %d the kernel has complaints\n' \
		"$1" "$all" "$bad"
	[ "$bad" -eq 0 ]
}

try() {
	local sample=(--every "${every:-50}") what=sum how=seen sound id verdict

	[ -z "$many" ] || {
		sample=(--many "$many" --seed "$seed" --every "${every:-1}")
		what=clean how=used
	}
	rm -rf "${work:?}"/*
	"$NILFS2_BUILD/tests/damage/damage" --list-all --totals \
		--fail crash "${sample[@]}" --keep "$work" \
		"$corpus/$1/image" >"$work/cases"
	if [ -n "$many" ]; then
		while read -r id verdict; do
			[ ! -e "$work/$id.img" ] || check "$id" >"$work/$id.left"
		done < <(cases)
	else
		cp --sparse=always "$corpus/$1/image" "$work/sound.img"
	fi
	guest_script "$what" | "$lab/guest.sh" --timeout 3000 --share "$work" \
		--dmesg "$work/dmesg" - >"$work/said"
	dmesg=$(cat "$work/dmesg")
	kernel_blames >"$work/blames"
	sound=$(outcome sound)
	judge "$1" "$how"
}

while [[ ${1-} == --* ]]; do
	case $1 in
	--every) every=$2 ;;
	--many) many=$2 ;;
	--seed) seed=$2 ;;
	*) echo "kernel.sh: what is $1" >&2; exit 2 ;;
	esac
	shift 2
done
[ $# -gt 0 ] || set -- snapshots small-files cleaned-1k cleaned special \
	many-snapshots-2k nearly-full crash-dsync
corpus=$("$lab/corpus.sh" --cached)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for name; do
	try "$name" || status=1
done
exit "$status"
