#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Traces for the simulator: the same requests in each format, and what is no trace.

bats_require_minimum_version 1.5.0

load ../kernel/lab

# need_corpus sets it.
corpus=

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# requests: 20,000 of them, as TIME KIND BLOCK BLOCKS, with times in microseconds
# and blocks of 4096 bytes: first all blocks, then two writes to hot ones for each
# to any, and a read now and then.
requests() {
	awk 'function random(n) {
			seed = (seed * 16807) % 2147483647
			return seed % n
		}
		BEGIN {
			seed = 42
			for (i = 0; i < 20000; i++) {
				block = i
				if (i >= 4000)
					block = random(random(3) ? 400 : 4000)
				kind = i % 10 == 9 && i >= 4000 ? "R" : "W"
				print i * 1000, kind, 7 * block, 1
			}
		}'
}

# render FORMAT [VOLUME]: the requests on standard input as a trace.
render() {
	LC_ALL=C awk -v format="$1" -v volume="${2-0}" '
		function number(v, size,    i) {
			for (i = 0; i < size; i++) {
				printf "%c", v % 256
				v = int(v / 256)
			}
		}
		# struct blk_io_trace, little-endian; pdu_len is 2.
		function record(us, write, sector, bytes) {
			number(1700885511, 4)		# 0x65617407
			number(NR, 4)
			number(us * 1000, 8)
			number(sector, 8)
			number(bytes, 4)
			number(1, 2)			# queued
			number(write ? 18 : 17, 2)	# of TC_QUEUE
			number(1, 4)
			number(8 * 1048576 + volume, 4)
			number(0, 4)
			number(0, 2)
			number(2, 2)
			printf "xy"
		}
		BEGIN {
			if (format == "fio2")
				print "fio version 2 iolog\n/f add\n/f open"
			if (format == "fio3")
				print "fio version 3 iolog\n0 /f add\n0 /f open"
		}
		{
			word = $2 == "W" ? "write" : "read"
			offset = sprintf("%.0f", $3 * 4096)
			len = $4 * 4096
		}
		format == "msr" {
			printf "%.0f,web,%s,%s,%s,%d,312\n",
				128166372003061629 + $1 * 10, volume,
				$2 == "W" ? "Write" : "Read", offset, len
		}
		format == "alibaba" {
			printf "%s,%s,%s,%d,%.0f\n", volume, $2, offset, len,
				1577808000000626 + $1
		}
		format == "tencent" {
			printf "%d,%.0f,%d,%d,%s\n",
				1538323199 + $1 / 1000000, $3 * 8, $4 * 8,
				$2 == "W", volume
		}
		format == "blkparse" {
			printf "  8,%s    0 %8d %5d.%09d  4162  Q %3s %.0f + %d [dd]\n",
				volume, NR, $1 / 1000000, $1 % 1000000 * 1000,
				$2, $3 * 8, $4 * 8
		}
		format == "blktrace" {
			record($1, $2 == "W", $3 * 8, len)
		}
		format == "fio2" { print "/f", word, offset, len }
		format == "fio3" { print $1, "/f", word, offset, len }
		format == "csv" {
			printf "%.6f,%s,%s,%d\n", $1 / 1000000, word, offset, len
		}'
}

# A volume that is cleaned, so that it matters which block is which.
replay() {
	gcsim.nilfs2 --segment-size 256K -f 80 -p greedy --check 5000 --json "$@"
}

@test "the same requests in each format have the same results" {
	requests >requests
	render csv <requests >csv
	replay -t csv >want
	# 4000 blocks with 64 in a segment, 80 % full.
	[ "$(gojq '.runs[0].blocks_user' want)" -eq "$(grep -c W requests)" ]
	gojq -e '.runs[0].segments_cleaned > 100 and .trace.reads == 1600' want
	for format in msr alibaba tencent blkparse blktrace fio2 fio3; do
		render "$format" <requests >trace
		replay -t trace >got
		[ "$(gojq -c .runs got)" = "$(gojq -c .runs want)" ]
		[ "$(gojq -r .trace.format got)" = "${format%[23]}" ]
		gojq -e '.trace | .writes == 18400 and .reads == 1600 and
			.bad == 0 and .unordered == 0' got
		replay -t trace --trace-format "${format%[23]}" >named
		cmp got named
	done
}

