#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 bmap: the blocks it names hold what the kernel reads.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	command -v gojq >/dev/null || skip "gojq not found"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# compare NAME MANIFEST MOST [OPTION...]: up to MOST files of the manifest, taken
# from the image at the blocks that bmap names, holes as zeros.
compare() {
	local name=$1 list=$2 most=$3 image=$corpus/$1/image

	shift 3
	awk -F '\t' '$1 == "f" && $12 ~ /^sha256:/ &&
		$6 < 64 * 1048576 { print $6, $11, substr($12, 8) }' \
		"$corpus/$name/$list" | sort -u -k2,2n | tail -n "$most" |
	while read -r size ino sha; do
		echo "FILE $size $ino $sha"
		dump.nilfs2 bmap --json-lines "$@" "$image" "$ino"
	done | perl -e '
		use JSON::PP;
		use Digest::SHA "sha256_hex";
		my ($name, $image, $bs) = @ARGV;
		my ($content, $size, $ino, $sha, $files, $bad);
		open my $from, "<:raw", $image or die "$image: $!\n";
		sub judge {
			return if !$ino;
			$files++;
			$content .= "\0" x ($size - length $content)
				if $size > length $content;
			return if sha256_hex(substr $content, 0, $size) eq $sha;
			print "$name: inode $ino differs\n";
			$bad = 1;
		}
		while (<STDIN>) {
			if (/^FILE (.*) (.*) (.*)/) {
				judge();
				($content, $size, $ino, $sha) = ("", $1, $2, $3);
				next;
			}
			my $run = decode_json($_);
			next if $run->{record} ne "runs";
			my ($at, $n) = map { $_ * $bs } @$run{qw(blkoff blocks)};
			sysseek $from, $run->{blocknr} * $bs, 0;
			sysread($from, my $data, $n) == $n or die "$name: $!\n";
			$content .= "\0" x ($at + $n - length $content)
				if $at + $n > length $content;
			substr $content, $at, $n, $data;
		}
		judge();
		exit($bad || !$files)' "$name" "$image" "$(block_size "$image")"
}

@test "the blocks it names hold what the kernel reads" {
	for name in $(sample 8 $(corpus_names)); do
		compare "$name" manifest 6
	done
}

@test "those of snapshots too" {
	for name in cleaned snapshots many-snapshots-2k; do
		for list in "$corpus/$name"/manifest.[0-9]*; do
			compare "$name" "$(basename "$list")" 4 \
				-c "${list##*.}"
		done
	done
}

@test "single blocks are the runs, taken apart" {
	for file in dat /overwritten; do
		dump.nilfs2 bmap "$corpus/cleaned/image" "$file" >runs
		dump.nilfs2 bmap -b "$corpus/cleaned/image" "$file" >blocks
		awk '$NF == "data" { for (i = 0; i < $3; i++)
			print $1 + i, $4 == "-" ? "-" : $4 + i, $5 + i }' \
			runs >apart
		awk '$NF == "data" { print $1, $4, $5 }' blocks | diff apart -
		[ "$(wc -l <apart)" -gt 10 ]
	done
}

@test "the DAT has no virtual blocks, other files have" {
	dump.nilfs2 bmap "$corpus/cleaned/image" dat |
		awk '$NF == "data" && $4 != "-" { exit 1 }'
	dump.nilfs2 bmap "$corpus/cleaned/image" cpfile |
		awk '$NF == "data" && $4 == "-" { exit 1 }'
}

@test "data and nodes add up to the i_blocks that the kernel keeps" {
	for name in $(sample 8 $(corpus_names)); do
		image=$corpus/$name/image
		bs=$(block_size "$image")
		# mkfs.nilfs2 leaves other counts in what it makes itself.
		awk -F '\t' '$11 > 11 && ($1 == "f" || $1 == "d") {
			print $11, $7 }' \
			"$corpus/$name/manifest" | sort -nu | tail -n 4 >inodes
		while read -r ino sectors; do
			dump.nilfs2 bmap -s --json "$image" "$ino" >map
			ours=$(gojq ".map.data_blocks + .map.node_blocks" map)
			echo "$name $ino: $ours of $bs, $sectors"
			[ $((ours * (bs / 512))) -eq "$sectors" ]
		done <inodes
	done
}

@test "holes fill up what data leaves" {
	image=$corpus/sparse-2k/image
	awk -F '\t' '$1 == "f" && $6 > 0 { print $11 }' \
		"$corpus/sparse-2k/manifest" | sort -nu >inodes
	while read -r ino; do
		dump.nilfs2 bmap --holes "$image" "$ino" >map
		awk -v ino="$ino" '
			$NF == "data" || $NF == "hole" {
				if ($1 != next_block) exit 1
				next_block = $2 + 1
				holes += $NF == "hole"
			}
			/^Holes:/ && $2 != holes { exit 1 }
			/^Size in blocks:/ && $4 > next_block { exit 1 }
		' map
	done <inodes
	run -0 dump.nilfs2 bmap --holes "$image" "$(tail -n 1 inodes)"
}

@test "nodes are shown with the keys below them" {
	image=$corpus/deep-1k/image
	ino=$(dump.nilfs2 logs --json-lines "$image" |
		gojq -r '.files[] | select(.fi_nblocks > .fi_ndatablk + 2 and
			.fi_ino > 10) | .fi_ino' | tail -n 1)
	dump.nilfs2 bmap -b --nodes "$image" "$ino" >map
	grep -q ' node$' map
	# Every data block lies within the node before it.
	awk '$NF == "node" && $6 == 1 { first = $1; last = $2 }
		$NF == "data" && ($1 < first || (last != "-" && $1 > last)) {
			print; exit 1 }' map
}

@test "a file that is not there, a directory that is none" {
	run -1 dump.nilfs2 bmap "$corpus/special/image" /nope
	[[ $output == *": /nope: not in checkpoint "* ]]
	run -1 dump.nilfs2 bmap "$corpus/special/image" /links/a/b
	[[ $output == *"Not a directory" ]]
	run -1 dump.nilfs2 bmap "$corpus/special/image" x
}
