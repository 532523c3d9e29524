#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Compaction: all that lives at the front, and nothing of it changed.

bats_require_minimum_version 1.5.0

load ../kernel/lab
load ../fsck/repaired
load gc

compact() {
	gc.nilfs2 --protect 0 --compact "$@" "$image"
}

# value KEY: of the report in $output.
value() {
	gojq ".compaction.$1" <<<"$output"
}

# segments: number, blocks written and live ones of those with content.
segments() {
	dump.nilfs2 segments "$image" |
		awk '$1 ~ /^[0-9]+$/ && $7 { print $1, $7, $8 + $9 }'
}

@test "files and snapshots stay, and a second run does nothing" {
	for name in $(names); do
		begin "$name"
		echo "$name:"
		compact >/dev/null
		is_clean
		same_trees
		before=$(image_sum "$image")
		run compact --json
		[ "$status" -eq 0 ]
		[ "$(value batches)" -eq 0 ]
		[ "$(value blocks_written)" -eq 0 ]
		[ "$(image_sum "$image")" = "$before" ]
	done
}

@test "the forecast is what happens, and changes nothing" {
	for name in nearly-full deep-1k cleaned small-files; do
		begin "$name"
		before=$(image_sum "$image")
		compact --json -n >forecast
		[ "$(image_sum "$image")" = "$before" ]
		compact --json >outcome
		diff <(timeless forecast) <(timeless outcome)
	done
}

@test "any number of threads writes the same bytes" {
	for name in deep-1k small-files; do
		for threads in 1 2 7; do
			begin "$name"
			compact -j "$threads" >/dev/null
			image_sum "$image"
		done >"sums.$name"
		[ "$(sort -u "sums.$name" | wc -l)" -eq 1 ]
	done
}