@test "records of the other byte order" {
	requests | render blktrace >little
	# Each field of 48 bytes is turned; pdus are 2 bytes.
	LC_ALL=C od -An -v -tu1 -w50 little |
		LC_ALL=C awk 'function turn(from, size,    i) {
				for (i = size; i > 0; i--)
					printf "%c", $(from + i)
			}
			{ turn(0, 4); turn(4, 4); turn(8, 8); turn(16, 8)
			turn(24, 4); turn(28, 4); turn(32, 4); turn(36, 4)
			turn(40, 4); turn(44, 2); turn(46, 2); printf "xy" }' >big
	run ! cmp -s little big
	replay -t little >want
	replay -t big >got
	cmp want got
}

@test "a blktrace that ends within a record is read up to there" {
	requests | render blktrace >whole
	# Records of 48 bytes, and 2 that follow each.
	head -c 500000 whole >want
	replay -t want >said
	gojq -e '.trace.cut == false and .trace.lines == 10000' said
	gojq -c '.runs, .trace.writes' said >all
	for more in 1 20 47; do
		head -c $((500000 + more)) whole >cut
		replay -t cut >said 2>err
		gojq -e '.trace.cut' said
		gojq -c '.runs, .trace.writes' said | cmp all
		grep -q "cut: the last record is cut off" err
	done
	# The record is whole, what follows it is not.
	head -c $((500000 - 1)) whole >cut
	replay -t cut 2>err >said
	gojq -e .trace.cut said
	gojq -c '.runs, .trace.writes' said | cmp all
	# Bytes in between are none.
	{ head -c 1000 whole; printf '%060d' 0; } >cut
	run -1 replay -t cut
	[[ $output == *"record 21 is none of blktrace"* ]]
}

@test "by its times a line is one of Alibaba or of a CSV with volumes in digits" {
	# By time, by volume, and from 0 in few digits.
	requests >requests
	awk '{ printf "%d,%s,%.0f,4096,%d\n", int(NR / 5) % 3 + 1, $2,
		$3 * 4096, NR }' requests >timed
	sort -s -t , -k 1,1n timed >sorted
	for trace in timed sorted; do
		replay -t "$trace" --volume each >said
		gojq -e '.trace | .format == "alibaba" and .volumes == 3 and
			.columns == "device_id,opcode,offset,length,timestamp"' said
		# The same with times first.
		awk -F , '{ print $5 "," $2 "," $3 "," $4 "," $1 }' "$trace" >csv
		replay -t csv --volume each >other
		gojq -e '.trace | .format == "csv" and .volumes == 3' other
		[ "$(gojq -c .runs said)" = "$(gojq -c .runs other)" ]
		sed 's/$/\r/' csv >dos
		replay -t dos --volume each | cmp other
	done
	render csv <requests | sed 's/,write,/,W,/; s/$/,7/' >decimals
	replay -t decimals | gojq -e '.trace.format == "csv"'
	echo '0.5,W,0,262144,9' >one
	replay -t one | gojq -e '.trace.format == "csv"'
	echo '4,W,0,262144,9' >one
	replay -t one | gojq -e '.trace.format == "alibaba"'
}

@test "fields in quotes, between semicolons, and first letters of operations" {
	requests >requests
	for format in csv msr alibaba tencent; do
		render $format <requests >trace
		replay -t trace >want
		sed 's/,/;/g' trace >semicolons
		sed 's/[^,]*/"&"/g' trace >quotes
		sed 's/[^,]*/ "&" /g; s/,/;/g' trace >both
		sed 's/,Write,/,W,/; s/,Read,/,r,/; s/,write,/,w,/' trace >letters
		for trace in semicolons quotes both letters; do
			replay -t $trace | cmp want
		done
	done
	gojq -e '.trace.volumes == 1' want
	# Headings, and a volume of MSR with a comma of its own.
	{ echo '"Timestamp";"Hostname";"DiskNumber";"Type"'
		render msr <requests | sed 's/,web,/,"we,b",/; s/,/;/g; s/we;b/we,b/'
	} >trace
	replay -t trace --volume we,b_0 | gojq -e '.trace.format == "msr"'
	{ echo '"operation";"x";"time";"offset";"length"'
		render csv <requests | awk -F , '{ print $2 ";-;" $1 ";" $3 ";" $4 }'
	} >trace
	replay -t trace >said
	gojq -e '.trace.columns == "operation,time,offset,length" and
		.trace.first_time == 0 and .trace.last_time == 19.999' said
	# Text beside quotes is no field.
	printf '0,write,0,262144\n0,"write"x,0,262144\n' >beside
	run -1 replay -t beside
	[[ $output == *"1 of 2 lines are not of the format csv"* ]]
}

