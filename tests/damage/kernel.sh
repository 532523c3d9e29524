#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel.sh [--every N] [NAME...]: what the kernel says of repaired volumes.
#
# A sample of the cases of each image of the corpus is repaired.  The kernel
# mounts what is left, and its snapshots, and reads all files.  Where the table
# says "restored" or "false", the trees are those that it found when the image was made.
# NILFS2_BUILD and NILFS2_SOURCE say where programs and tests are.

set -eu

lab=$NILFS2_SOURCE/tests/kernel
every=50

# What the guest does: for each volume a line of its name and a sum for the tree
# of the latest state and of each snapshot.
guest_script() {
	echo 'guest_module loop'
	echo "exec perl '$NILFS2_SOURCE/tests/fsck/use.pl' sum \"\$SHARE\"/*.img"
}

# outcome CASE: what was found in that volume.
outcome() {
	sed -n "s/^$1 //p" "$work/said"
}

# judge NAME: prints a line for each case that the kernel finds otherwise.
judge() {
	local name=$1 id verdict found bad=0 all=0 sound

	sound=$(outcome sound)
	while read -r id verdict; do
		[ -e "$work/$id.img" ] || continue
		all=$((all + 1))
		found=$(outcome "$id")
		case $verdict,$found in
		*,refused* | *,gone* | *,)
			echo "$name $id $verdict: the kernel cannot read it" ;;
		restored,"$sound" | unproved,"$sound" | false,"$sound") continue ;;
		restored,* | unproved,* | false,*)
			echo "$name $id $verdict: the kernel finds another tree" ;;
		*) continue ;;
		esac
		bad=$((bad + 1))
	done < <(awk '$1 == "CASE" { for (i = 4; i <= NF; i++)
			if ($i ~ /^sums=/) print $3, $(i + 1) }' "$work/cases")
	printf '%-20s %5d volumes, of %d the kernel has complaints\n' \
		"$name" "$all" "$bad"
	[ "$bad" -eq 0 ]
}

try() {
	rm -rf "${work:?}"/*
	"$NILFS2_BUILD/tests/damage/damage" --list-all --totals \
		--fail crash --every "$every" --keep "$work" \
		"$corpus/$1/image" >"$work/cases"
	cp --sparse=always "$corpus/$1/image" "$work/sound.img"
	guest_script | "$lab/guest.sh" --timeout 3000 --share "$work" - >"$work/said"
	judge "$1"
}

if [ "${1-}" = --every ]; then
	every=$2
	shift 2
fi
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
