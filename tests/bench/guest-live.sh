# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-live.sh BUILD SEGMENTS: runs in a guest.  Each line of $SHARE/plan is a run:
# COLLECTOR FILL LOAD SEED WRITES; what livewrite prints follows it in $SHARE/results.
# COLLECTOR is "daemon", or the name of a policy of gc.nilfs2.  The load "freed" is a
# tree, of which every second file is deleted: printed is how long it takes until a
# tenth of the segments is clean.

build=$1 segments=$2
count=/mnt/tmp/count
export RUNTIME_DIRECTORY=/mnt/tmp/run
mkdir -p "$RUNTIME_DIRECTORY"

# The kernel keeps 5 % for itself, and the daemon adds that to its limits.
start_daemon() {
	cat >cleanerd.conf <<-END
	protection_period	0
	min_clean_segments	$daemon_low
	max_clean_segments	$daemon_high
	clean_check_interval	0.01
	selection_policy	timestamp
	nsegments_per_clean	$daemon_step
	mc_nsegments_per_clean	$daemon_step
	cleaning_interval	0.01
	mc_cleaning_interval	0.01
	retry_interval		0.1
	min_reclaimable_blocks	10%
	mc_min_reclaimable_blocks	1%
	use_set_suinfo
	use_mmap
	log_priority		info
	END
	LD_PRELOAD=$SHARE/livecount.so nilfs_cleanerd -c "$PWD/cleanerd.conf" \
		"$DEV1" "$MNT" >/dev/null
	collector_pid=$(pgrep -x nilfs_cleanerd)
}

# start COLLECTOR
start() {
	if [ "$1" = daemon ]; then
		start_daemon
		return
	fi
	# shellcheck disable=SC2086
	LD_PRELOAD=$SHARE/livecount.so "$build/gc/gc.nilfs2" --watch -q --protect 0 \
		--policy "$1" $watch_options "$MNT" 2>>"$SHARE/errors" &
	collector_pid=$!
}

stop() {
	local i

	kill "$collector_pid"
	for ((i = 0; i < 100; i++)); do
		kill -0 "$collector_pid" 2>/dev/null || return 0
		[ "$i" -ne 50 ] || kill -9 "$collector_pid"
		sleep 0.1
	done
}

# The kernel hangs: the next guest goes on.
give_up() {
	echo "$line $1" >>"$SHARE/results"
	echo o >/proc/sysrq-trigger
	sleep 60
}

# limited COMMAND...: one that never ends costs this guest.
limited() {
	local i pid

	"$@" &
	pid=$!
	for ((i = 0; i < 5000; i++)); do
		kill -0 "$pid" 2>/dev/null || { wait "$pid"; return; }
		sleep 0.1
	done
	give_up stuck
}

freed() {
	local began now

	find "$MNT" -type f | LC_ALL=C sort | awk 'NR % 2' | tr '\n' '\0' |
		xargs -0 rm
	sync
	# Besides the reserve, so that the daemon goes on until then.
	daemon_low=$((segments / 10)) daemon_high=$((segments / 10 + 2))
	began=$EPOCHREALTIME
	start "$1"
	while [ "$(cat "$clean")" -lt $(((segments + 9) / 10)) ]; do
		[ $((EPOCHSECONDS - ${began%.*})) -lt 120 ] || { echo stuck; return; }
		sleep 0.05
	done
	now=$EPOCHREALTIME
	awk -v a="$began" -v b="$now" 'BEGIN { printf "%.2f s\n", b - a }'
}

run() {
	local blocks=$((segments * 256 * $2 / 100)) write=$build/tests/bench/livewrite

	cd "$MNT" || return
	"$write" fill "${3/freed/tree}" "$blocks" || return
	cd /mnt/tmp || return
	head -c 32 /dev/zero >"$count"
	if [ "$3" = freed ]; then
		freed "$1"
		return
	fi
	start "$1"
	cd "$MNT" || return
	"$write" run "$3" "$blocks" "$warm_up" "$5" "$4" "${DEV1#/dev/}" \
		"$collector_pid" "$count"
	cd /mnt/tmp || return
}

export LIVECOUNT=$count
clean=/sys/fs/nilfs2/${DEV1#/dev/}/segments/clean_segments
. "$SHARE/settings"
while read -r -u 9 line; do
	"$build/mkfs/mkfs.nilfs2" -q -f -B 256 "$DEV1"
	nilfs_mount "$DEV1"
	collector_pid=
	# shellcheck disable=SC2086
	run_here() { run $line >out; echo "$collector_pid" >collector; }
	limited run_here
	read -r collector_pid <collector
	stop
	nilfs_umount || give_up "$(tail -n 1 out)"
	"$build/fsck/fsck.nilfs2" -nf "$DEV1" >check 2>&1 || sed 's/^/fsck: /' check
	echo "$line $(tail -n 1 out)" >>"$SHARE/results"
done 9<"$SHARE/plan"