@test "offsets beyond any volume are not those of another block" {
	requests | render csv >trace
	for offset in 4611686018427387904 9223372036854775808 \
		18446744073709551615; do
		echo "1,write,$offset,4096" >line
		run -1 replay -t line
		[[ $output == *"line: 1 of 1 lines reach beyond 2^62 bytes, the first is line 1"* ]]
		cat trace line >both
		replay -t both >said
		gojq -e '.trace.bad == 1 and .runs[0].blocks_user == 18400' said
	done
	# Sectors and sums.
	echo '1538323200,36028797018963968,8,1,3' >line
	run -1 replay -t line --trace-format tencent
	[[ $output == *"reach beyond"* ]]
	echo '1,write,4096,4611686018427387904' >line
	run -1 replay -t line
	[[ $output == *"reach beyond"* ]]
	echo '1,write,18446744073709551616,4096' >line
	run -1 replay -t line
	[[ $output == *"no line is of a known format"* ]]
}

@test "compressed traces, archives and pipes" {
	gcsim.nilfs2 -t - </dev/null 2>said || true
	requests | render msr >trace
	replay -t trace >want
	for tool in gzip bzip2 xz zstd; do
		"$tool" -c trace >packed
		replay -t packed >got || {
			grep -q "built without libarchive" said &&
				skip "built without libarchive"
			return 1
		}
		cmp want got
		replay -t - <packed | cmp want
	done
	cat trace | replay -t - | cmp want
	mkfifo pipe
	cat trace >pipe &
	replay -t pipe | cmp want
	# As Tencent's are published.
	tar czf packed.tgz trace
	replay -t packed.tgz >got
	cmp want got
	head -c 20000 packed >cut
	run -1 replay -t cut
	[[ $output == *"cut: cannot be decompressed"* ]]
}

@test "a compressed trace that was cut off is no shorter one" {
	gcsim.nilfs2 -t - </dev/null 2>said || true
	requests | render csv >trace
	for tool in gzip bzip2 xz zstd; do
		"$tool" -c trace >packed
		size=$(stat -c %s packed)
		for cut in 1 4 8 20 $((size / 2)) $((size - 30)); do
			head -c $((size - cut)) packed >cut
			run -1 replay -t cut
			if [[ $output == *"built without libarchive"* ]]; then
				skip "built without libarchive"
			fi
			[[ $output == *"cut: cannot be decompressed"* ]]
		done
	done
	tar cf packed trace
	head -c $(($(stat -c %s trace) / 2)) packed >cut
	run -1 replay -t cut
	[[ $output == *"cut: cannot be decompressed: Truncated tar"* ]]
}

@test "an archive without a file has a reason of its own" {
	mkdir folder
	ln -s nowhere link
	tar cf none.tar -T /dev/null
	tar czf none.tgz -T /dev/null
	tar cf folder.tar folder
	tar czf link.tgz folder link
	gzip -c </dev/null >nothing.gz
	zstd -qc </dev/null >nothing.zst
	for file in none.tar none.tgz folder.tar link.tgz nothing.gz \
		nothing.zst; do
		run -1 replay -t $file
		if [[ $output == *"built without libarchive"* ]]; then
			skip "built without libarchive"
		fi
		[[ $output == *"$file: the archive has no regular file with content"* ]]
	done
	: >empty
	run -1 replay -t empty
	[[ $output == *"empty: no line is of a known format of traces"* ]]
}

@test "a mark of the byte order of UTF-8 is no part of a trace" {
	requests >requests
	for format in csv msr alibaba tencent blkparse fio2 fio3; do
		render $format <requests >trace
		replay -t trace >want
		printf '\357\273\277' | cat - trace >marked
		replay -t marked >got
		cmp want got
		replay -t marked --trace-format ${format%[23]} | cmp want
		replay -t - <marked | cmp want
	done
	# Before a heading, and in each file that was put behind another.
	{ echo 'operation,time,offset,length'
		render csv <requests | awk -F , '{ print $2 "," $1 "," $3 "," $4 }'
	} >trace
	replay -t trace >want
	printf '\357\273\277' | cat - trace >marked
	replay -t marked | cmp want
	render csv <requests >trace
	replay -t trace >want
	{ printf '\357\273\277'; head -n 7000 trace
		printf '\357\273\277'; tail -n +7001 trace; } >marked
	replay -t marked | cmp want
}

