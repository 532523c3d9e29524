#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cost.sh [VOLUME...]: what a repair costs, by what is lost, the size of segments
# and the size of the volume.  A table; a row has these cases:
#
#	the repair ends as it should, and a check finds nothing then
#	it reads at most 4 times the bytes in use
#	it takes at most 10 times the CPU time of a check of the sound volume, as
#		n log n explains: times log2 of the blocks in use, over 14; and
#		the CPU time in which dd reads as much as the repair read, since the
#		check reads no data (LIMIT, in checks)
#	its greatest resident set is at most 64 MiB, which is what a table may use,
#		more than that of the check
#	it checks all of the volume at most three times
#
# VOLUMEs are SEGMENT-MIB:VOLUME, of which VOLUME is a size in MiB, half of it in use by
# a large file and small ones, or "vast": 16 TiB with 4096 segments in use.
set -eu -o pipefail
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C
PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/fsck:$NILFS2_BUILD/dump:$PATH
. "$NILFS2_SOURCE/tests/kernel/guest-lib.sh"

skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

[ -r /proc/self/io ] || skip "the kernel does not count what is read"
! grep -q __asan_init <(nm "$NILFS2_BUILD/fsck/fsck.nilfs2") ||
	skip "not with sanitizers"

# measured COMMAND...: its output, and a last line of its status, the bytes that it
# read, microseconds of CPU time, and its greatest resident set in KiB, as getrusage()
# has it, system call 98.
measured()
{
	perl -e 'sub read_bytes {
			open my $io, "<", "/proc/self/io" or die $!;
			return (join("", <$io>) =~ /^rchar: (\d+)/)[0];
		}
		my $before = read_bytes();
		my $status = system(@ARGV) >> 8;
		my $read = read_bytes() - $before;
		my $usage = "\0" x 144;
		syscall(98, -1, $usage) == 0 or die $!;
		my @n = unpack "q5", $usage;
		print join(" ", $status, $read, 1e6 * ($n[0] + $n[2]) + $n[1] +
			$n[3], $n[4]), "\n"' "$@"
}

# make_volume SEGMENT-MIB VOLUME: "image"
make_volume()
{
	rm -rf image tree later
	if [ "$2" = vast ]; then
		truncate -s $(((1 << 44) - 4096)) image
		mkfs.nilfs2 -q -B $(($1 * 256)) image
		"$NILFS2_BUILD/tests/bench/vast" image segments 4096
		return
	fi
	mkdir tree later
	filler 1 $((($2 / 2 - 6) << 20)) >tree/large
	seq 1500 | (cd tree && split -l 1 -a 3 -)
	echo later >later/other
	mkfs.nilfs2 -q -B $(($1 * 256)) --size "$2M" --snapshot -d tree -d later image
	rm -r tree later
}

# lose WHAT SEGMENT-MIB: of "copy"
lose()
{
	case $1 in
	summary) filler 9 4096 |
		dd of=copy bs=4K seek=$(($2 * 256 * 3)) conv=notrunc status=none ;;
	*) filler 9 $((${1%M} << 20)) | dd of=copy bs=1M conv=notrunc status=none \
		iflag=fullblock ;;
	esac
}

# times A B
times()
{
	awk "BEGIN { printf \"%.1f\", $1 / $2 }"
}

# row WHAT SEGMENT-MIB VOLUME: by what was measured of the check, in $use (bytes),
# $check_cpu, $check_peak
row()
{
	local cases=5 failed=0 status read cpu peak checks most reading

	cp --sparse=always image copy
	lose "$1" "$2"
	read -r status read cpu peak < <(measured fsck.nilfs2 -yv --max-memory 64M \
		copy 2>&1 | tee said | tail -n 1)
	checks=$(grep -c ': segments: checking segments$' said)
	read -r _ _ reading _ < <(measured dd if=copy of=/dev/null bs=256K \
		count=$((read >> 18)) status=none)
	most=$(awk "BEGIN { n = log($use / 4096) / log(2) / 14
		printf \"%d\", 10 * $check_cpu * (n > 1 ? n : 1) + $reading }")
	[ "$status" -eq 1 ] && fsck.nilfs2 -fnq copy >left 2>&1 ||
		{ failed=$((failed + 1)); tail -n 3 said left >>why; }
	[ "$read" -le $((use * 4)) ] || failed=$((failed + 1))
	[ "$cpu" -le "$most" ] || failed=$((failed + 1))
	[ "$peak" -le $((check_peak + 65536)) ] || failed=$((failed + 1))
	[ "$checks" -le 3 ] || failed=$((failed + 1))
	printf '%-8s %7d %6s %8d %9s %9s %6s %9d %9d %6d %5d %6d\n' "$1" "$2" "$3" \
		$((use >> 20)) "$(times "$read" "$use")" "$(times "$cpu" "$check_cpu")" \
		"$(times "$most" "$check_cpu")" $((peak >> 10)) $((check_peak >> 10)) "$checks" "$cases" "$failed"
	all_failed=$((all_failed + failed))
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
[ $# -gt 0 ] || set -- 1:256 8:256 8:vast
all_failed=0
printf '%-8s %7s %6s %8s %9s %9s %6s %9s %9s %6s %5s %6s\n' LOST SEGMENT VOLUME \
	IN-USE READ/USE CPU/CHECK LIMIT PEAK PEAK-CHK CHECKS CASES FAILED
for volume; do
	make_volume "${volume%:*}" "${volume#*:}"
	use=$(dump.nilfs2 segments image |
		awk '$1 ~ /^[0-9]+$/ { n += $7 } END { printf "%d", n * 4096 }')
	# The least of three.
	read -r _ _ check_cpu check_peak < <(for _ in 1 2 3; do
		measured fsck.nilfs2 -fnq --max-memory 64M image
	done | sort -n -k 3 | head -n 1)
	for what in summary 1M 8M 64M; do
		row "$what" "${volume%:*}" "${volume#*:}"
	done
done
[ ! -s why ] || cat why
[ "$all_failed" -eq 0 ]
