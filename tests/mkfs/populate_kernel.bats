#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The stock driver mounts populated volumes, shows the source, changes it, moves
# it about with its cleaner, and still shows what it should.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate


# Which volumes there are of each block size: filled at once, the same with
# counters of live blocks, and in two layers, of which the second is added later.
volumes_of() {
	case $1 in
	1024) echo plain layered ;;
	2048) echo layered ;;
	4096) echo counted layered ;;
	esac
}

fill() {
	local flags=(-q -b "$1" -B "$2" --size 128M)

	case $3 in
	plain) mkfs "${flags[@]}" -d rich plain ;;
	counted) mkfs "${flags[@]}" -O sufile_live_blks_ext -d rich counted ;;
	layered)
		mkfs "${flags[@]}" -O sufile_live_blks_ext,track_live_blks \
			--snapshot=each -d rich layered &&
			mkfs -q --add --snapshot=each -d layer layered ;;
	esac
}

# make_volumes BLOCK_SIZE BLOCKS_PER_SEGMENT DIR: trees, volumes, and what they
# must show before and after a change.
make_volumes() {
	local name

	mkdir "$3" "$3/share"
	cd "$3" || return
	make_tree rich rich "$1" "$2"
	make_tree layer layer "$1" "$2"
	merge_layers rich layer merged
	for name in $(volumes_of "$1"); do
		fill "$1" "$2" "$name"
	done
	source_manifest rich >want.1
	source_manifest merged >want.2
	on_host churn "$PWD/rich" "$1"
	on_host churn "$PWD/merged" "$1"
	source_manifest rich -t >want.rich
	source_manifest merged -t >want.merged
}

# lives BLOCK_SIZE: the guest's script.
lives() {
	local i=0 name cnos

	guest_functions
	for name in $(volumes_of "$1"); do
		cnos=''
		[ "$name" != layered ] || cnos='1 2'
		i=$((i + 1))
		echo "live_on $name \"\$DEV$i\" $1 $cnos"
	done
}

# The guests often wait for their cleaners: they run side by side.
live() {
	local images

	read -ra images < <(volumes_of "$1")
	lives "$1" >"$2/script"
	guest --timeout 500 --share "$2/share" "${images[@]/#/$2/}" \
		<"$2/script"
	echo "$status" >"$2/status"
	echo "$output$errors" >"$2/said"
	echo "$dmesg" >"$2/dmesg"
}

setup_file() {
	need_guest uml
	export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	local size
	export sizes=$(sample 1 1024 2048 4096 | paste -sd ' ')
	for size in $sizes; do
		(make_volumes $size $((262144 / size)) "$BATS_FILE_TMPDIR/$size")
		live $size "$BATS_FILE_TMPDIR/$size" &
	done
	wait
}

# shown BLOCK_SIZE VIEW WANTED [COLUMNS]: what the kernel showed is what was
# wanted, without these columns; nothing of a size that was not sampled.
shown() {
	[[ " $sizes " == *" $1 "* ]] || return 0
	echo "blocks of $1, $2"
	diff <(volume_manifest "${4-}" <"$BATS_FILE_TMPDIR/$1/share/$2") \
		"$BATS_FILE_TMPDIR/$1/$3" >"$BATS_TEST_TMPDIR/differences" &&
		return
	head -20 "$BATS_TEST_TMPDIR/differences" | cut -c1-300
	return 1
}

# After changes, which were not made at the same time on the host.
shown_timeless() {
	shown "$@" ,mtime,ctime
}

each_size() {
	local size

	for size in $sizes; do
		"$1" $size "${@:2}" || return
	done
}

ran() {
	cat "$BATS_FILE_TMPDIR/$1/said"
	[ "$(cat "$BATS_FILE_TMPDIR/$1/status")" -eq 0 ] || return
	clean_log "$BATS_FILE_TMPDIR/$1/dmesg"
}

@test "the kernel has nothing to complain of" {
	each_size ran
}

@test "a fresh volume shows its source" {
	shown 1024 plain.fresh want.1
	shown 4096 counted.fresh want.1
}

@test "layers show what they add up to, snapshots what each was" {
	each_size shown layered.fresh want.2
	each_size shown layered.1.fresh want.1
	each_size shown layered.2.fresh want.2
}

@test "changed and cleaned, volumes show what they should" {
	shown_timeless 1024 plain.again want.rich
	shown_timeless 4096 counted.again want.rich
	each_size shown_timeless layered.again want.merged
}

@test "snapshots stay as they were" {
	each_size shown layered.1.again want.1
	each_size shown layered.2.again want.2
}