@test "volumes of one trace are apart" {
	# Two devices with the same addresses, alternating.
	requests | awk '{ printf "%d,%s,%.0f,4096,%.0f\n", NR % 2, $2,
		$3 * 4096, 1577808000000626 + $1 }' >trace
	run -1 replay -t trace
	[[ $output == *"2 volumes are written"*": 1 (10000 writes), 0 (8400 writes)"* ]]
	run -1 replay -t trace --volume 2
	[[ $output == *"no volume 2 is written; of 2: "* ]]
	for volume in 0 1; do
		grep "^$volume," trace >alone
		replay -t alone >want
		replay -t trace --volume $volume >got
		[ "$(gojq -c .runs got)" = "$(gojq -c .runs want)" ]
		gojq -c '.runs[0]' want >>apart
	done
	replay -t trace --volume each >got
	[ "$(gojq -r '[.runs[].volume] | join(" ")' got)" = "1 0" ]
	[ "$(gojq -c '.runs | sort_by(.volume)[] | del(.volume)' got)" = \
		"$(cat apart)" ]
	gojq -e '.trace.volumes == 2 and (.kinds | all(has("volume")))' got
	# Totals have all of each.
	replay -t trace --volume each --fill-holes 50 --frees-dead >got
	gojq -e '.totals[0].blocks_filled > 0 and (["segments_cleaned",
		"blocks_filled", "blocks_written"] as $keys | all($keys[];
		. as $key | $ARGS.named.said[0] |
		.totals[0][$key] == ([.runs[][$key]] | add)))' \
		--slurpfile said got got
}

@test "lines that are not understood are counted; too many are an error" {
	requests | render csv >trace
	{ cat trace; yes 'a line, that is, nothing' | head -n 200; } >some
	replay -t some >said
	gojq -e '.trace.bad == 200 and .trace.lines == 20200' said
	gcsim.nilfs2 --segment-size 256K -t some -p greedy |
		grep -q 'Not understood: *200$'
	{ cat trace; yes 'a line, that is, nothing' | head -n 300; } >many
	run -1 replay -t many
	[[ $output == *"300 of 20300 lines are not of the format csv, the first is line 20001"* ]]
	printf '%s\n' x y 0,write,0,4096 z u v >six
	run -1 replay -t six
	[[ $output == *"5 of 6 lines are not of the format csv, the first is line 1"* ]]
	run -1 replay -t trace --trace-format msr
	printf '%s\n' nothing >none
	run -1 replay -t none
	[[ $output == *"no line is of a known format"* ]]
}

@test "a volume is as large as what is written, wherever that is" {
	# One write at 10 GiB more.
	requests | render csv >trace
	echo '99,write,10737418240,4096' >>trace
	replay -t trace >said
	gojq -e '.runs[0].blocks_user == 18401 and .runs[0].segments_cleaned > 100' \
		said
	# 4001 blocks in segments of 64, half full.
	replay -t trace -f 50 --wear >said
	[ "$(gojq '[.wear[].count] | add' said)" -eq 126 ]
	run -1 replay -t trace -f 50 --addresses raw -n 1000
	[[ $output == *"2621441 blocks of data do not fit"* ]]
}

@test "a warm-up is a number or a share, the end a number" {
	requests | render csv >trace
	for warm_up in 9200 50%; do
		replay -t trace --warm-up $warm_up >$warm_up
		gojq -e '.runs[0].blocks_user == 9200' $warm_up
	done
	cmp 9200 50%
	replay -t trace --warm-up 25% --writes 1000 >said
	gojq -e '.runs[0].blocks_user == 1000' said
	run -1 replay -t trace --warm-up 18400
	[[ $output == *"18400 blocks, none of which is left to measure"* ]]
	run -2 replay -t trace --warm-up 100%
	run -2 replay -t trace --warm-up %
}

@test "options that a trace has no use for are refused" {
	requests | render csv >trace
	for option in "-w uniform" "--hot 10" "--hot-writes 90" "--data 10" \
		"--file-blocks 1" "--file-size fixed:3" "--skew 1" \
		"--lifetime fixed:3" "--sequential 5" "--trims 5"; do
		# shellcheck disable=SC2086
		run -2 replay -t trace $option
		[[ $output == *"exclude each other"* ]]
		# shellcheck disable=SC2086
		run -2 replay $option -t trace
	done
	run -2 replay -t trace --placement hot-cold
	for option in "--volume 1" "--trace-format csv" "--addresses raw"; do
		# shellcheck disable=SC2086
		run -2 replay $option
	done
}

