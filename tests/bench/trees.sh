#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trees.sh real|small|big: prints the path of a tree to fill volumes with, made
# once and kept in the test cache, on the disk.
#
#   real	a copy of the directories in BENCH_TREE, or of toolchains that are
#		installed here, about 2.9 GB
#   small	a million files in 1,010 directories, their sizes log-uniform from
#		200 to 8192 bytes
#   big		one file of 8 GiB
#
# BENCH_SMALL=N makes N thousand small files instead, BENCH_BIG=N the one file
# N MiB.

set -eu

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${NILFS2_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nilfs2-progs}
kind=$1
enough=2900000000

# Toolchains have all sorts of files: headers, objects, archives, documents.
candidates() {
	local dir

	for dir in "$HOME"/.rustup/toolchains/stable-* /usr/lib/go-* \
		/usr/share/go-* /usr/lib/jvm /usr/lib/llvm-* \
		"$HOME"/.pyenv/versions/3.1[23]* /usr/lib/python3* \
		/usr/lib/rustlib /usr/include /usr/src /usr/share; do
		[ ! -d "$dir" ] || echo "$dir"
	done
}

bytes() {
	du -sb "$1" | cut -f 1
}

make_real() {
	local dir total=0

	for dir in ${BENCH_TREE:-$(candidates)}; do
		[ -n "${BENCH_TREE:-}" ] || [ "$total" -lt "$enough" ] || break
		mkdir -p "$1/$(dirname "$dir")"
		cp -a "$dir" "$1/$(dirname "$dir")"
		total=$((total + $(bytes "$dir")))
	done
}

make_small() {
	perl -e '
		my ($top, $thousands) = @ARGV;
		srand 1;
		my $noise = pack "L*", map { int rand 2**32 } 1 .. 16384;
		for my $d (0 .. $thousands - 1) {
			my $dir = sprintf "%s/%02d", $top, $d / 100;
			mkdir $dir unless $d % 100;
			$dir .= sprintf "/%02d", $d % 100;
			mkdir $dir or die "$dir: $!\n";
			for my $f (0 .. 999) {
				my $size = int 200 * exp(rand(log(8193 / 200)));
				open my $fh, ">:raw", sprintf "%s/%03d", $dir, $f
					or die "$dir: $!\n";
				syswrite $fh, $noise, $size, int rand 57000;
			}
		}' "$1" "${BENCH_SMALL:-1000}"
}

make_big() {
	perl -e '
		srand 1;
		my $noise = pack "L*", map { int rand 2**32 } 1 .. 524288;
		syswrite STDOUT, $noise, 1 << 20, int rand 1 << 20
			for 1 .. shift;' "${BENCH_BIG:-8192}" >"$1/big"
}

key=$(cat "$here/trees.sh" - <<<"${BENCH_TREE:-}${BENCH_SMALL:-}${BENCH_BIG:-}" |
	sha256sum | cut -c1-8)
tree=$cache/bench-tree-$kind-$key
mkdir -p "$cache"
exec 9>"$cache/bench-tree.lock"
flock 9
if [ ! -d "$tree" ]; then
	trap 'rm -rf "$tree.new"' EXIT
	rm -rf "$tree.new"
	mkdir "$tree.new"
	echo "making the $kind tree" >&2
	"make_$kind" "$tree.new"
	mv "$tree.new" "$tree"
fi
echo "$tree"
