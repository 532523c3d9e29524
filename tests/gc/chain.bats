#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# One job after another, and the kernel between them, in random orders: what
# one of them leaves is what the next one begins with.  NILFS2_TEST_SEEDS asks
# for others than these few.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

steps=10
choices=(
	"--free 30%"
	"--free 5 --policy greedy"
	"--free 5 --policy data-first --max-search 9"
	"--min-reclaimable 0"
	"--delete-checkpoints .. --keep-snapshots --free 3"
	"--compact"
	"--compact=all --order tree"
	"--compact --shrink --punch"
	"--shrink"
	"--grow=300M"
	"--defrag all"
	"--purge"
	"-O sufile_live_blks_ext"
	"-O ^sufile_live_blks_ext"
	"rebuild" "write" "write" "write"
)

setup() {
	need_corpus
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
}

# write: the kernel writes, overwrites, deletes, and perhaps takes a snapshot and
# cleans.
write() {
	guest "$image" <<-SCRIPT
	set -e
	nilfs_mount "\$DEV1"
	avail=\$(df -B1 --output=avail "\$MNT" | tail -n 1)
	if [ "\$avail" -gt 3000000 ]; then
		rm -rf "\$MNT/new$((RANDOM % 2))"
		at=\$MNT/new$((RANDOM % 2))
		mkdir -p "\$at"
		noise $RANDOM \$((avail / 9 % 4000000)) >"\$at/large"
		for i in 1 2 3 4 5 6 7 8; do
			noise \$i 9000 >"\$at/\$i"
		done
		sync
		noise 7 20000 | dd of="\$at/large" bs=4096 seek=3 \
			conv=notrunc status=none
		sync
		[ $((RANDOM % 3)) -ne 0 ] || snapshot "\$DEV1" >/dev/null
		[ $((RANDOM % 2)) -ne 0 ] ||
			clean "\$DEV1" "\$MNT" 0 || true
	fi
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content && remember
}

# run_job JOB: one without room for it changes nothing, unless a part was freed.
run_job() {
	local sum

	case $1 in
	write) write; return ;;
	rebuild)
		run fsck.nilfs2 --rebuild-counters "$image"
		[ "$status" -le 1 ]
		return
		;;
	esac
	sum=$(state_of "$image")
	# shellcheck disable=SC2086
	run gc.nilfs2 --protect $((RANDOM % 2 * 3600)) $1 "$image"
	[ "$status" -ne 0 ] || return 0
	echo "$output"
	[[ $output != *" segments requested, "* ]] || return 0
	[[ $output == *"fewer than the"* || $output == *"no room"* ]] &&
		[ "$(state_of "$image")" = "$sum" ]
}

@test "jobs follow one another in any order" {
	for seed in ${NILFS2_TEST_SEEDS-1 2 3}; do
		RANDOM=$seed
		images=(deep-1k cleaned snapshots sparse-2k nearly-full)
		begin "${images[RANDOM % ${#images[@]}]}"
		for ((step = 0; step < steps; step++)); do
			job=${choices[RANDOM % ${#choices[@]}]}
			echo "seed $seed, step $step: $job"
			run_job "$job"
			is_clean && same_trees
		done
	done
}