@test "nothing is left after the end, and before it no segment's worth" {
	for name in deep-1k cleaned crash-cleaning; do
		begin "$name"
		run compact --json
		end=$(value end_after)
		[ "$end" -lt "$(value end_before)" ]
		segments >now
		[ "$(tail -n 1 now | cut -d ' ' -f 1)" -eq $((end - 1)) ]
		# What the logs list of each block is 40 bytes at most.
		least=$(awk '
			{ live += $3; if ($2 > most) most = $2 }
			END { bps = most; need = live * 1.045 + 40
				printf "%d", (need + bps - 1) / bps }' now)
		echo "$name: $end, $least would do"
		[ "$end" -le $((least + 1)) ]
		# The log goes on after the end.
		next=$(dump.nilfs2 segments "$image" |
			awk '$2 ~ /^a/ && $7 == 0 { print $1 }')
		[ "$next" -le "$end" ]
	done
}

@test "with room enough no block is moved twice, and none is dead" {
	need_guest uml
	image=image
	truncate -s 64M "$image"
	mkfs.nilfs2 -q -B 32 "$image"
	guest "$image" <<-'SCRIPT'
	set -e
	nilfs_mount "$DEV1"
	filler 0 17000000 >"$MNT/gone"
	sync
	filler 1 16000000 >"$MNT/kept"
	sync
	for i in 1 2 3; do
		scatter "$MNT/kept" 4096 3906 1000 "$i"
		sync
	done
	rm "$MNT/gone"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	# The first third is clean.
	gc.nilfs2 -q --protect 0 --min-reclaimable 100 "$image"
	live=$(segments | awk '{ n += $3 } END { print n }')
	run compact --json
	[ "$(value blocks_moved)" -le "$live" ]
	[ "$(($(value blocks_written) * 100))" -le "$((live * 106))" ]
	# A log and its summary fill each segment, but where a batch ends: the
	# metadata that it wrote there the next one has replaced.
	segments | sed '1d;$d' | awk -v batches="$(value batches)" '
		$2 - $3 > 1 { print; n++ }
		END { exit n > batches }'
}

@test "with a front that is full of holes little is moved twice" {
	image=image
	mkdir all gone kept
	perl -e '
		sub put {
			my ($name, $text) = @_;
			open my $file, ">", $name or die "$name: $!\n";
			print $file $text;
			close $file or die "$name: $!\n";
		}
		for my $i (100 .. 799) {
			put("all/$i", "$i\n" x 16384);
			link "all/$i", "kept/$i" or die if $i % 4;
			put("$_/$i", "") for $i % 4 ? () : ("gone", "kept");
		}'
	# A quarter of each segment is dead, and what is clean is after them.
	mkfs.nilfs2 -q -B 512 --size +4M -d all -d gone "$image"
	live=$(segments | awk '{ n += $3 } END { print n }')
	run compact --json
	[ "$(value end_after)" -lt "$(value end_before)" ]
	# Each once, and at most half of them again.
	written=$(value blocks_written)
	echo "$written for $live"
	[ "$written" -le $((live * 3 / 2)) ]
	is_clean
	dump.nilfs2 export "$image" - | tar -x --one-top-level=now
	diff -r kept now
}

@test "full segments at the front stay where they are" {
	begin sparse-2k
	dump.nilfs2 segments "$image" >before
	compact >/dev/null
	dump.nilfs2 segments "$image" >after
	# Those that began full: sequence numbers show whether they moved.
	awk '$1 >= 3 && $1 <= 5 { print $1, $3 }' before >full
	grep -Fxf full <(awk '{ print $1, $3 }' after) | diff full -
}

# maps: the blocks of each file, in the order of a walk, after a line "== INO".
# Without a trap of bats at each command.
maps() {
	local ino -

	set +T
	for ino in $(dump.nilfs2 ls -iR "$image" / | awk '{ print $1 }'); do
		echo "== $ino"
		dump.nilfs2 bmap -b "$image" "$ino"
	done
}

# starts: the first block of each file, in the order of a walk.
starts() {
	maps | awk '
		$1 == "==" { found = 0 }
		$NF == "data" && !found++ { print $5 }'
}

# falls: how often a number is less than the one before.
falls() {
	awk '$1 < last { n++ } { last = $1 } END { print n + 0 }'
}

@test "any order keeps all files, and a second run does nothing" {
	for each in $(sample 5 {deep-1k,cleaned,small-files,nearly-full}:\
--{compact=all,order={tree,file,age,victim}}); do
		echo "$each"
		option=${each#*:}
		begin "${each%:*}"
		run -0 compact -n --json "$option"
		forecast=$(timeless <<<"$output")
		run -0 compact --json "$option"
		[ "$(timeless <<<"$output")" = "$forecast" ]
		is_clean
		same_trees
		before=$(image_sum "$image")
		compact "$option" >/dev/null
		[ "$(image_sum "$image")" = "$before" ]
	done
}

@test "files lie in the order of the tree" {
	begin cleaned
	[ "$(starts | falls)" -gt 100 ]
	gc.nilfs2 --protect 0 --order tree "$image"
	[ "$(starts | falls)" -eq 0 ]
}

# classes: of each file, in the order in which they lie, how often half of
# the history up to the youngest block can be halved, 5 times at most, until the
# mean of its blocks is older.
classes() {
	maps | awk '
		$1 == "==" { ino = $2; next }
		$6 == 0 { print $4, ino, $5 }' | sort |
	join - <(dump.nilfs2 dat --all "$image" |
		awk '{ print $1, $3 }' | sort) |
	sort -n -k 4 | tac | awk '
		NR == 1 { last = $4 }
		{ n[$2]++; ages[$2] += last - $4 }
		!first[$2] || $3 < first[$2] { first[$2] = $3 }
		END {
			for (ino in n) {
				age = ages[ino] / n[ino]
				class = 0
				for (b = int(last / 2); class < 5 && age < b;
				     b = int(b / 2))
					class++
				print first[ino], class
			}
		}' | sort -n | awk '{ print $2 }'
}

@test "what was written lately comes first, and that is the default" {
	need_corpus
	local option

	for option in --order=age --compact=all; do
		begin cleaned
		[ "$(classes | tac | falls)" -gt 0 ]
		gc.nilfs2 --protect 0 "$option" "$image"
		classes >now
		[ "$(sort -u now | wc -l)" -gt 1 ]
		[ "$(tac now | falls)" -eq 0 ]
	done
}

@test "a file that was in pieces is in one" {
	begin deep-1k
	extents() {
		dump.nilfs2 bmap -s --json "$image" /large |
			gojq '.map.extents'
	}
	[ "$(extents)" -gt 1000 ]
	compact --order file
	# A piece for each segment that it is in: 15625 blocks, 1024 each.
	[ "$(extents)" -le 17 ]
}

@test "data after the last checkpoint is not given up" {
	spares_data_behind compact
}

@test "the kernel reads, writes on and cleans what was compacted" {
	need_guest uml
	for name in $(sample 2 nearly-full deep-1k cleaned small-files); do
		echo "$name:"
		image=$(copy_image "$name")
		compact >/dev/null
		[ "$name" = nearly-full ] || compact --order tree >/dev/null
		by_kernel "$name"
		is_clean
	done
}
