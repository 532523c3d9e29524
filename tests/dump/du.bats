#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 du, against the blocks of files that the kernel showed, and what
# gc.nilfs2 frees.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# usage [OPTION...]: "BYTES TAB PATH", paths as manifests write them.
usage() {
	dump.nilfs2 du --bytes "$@" | perl -ne '
		/^ *(\d+)  \/(.*)/ or die;
		my ($bytes, $path) = ($1, $2);
		$path = "." if $path eq "";
		$path =~ s/\\(?:x([0-9a-f]{2})|\\)|([^ -~])/
			sprintf "\\%03o", defined $1 ? hex $1 :
				defined $2 ? ord $2 : 0134/gex;
		print "$bytes\t$path\n"'
}

# compare MANIFEST <USAGE: sums of blocks by directory.  Which directory a file
# with several names counts for is left open, except that it is one.
compare() {
	perl -e '
		my (%sum, %open, %seen, %ours, $rows, $bad);
		open my $f, "<", $ARGV[0] or die;
		while (<$f>) {
			chomp;
			my @f = split /\t/;
			my ($type, $links, $bytes, $ino, $path) =
				($f[0], $f[4], $f[6] * 512, @f[10, 13]);
			my $many = $type ne "d" && $links > 1;
			$bytes = 0 if $many && $seen{$ino}++;
			$rows++ if !$many || $seen{$ino} == 1;
			$sum{$path} += $bytes;
			$open{$path} = 1 if $many;
			while ($path ne ".") {
				$path = $path =~ s,/[^/]*$,, ? $path : ".";
				$sum{$path} += $bytes;
				$open{$path} = 1 if $many && $path ne ".";
			}
		}
		while (<STDIN>) {
			chomp;
			my ($bytes, $path) = split /\t/;
			$ours{$path} = $bytes;
		}
		print "rows: ", scalar keys %ours, ", not $rows\n", $bad = 1
			if keys %ours != $rows;
		for my $path (keys %sum) {
			next if $open{$path};
			next if ($ours{$path} // -1) == $sum{$path};
			print "$path: ", $ours{$path} // "nothing",
				", not $sum{$path}\n";
			$bad = 1;
		}
		exit($bad ? 1 : 0)' "$1"
}

sums_equal() {
	local cno manifest bad=

	while read -r cno manifest; do
		usage -a -c "$cno" "$corpus/$1/image" | compare "$manifest" ||
			bad=1
	done < <(checkpoints_of "$1")
	[ -z "$bad" ]
}

@test "bytes of each file and directory are what the kernel counts" {
	each_image sums_equal
}

@test "--max-depth, --top, a path, units" {
	image=$corpus/small-files/image
	usage -a "$image" >all
	diff <(usage "$image" -d 1 | cut -f 2 | sort) \
		<(printf '%s\n' . deep many removed)
	usage -a --top 5 "$image" >top
	diff <(cut -f 1 top) <(sort -rn all | cut -f 1 | head -n 5)
	run -0 dump.nilfs2 du --bytes "$image" -d 0 /many
	[ "$(awk '{ print $1 }' <<<"$output")" = \
		"$(awk -F'\t' '$2 == "many" { print $1 }' all)" ]
	run -0 dump.nilfs2 du "$image" /nothing
	[ "$(awk '{ print $1, $2 }' <<<"$output")" = "0 B" ]
	run -1 dump.nilfs2 du "$image" /missing
	run -0 dump.nilfs2 du -d 0 "$image"
	[[ $output == *" MiB  /" ]]
}

# A file has a block alone if that is so of its entry in the DAT.
@test "the sizes of --shared have headings" {
	run -0 dump.nilfs2 du --shared "$corpus/snapshots/image"
	[[ ${lines[0]} =~ ^\ +BYTES\ +UNIQUE\ +SNAPSHOTS\ +PATH$ ]]
}

@test "--shared is what the entries in the DAT say" {
	image=$corpus/snapshots/image
	dump.nilfs2 checkpoints -a --fast --json "$image" |
		gojq -r '.checkpoints[] | "\(.checkpoint) \(.mode)"' >checkpoints
	dump.nilfs2 dat -a --json "$image" | gojq -r '.entries[] |
		"\(.vblocknr) \(.de_start) \(.de_end)"' >entries
	for cno in 2 4 7 0; do
		dump.nilfs2 ls -R -c "$cno" --json "$image" | gojq -r '.files |
			unique_by(.inode)[] | select(.type == "file").path' |
		while read -r path; do
			dump.nilfs2 bmap -b --nodes -c "$cno" --json "$image" \
				"$path"
			echo '"end"'
		done | gojq -r 'strings, (.. | .vblocknr? // empty)' >blocks
		awk '
		FILENAME == "checkpoints" { mode[$1] = $2; next }
		FILENAME == "entries" { from[$1] = $2; to[$1] = $3; next }
		$1 == "end" {
			print unique * 4096, kept * 4096
			unique = kept = 0
			next
		}
		{
			n = held = 0
			for (c in mode)
				if (c + 0 >= from[$1] && c + 0 < to[$1]) {
					n++
					held += mode[c] == "ss"
				}
			unique += n == 1
			kept += held && to[$1] < 2 ^ 63
		}' checkpoints entries blocks >wanted
		dump.nilfs2 du -a --shared -c "$cno" --json "$image" |
			gojq -r '.usage[] | select(.type == "file") |
				"\(.unique_bytes) \(.held_bytes)"' >got
		[ -s wanted ]
		diff <(sort wanted) <(sort got)
	done
}

# kept: blocks that cleaning keeps in segments that deleting does not write.
kept() {
	dump.nilfs2 segments --json -o segment,live,snapshot "$1" 0..10 |
		gojq '[.segments[] | .live + .snapshot] | add'
}

@test "--free is what gc.nilfs2 --delete-checkpoints frees, to the block" {
	before=$(kept "$corpus/snapshots/image")
	for range in 2 4 7 ..4 4..7 2,7 ..7 1..3; do
		image=$(copy_image snapshots)
		dump.nilfs2 du --json --free "$range" "$image" >free
		all=$(gojq '.free.checkpoints' free)
		run -0 gc.nilfs2 -f --free 0 --json --delete-checkpoints \
			"$range" "$image"
		[ "$(gojq '.deleted.checkpoints + .deleted.snapshots' \
			<<<"$output")" -eq "$all" ]
		[ "$(gojq .deleted.snapshots <<<"$output")" -eq \
			"$(gojq .free.snapshots free)" ]
		echo "$range: $before, $(kept "$image"), $(cat free)"
		[ "$((before - $(kept "$image")))" -eq \
			"$(gojq .free.freed_blocks free)" ]
		[ "$(gojq .free.freed_blocks free)" -gt 0 ]
	done
}

@test "--free of one checkpoint is what checkpoints shows" {
	image=$corpus/snapshots/image
	dump.nilfs2 checkpoints -a --json "$image" | gojq -r '.checkpoints[] |
		"\(.checkpoint) \(.unique_blocks) \(.held_blocks // 0)"' |
	head -n -1 | while read -r cno unique held; do
		[ "$(dump.nilfs2 du --free "$cno" --json "$image" |
			gojq -c '[.free.unique_blocks, .free.freed_blocks]')" = \
			"[$unique,$held]" ]
	done
	run -1 dump.nilfs2 du --free 500.. "$image"
	[[ $output == *"none exist" ]]
	run -2 dump.nilfs2 du --free x "$image"
	run -2 dump.nilfs2 du --free 1 "$image" /d
}
