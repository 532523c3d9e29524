#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Deleting checkpoints before cleaning: those that are named go, nothing else
# does, and what only they held can be freed at once.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	need_corpus
}

# delete OPTION... : and nothing else.
delete() {
	gc.nilfs2 --free 0 "$@" "$image"
}

# value SECTION KEY: of the report in $output.
value() {
	gojq ".$1.$2" <<<"$output"
}

@test "lists of ranges, as rmcp spells them" {
	begin plain-checkpoints
	set -- $(checkpoints)
	[ $# -gt 12 ]
	last=${!#}
	run -0 delete -q --json --delete-checkpoints "$3,$5..$7" \
		--delete-checkpoints "..$1"
	[ "$(value deleted checkpoints)" -eq 5 ]
	[ "$(value deleted snapshots)" -eq 0 ]
	diff <(checkpoints) <(printf '%s\n' "$@" $((last + 1)) |
		grep -vxE "$1|$3|$5|$6|$7")
	is_clean
	same_trees
	delete --delete-checkpoints "$9.."
	diff <(checkpoints) \
		<(printf '%s\n' "$2" "$4" "$8" $((last + 1)) $((last + 2)))
}

# made TIME OPERATOR: the numbers of the checkpoints that lscp has, by when they were made.
made() {
	awk -v t="$1" 'NR > 1 && $2 "T" $3 "Z" '"$2"' t { print $1 }' \
		"$corpus/plain-checkpoints/lscp"
}

@test "ranges of times, as lscp has them" {
	begin plain-checkpoints
	last=$(checkpoints | tail -n 1)
	times=$(awk 'NR > 1 { print $2 "T" $3 "Z" }' \
		"$corpus/plain-checkpoints/lscp" | sort -u)
	first=$(sed -n 1p <<<"$times") second=$(sed -n 2p <<<"$times")
	run -1 delete --delete-checkpoints "..1999-12-31"
	[[ $output == *"there is no checkpoint of that time"* ]]
	run -1 delete --delete-checkpoints "2099-12-31.."
	run -0 delete --to-snapshot "$second"
	[ "$(dump.nilfs2 checkpoints --json --snapshots "$image" |
		gojq '.checkpoints[].checkpoint')" = "$(made "$second" '<=' | tail -n 1)" ]
	run -0 delete --to-checkpoint "$second..$second"
	TZ=XST-05:30 run -0 delete --delete-checkpoints \
		"..$(date -ud "$first + 330 minutes" "+%F %T")"
	diff <(checkpoints) <(made "$first" '>'
		seq $((last + 1)) $((last + 3)))
	delete --delete-checkpoints "$second.."
	diff <(checkpoints) <(seq $((last + 3)) $((last + 4)))
	run -2 delete --delete-checkpoints 2026-13-01..
	run -2 delete --delete-checkpoints 5-8
	[[ $output == *"invalid range '5-8': write FIRST..LAST"* ]]
}

@test "the latest checkpoint and snapshots stay" {
	for option in '' --keep-snapshots; do
		begin snapshots
		latest=$(checkpoints | tail -n 1)
		checkpoints -s >held
		run delete --delete-checkpoints .. $option
		[ "$status" -eq "$([ -n "$option" ]; echo $?)" ]
		[[ $output == *"checkpoint $latest is the latest, kept"* ]]
		[ -n "$option" ] || [ "$(grep -c 'is a snapshot' \
			<<<"$output")" -eq "$(wc -l <held)" ]
		[ -z "$option" ] || [[ $output != *"is a snapshot"* ]]
		diff <(checkpoints) <(cat held - <<<"$latest
$((latest + 1))")
		diff <(checkpoints -s) held
		is_clean
		same_trees
	done
}

@test "a range that comes to nothing is not done" {
	begin snapshots
	before=$(state_of "$image")
	for cno in "$(checkpoints | tail -n 1)" "$(checkpoints -s | head -n 1)"; do
		run -1 delete --delete-checkpoints "$cno"
		[[ $output == *"checkpoint $cno is "*", kept"* ]]
		[ "$(state_of "$image")" = "$before" ]
	done
}

@test "no job is done where one is refused" {
	local cno

	begin snapshots
	before=$(state_of "$image")
	cno=$(checkpoints -s | head -n 1)
	for options in "--delete-checkpoints 9999" \
		"--delete-checkpoints 1,9999 --purge" \
		"--delete-checkpoints $cno --compact" \
		"--to-snapshot 9999 --free 1" \
		"--to-checkpoint 9999 --label x" \
		"--label x --defrag /none" "--compact --grow=1M" \
		"--compact --shrink=100G" "--take-snapshot -U none" \
		"--label x --features none"; do
		echo "$options:"
		# shellcheck disable=SC2086
		run gc $options
		[ "$status" -eq 1 ] || [ "$status" -eq 2 ]
		[ "$(state_of "$image")" = "$before" ]
	done
	# What a job before it changes counts.
	gc --to-checkpoint "$cno" --delete-checkpoints "$cno" --free 0
	! checkpoints | grep -qx "$cno"
}

@test "what a snapshot holds can be freed once it is deleted" {
	begin snapshots
	cp "$image" other
	run -0 gc -q --json
	held=$(value result clean_after)
	mv other "$image"
	run -0 gc -q --json -f --delete-checkpoints ..
	[ "$(value deleted snapshots)" -eq "$(grep -vc '^0 ' trees.sound)" ]
	[ "$(value result clean_after)" -gt "$held" ]
	[ -z "$(checkpoints -s)" ]
	is_clean
	diff <(grep '^0 ' trees.sound) <(trees_of "$image")
}

@test "one snapshot of several goes, the list of the others holds" {
	for which in 1 2 4; do
		begin snapshots
		checkpoints -s >held
		gone=$(sed -n "${which}p" held)
		gc -f --delete-checkpoints "$gone"
		diff <(checkpoints -s) <(grep -vx "$gone" held)
		is_clean
		diff <(grep -v "^$gone " trees.sound) <(trees_of "$image")
	done
}

@test "the forecast is what happens, and changes nothing" {
	begin snapshots
	before=$(state_of "$image")
	gc --json -n -f --delete-checkpoints .. >forecast
	[ "$(state_of "$image")" = "$before" ]
	gc --json -f --delete-checkpoints .. >outcome
	diff <(timeless forecast) <(timeless outcome)
}

@test "nothing to delete writes nothing" {
	begin snapshots
	before=$(state_of "$image")
	run -1 delete -q --delete-checkpoints 4000..5000
	[[ $output == *"no checkpoint from 4000 to 5000"* ]]
	[ "$(state_of "$image")" = "$before" ]
}

@test "a leading zero makes no number octal" {
	begin plain-checkpoints
	checkpoints | grep -qx 10
	run -0 delete --delete-checkpoints 010
	run checkpoints
	! grep -qx 10 <<<"$output"
	grep -qx 8 <<<"$output"
}

@test "what is no range, and both ways with snapshots, are refused" {
	begin snapshots
	for range in 5..3 x 1,,2 '1,' 1-3; do
		run -2 delete --delete-checkpoints "$range"
	done
	run -2 delete --delete-checkpoints 1 -f --keep-snapshots
	is_clean
}

@test "the kernel lists, mounts and writes on what is left" {
	need_guest uml
	begin snapshots
	gone=$(checkpoints -s | head -n 1)
	left=$(checkpoints -s | tail -n 1)
	delete -f --delete-checkpoints "$gone"
	gc --keep-snapshots --delete-checkpoints 5..
	lists_ours
	guest --share share "$image" <<-SCRIPT
	$kernel_lists
	nilfs_mount -o ro,cp=$left "\$DEV1" /mnt/left
	manifest /mnt/left >"\$SHARE/manifest.left"
	nilfs_umount /mnt/left
	chcp cp "\$DEV1" $left
	noise 1 300000 >"\$MNT/more"; sync; rm "\$MNT/more"; sync
	clean "\$DEV1" "\$MNT" 0
	nilfs_umount
	SCRIPT
	kernel_agrees snapshots
	diff share/manifest.left "$corpus/snapshots/manifest.$left"
	is_clean
}
