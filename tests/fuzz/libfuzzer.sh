#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libfuzzer.sh BUILD [SECONDS]: runs the libFuzzer targets of a build with
# --enable-fuzz, each for so many seconds (60), from a corpus that is made here
# and kept in BUILD/tests/fuzz/corpus.
set -eu
build=$(cd "$1" && pwd)
seconds=${2-60}
here=$(cd "$(dirname "$0")" && pwd)
cd "$build/tests/fuzz"
mkdir -p corpus/decoders corpus/fsck corpus/dump
NILFS2_FUZZ_IMAGE=$PWD/corpus/image
export NILFS2_FUZZ_IMAGE ASAN_OPTIONS=detect_leaks=0:log_path=$PWD/report

if [ ! -e corpus/image ]; then
	"$build/mkfs/mkfs.nilfs2" -q -b 1K -B 16 --size 512K -d "$here" \
		--exclude '*.c' -d "$here/../lint" --snapshot corpus/image
	# Of the decoders: each block of the image, for each of them.
	for n in 1 4 5 6 7 20 40 60 80 100 120; do
		for decoder in 0 1 2 3 4 5; do
			{
				printf "\\00$decoder"
				dd if=corpus/image bs=1K skip=$n count=1
			} >corpus/decoders/$n.$decoder 2>/dev/null
		done
	done
	# Of the tools: some changes, of even and odd length.
	for n in 1 2 3 4 5 6 7 8; do
		head -c $((n * 9)) corpus/image >corpus/fsck/$n
		dd if=corpus/image bs=$((n * 7)) skip=150 count=1 \
			of=corpus/dump/$n 2>/dev/null
	done
fi

result=0
for target in decoders fsck dump; do
	"./lf_$target" -max_total_time="$seconds" -timeout=50 -rss_limit_mb=0 \
		-max_len=4096 -print_final_stats=1 corpus/$target \
		>$target.said 2>&1 || {
		result=1
		cat report.* 2>/dev/null || true
	}
	tail -n 60 $target.said | grep -E '^stat::number|ERROR|SUMMARY|Test unit' |
		sed "s/^/$target: /"
done
exit $result
