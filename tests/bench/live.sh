# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Collectors of mounted volumes: what nilfs_cleanerd and gc.nilfs2 --watch move while a
# program writes, and how long that program waits, in a guest; and what the simulator
# predicts.  A volume of 256 MiB has segments of 1 MiB.
#
#	BENCH_LIVE_COLLECTORS	some of daemon timestamp greedy cost-benefit
#	BENCH_LIVE_FILLS	percent of the blocks that have data
#	BENCH_LIVE_LOADS	some of uniform hot zipf tree database freed
#	BENCH_LIVE_SEEDS	numbers, for means with intervals
#	BENCH_LIVE_WARM_UP	blocks that are written before those that count
#	BENCH_LIVE_WRITES	blocks that count
#	BENCH_LIVE_WATCH	more options of gc.nilfs2 --watch
#	BENCH_LIVE_DAEMON	min_clean_segments, max_clean_segments, nsegments_per_clean

live_mib=256 live_segments=255

# live_predict POLICY FILL LOAD SEED: user blocks, and all blocks and write amplification
# for one of them, or "stuck", of a run as in the guest: with the limits that --watch has there, calls
# of 8 segments, and a checkpoint for each 1024 blocks.
live_predict() {
	local load free=$((live_segments - live_segments * $2 * 33 / 3200 - 1))
	local reserve=$(((live_segments * 5 + 99) / 100)) low high

	free=$((free - reserve - 1))
	[ "$free" -ge 0 ] || free=0
	low=$((free / 4 < live_segments / 20 ? free / 4 : live_segments / 20))
	low=$((reserve + 2 + low))
	high=$((free / 8 < live_segments / 10 ? free / 8 : live_segments / 10))
	high=$((low + 1 + high))
	case $3 in
	uniform) load=uniform ;;
	hot) load=hot-cold ;;
	zipf) load=zipf ;;
	*) return ;;
	esac
	"$build/gc/sim/gcsim.nilfs2" -q --json -n "$live_segments" --segment-size 1M \
		-f "$2" -w "$load" --skew 0.99 --nodes 255 --dat 128 --summaries 128 \
		--flush-every 1024 --low "$low" --high "$high" --step 8 -p "$1" \
		--seed "$4" --warm-up "$live_warm_up" --writes "$live_writes" 2>/dev/null |
	jq -r '[.kinds[]] as $k | ($k[] | select(.kind == "data") |
			.blocks_written) as $user |
		($k | map(select(.kind != "summary") | .blocks_moved) | add) as $moved |
		($k | map(.blocks_written + .blocks_moved) | add) as $all |
		"\($user) \($all / $user) \(1 + $moved / $user)"' | grep . || echo stuck
}

# live_plan: the runs.  What is to be freed is nearly full before.
live_plan() {
	local collector fill fills load seed

	for seed in $live_seeds; do
		for load in $live_loads; do
			fills=$live_fills
			[ "$load" != freed ] || fills=85
			for fill in $fills; do
				for collector in $live_collectors; do
					echo "$collector $fill $load $seed $live_writes"
				done
			done
		done
	done
}

# A guest whose kernel hangs is ended by itself; the next one goes on after this run.
live_guests() {
	local before=-1 now=0 share=$scratch/live

	while [ "$before" -lt "$now" ] && [ -s "$share/plan" ]; do
		nice -n 5 "$guest" --timeout 7200 --share "$share" "$here/guest-live.sh" \
			"$scratch/live.img" -- "$build" "$live_segments" || :
		before=$now
		now=$(wc -l <"$share/results")
		live_plan | tail -n +$((now + 1)) >"$share/plan"
	done
}

bench_live() {
	local collector fill load seed share=$scratch/live
	local live_collectors=${BENCH_LIVE_COLLECTORS:-daemon cost-benefit}
	local live_fills=${BENCH_LIVE_FILLS:-75 85}
	local live_loads=${BENCH_LIVE_LOADS:-uniform hot zipf}
	local live_seeds=${BENCH_LIVE_SEEDS:-1 2 3}
	local live_warm_up=${BENCH_LIVE_WARM_UP:-$((live_segments * 256 * 2))}
	local live_writes=${BENCH_LIVE_WRITES:-40000}
	local daemon

	have jq nilfs_cleanerd cc || return 0
	mkdir "$share"
	read -r -a daemon <<<"${BENCH_LIVE_DAEMON:-8 10 16}"
	printf 'daemon_low=%s daemon_high=%s daemon_step=%s\n' "${daemon[@]}" \
		>"$share/settings"
	printf 'watch_options=%q warm_up=%q\n' "${BENCH_LIVE_WATCH-}" "$live_warm_up" \
		>>"$share/settings"
	cc -O -shared -fPIC -o "$share/livecount.so" "$here/livecount.c"
	truncate -s "${live_mib}M" "$scratch/live.img"
	: >"$share/results"
	live_plan >"$share/plan"
	live_guests
	for seed in $live_seeds; do
		for load in $live_loads; do
			for fill in $live_fills; do
				for collector in $live_collectors; do
					[ "$collector" != daemon ] || continue
					echo "predicted:$collector $fill $load $seed $live_writes $(
						live_predict "$collector" "$fill" "$load" "$seed")"
				done
			done
		done
	done >>"$share/results"
	title "collectors of a mounted volume"
	awk -v results="$scratch/results" -f "$here/live.awk" "$share/results"
	rm "$scratch/live.img"
	[ ! -s "$share/errors" ] || sort "$share/errors" | uniq -c | sed 's/^/(/; s/$/)/'
}
