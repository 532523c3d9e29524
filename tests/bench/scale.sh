# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# How time and memory grow with what a volume holds: a 16th of it, a quarter, and all.
#
#	BENCH_CASES	some of checkpoints snapshots names links extents segments
#	BENCH_SHARE	all is so many times less (1)

# How many at most.
declare -A scale_most=([checkpoints]=10000 [snapshots]=1000 [names]=1000000
	[links]=64000 [extents]=10000000 [segments]=131072)

# make_versions COUNT: trees of one file, with other content in each.
make_versions() {
	perl -e '
		my ($top, $count) = @ARGV;
		for my $layer (1 .. $count) {
			my $dir = sprintf "%s/%d", $top, $layer;
			for my $part ("", "/000", "/000/01") {
				mkdir "$dir$part" or die "$dir$part: $!\n";
			}
			open my $fh, ">", "$dir/000/01/file-00007"
				or die "$dir: $!\n";
			print $fh "$layer\n";
		}' "$scratch/layers" "$1"
}

# scale_image KIND NUMBER IMAGE
scale_image() {
	case $1 in
	checkpoints) fill_layers "$2" "$3" ;;
	snapshots) fill_layers "$2" "$3" --snapshot ;;
	*)
		truncate -s 16T "$3"
		"$mkfs" -q "$3"
		"$build/tests/bench/vast" "$3" "$1" "$2"
		;;
	esac
}

# scale_commands KIND: what is measured, one LABEL=COMMAND a line, of IMAGE.
scale_commands() {
	local g="$build/gc/gc.nilfs2 -q --protect 0 --dry-run"

	echo "check=$build/fsck/fsck.nilfs2 -fnq IMAGE"
	echo "gc=$g IMAGE"
	echo "gc --compact=$g --compact IMAGE"
	echo "find=$dump find IMAGE no-such-name"
	case $1 in
	checkpoints | snapshots)
		echo "checkpoints=$dump checkpoints IMAGE"
		echo "find --all=$dump find --all IMAGE file-00007"
		echo "history=$dump history IMAGE /000/01/file-00007"
		;;
	names | links)
		echo "ls=$dump ls IMAGE"
		echo "du=$dump du IMAGE"
		echo "export=$dump export IMAGE - | cat"
		;;
	extents)
		echo "bmap=$dump bmap IMAGE /f0"
		echo "du=$dump du IMAGE"
		;;
	segments)
		echo "segments=$dump segments --totals IMAGE"
		echo "map=$dump map IMAGE"
		;;
	esac
}

scale_case() {
	local kind=$1 most times line commands=()

	most=$((scale_most[$kind] / ${BENCH_SHARE:-1}))
	for times in 1 4 16; do
		scale_image "$kind" $((most * times / 16)) "$scratch/scale.$times"
	done
	while read -r line; do
		for times in 1 4 16; do
			commands+=("${line%%=*}, ${times}x=$(
				echo "${line#*=}" |
				sed "s|IMAGE|$scratch/scale.$times|")")
		done
	done < <(scale_commands "$kind")
	title "growth by $kind, 16x: $most"
	interleave 3 -s 20 "${commands[@]}"
	rm -f "$scratch"/scale.*
}

bench_scale() {
	local kind cases="checkpoints snapshots names links extents segments"

	# shellcheck source=tests/bench/snapshots.sh
	. "$here/snapshots.sh"
	mkdir "$scratch/names" "$scratch/layers"
	make_names "$scratch/names" 1
	make_versions $((scale_most[checkpoints] / ${BENCH_SHARE:-1}))
	for kind in ${BENCH_CASES:-$cases}; do
		scale_case "$kind"
	done
	rm -rf "$scratch/names" "$scratch/layers"
}