@test "an iolog of many files takes time by their number" {
	# files N: an iolog that writes each twice.
	files() {
		awk -v n="$1" 'BEGIN {
			print "fio version 2 iolog"
			for (i = 0; i < 2 * n; i++)
				print "/dir/file-" i * 7919 % n, "write 0 4096"
		}'
	}
	# CPU time in hundredths of a second.
	time_of() {
		files "$1" >"files-$1"
		TIMEFORMAT=%U
		{ time gcsim.nilfs2 --segment-size 256K -p greedy \
			-t "files-$1" >said; } 2>time
		awk '{ print int(100 * $1) }' time
	}
	small=$(time_of 20000)
	large=$(time_of 200000)
	grep -q '^greedy *[0-9.]* *400000 ' said
	# By the square it would be a hundred times as long.
	[ "$large" -lt $((20 * (small + 5))) ]
}

@test "times of a trace make snapshots and ages" {
	requests | render csv >trace
	replay -t trace >plain
	replay -t trace --snapshot-seconds 4 --snapshots 2 -n 200 >said
	# A request each millisecond: a snapshot each 4000 of them.
	gojq -e '.kinds[] | select(.kind == "past") | .blocks_moved > 0' said
	# What is as old in time as in writes is cleaned in the same order.
	replay -t trace -p timestamp >writes
	replay -t trace -p timestamp --clock time >time
	cmp writes time
	# Times of other lengths make another order of what is both old and empty.
	requests | awk '{ $1 = $1 * $1 / 1000000; print }' | render csv >slower
	replay -t slower -p cost-benefit >writes
	replay -t slower -p cost-benefit --clock time >time
	run ! cmp -s writes time
	printf '0,write,0,4096\n0,write,4096,4096\n' >none
	run -1 replay -t none --clock time
	[[ $output == *"none: no timestamps"* ]]
	run -2 replay --clock time
	run -2 replay --snapshot-seconds 1
	run -2 replay -t trace --clock time --second 5 -p timestamp
	gcsim.nilfs2 -n 100 --segment-size 64K -f 40 -p timestamp --second 100 \
		--snapshot-seconds 5 --json >seconds
	gojq -e '.kinds[] | select(.kind == "past") | .blocks_moved > 0' seconds
}

@test "a trace on an image, as new blocks or on those of a file" {
	need_corpus
	local image=$corpus/cleaned/image

	blocks=$(dump.nilfs2 bmap -s --json "$image" /kept |
		gojq .map.data_blocks)
	size=4096
	# The whole file, again and again.
	awk -v n="$blocks" -v size="$size" 'BEGIN {
		for (i = 0; i < 40 * n; i++)
			printf "%d,write,%d,%d\n", i, i % n * size, size }' >trace
	gcsim.nilfs2 -t trace --hot-file /kept -p greedy \
		--check 5000 --json "$image" >said
	gojq -e --argjson n "$blocks" '.runs[0].blocks_user == 40 * $n' said
	# Written in sequence, it leaves nothing alive but what it shares its first
	# and last segment with.
	gojq -e '.kinds[0].blocks_moved <= 254' said
	# As new blocks there is less room, and as much to write.
	gcsim.nilfs2 -t trace -p greedy --check 5000 --json \
		"$image" >new
	gojq -e --argjson n "$blocks" '.runs[0].blocks_user == 40 * $n' new
	[ "$(gojq '.runs[0].segments_clean' new)" -le \
		"$(gojq '.runs[0].segments_clean' said)" ]
	# Half of the blocks past the end of the file.
	awk -v n="$blocks" -v size="$size" 'BEGIN {
		for (i = 0; i < 20; i++)
			printf "%d,write,0,%d\n", i, 2 * n * size }' >trace
	gcsim.nilfs2 -t trace --hot-file /kept -p greedy \
		--check 5000 --json "$image" >said
	gojq -e --argjson n "$blocks" '.runs[0].blocks_user == 40 * $n' said
	# Blocks are those of the image.
	printf '0,write,0,65536\n' >trace
	gcsim.nilfs2 -t trace -p greedy --json "$corpus/cleaned-1k/image" >said
	gojq -e '.runs[0].blocks_user == 64' said
	run -2 gcsim.nilfs2 -t trace --clock time "$image"
}
