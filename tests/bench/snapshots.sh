# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole checks of clean volumes with many snapshots of the same tree, each with
# one file more than the one before, beside a check of a single one.
#
#	BENCH_NAMES	thousands of files of the tree (120)
#	BENCH_COUNTS	how many snapshots (1 16 128 1000)
#	BENCH_PLAIN	how many checkpoints that are none (2000; 0: no such row)

# make_names DIR THOUSANDS: empty files, 60 to a directory.
make_names() {
	perl -e '
		my ($top, $thousands) = @ARGV;
		my $dirs = int $thousands * 1000 / 60;
		for my $d (0 .. $dirs - 1) {
			my $dir = sprintf "%s/%03d", $top, $d / 100;
			mkdir $dir unless $d % 100;
			$dir .= sprintf "/%02d", $d % 100;
			mkdir $dir or die "$dir: $!\n";
			for my $f (0 .. 59) {
				open my $fh, ">", sprintf "%s/file-%05d", $dir, $f
					or die "$dir: $!\n";
			}
		}' "$1" "$2"
}

# make_layers DIR COUNT: trees of one file each, in one directory or another.
make_layers() {
	perl -e '
		my ($top, $count) = @ARGV;
		for my $layer (1 .. $count) {
			my $dir = sprintf "%s/%d", $top, $layer;
			for my $part ("", "/000", sprintf "/000/%02d", $layer % 10) {
				mkdir "$dir$part" or die "$dir$part: $!\n";
			}
			open my $fh, ">", sprintf "%s/000/%02d/new-%d", $dir,
				$layer % 10, $layer or die "$dir: $!\n";
		}' "$1" "$2"
}

# fill_layers COUNT IMAGE [OPTION]: a volume with COUNT checkpoints.
fill_layers() {
	local layers=() i

	for ((i = 1; i < $1; i++)); do
		layers+=(-d "$scratch/layers/$i")
	done
	"$mkfs" -q -f --size 8G ${3:+"$3"} -d "$scratch/names" "${layers[@]}" "$2"
}

bench_snapshots() {
	local counts=${BENCH_COUNTS:-1 16 128 1000} plain=${BENCH_PLAIN:-2000}
	local fsck=$build/fsck/fsck.nilfs2 most=$plain commands=() n

	for n in $counts; do
		((n <= most)) || most=$n
	done
	mkdir "$scratch/names" "$scratch/layers"
	make_names "$scratch/names" "${BENCH_NAMES:-120}"
	make_layers "$scratch/layers" "$most"
	for n in $counts; do
		fill_layers "$n" "$scratch/snapshots.$n" --snapshot
		commands+=("$n=$fsck -fn $scratch/snapshots.$n")
	done
	if ((plain)); then
		fill_layers "$plain" "$scratch/plain"
		commands+=("$plain plain=$fsck -fn $scratch/plain")
	fi
	title "check of ${BENCH_NAMES:-120} thousand files, by checkpoints"
	interleave 5 -s 60 -r "${counts%% *}" "${commands[@]}"
	rm -rf "$scratch/names" "$scratch/layers" "$scratch"/snapshots.* \
		"$scratch/plain"
}
