#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 inode: against the kernel's own view.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	command -v gojq >/dev/null || skip "gojq not found"
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Inodes in the form of a manifest line: type, mode, uid, gid, links, size,
# mtime, ctime, rdev, ino.
shown() {
	gojq -r '
		# A manifest has decimal numbers, also below zero.
		def decimal(s; n): "\(s).\(("000000000" + (n | tostring))[-9:])";
		def time(s; n): if s < 0 and n > 0
			then (if s == -1 then "-" else "" end) +
				decimal(s + 1; 1000000000 - n)
			else decimal(s; n) end;
		{ "regular file": "f", "directory": "d", "symbolic link": "l",
		  "character device": "c", "block device": "b", "fifo": "p",
		  "socket": "s" }[.meaning.type] as $type |
		[$type, .meaning.mode_text, .i_uid, .i_gid, .i_links_count,
		 .i_size, time(.i_mtime; .i_mtime_nsec),
		 time(.i_ctime; .i_ctime_nsec), (.meaning.rdev // "-"),
		 .ino] | @tsv'
}

# The same from a manifest, the mode as ls shows it.
manifest_inodes() {
	perl -F'\t' -lane '
		my %letter = (f => "-", map { $_ => $_ } qw(d l c b p s));
		my ($mode, $text) = (oct $F[1], "");
		$text .= $mode >> (8 - $_) & 1 ? (qw(r w x))[$_ % 3] : "-" for 0 .. 8;
		substr($text, 2, 1) = $mode & 0100 ? "s" : "S" if $mode & 04000;
		substr($text, 5, 1) = $mode & 0010 ? "s" : "S" if $mode & 02000;
		substr($text, 8, 1) = $mode & 0001 ? "t" : "T" if $mode & 01000;
		print join("\t", $F[0], "$letter{$F[0]}$text", @F[2, 3, 4, 5],
			@F[7, 8, 9, 10]);
	' "$1" | sort -u -t $'\t' -k10,10n
}

@test "every attribute is the kernel's" {
	for name in special snapshots sparse-2k cleaned-1k; do
		manifest_inodes "$corpus/$name/manifest" |
			head -n 200 >theirs
		cut -f 10 theirs | xargs dump.nilfs2 inode --json-lines \
			"$corpus/$name/image" | shown >ours
		[ -s theirs ]
		diff theirs ours
	done
}

@test "a path and its number are the same inode" {
	image=$corpus/special/image
	awk -F '\t' '$14 ~ /^[A-Za-z0-9_.\/]+$/ && $14 != "." {
		print $11, "/" $14 }' "$corpus/special/manifest" | tail -n 5 >names
	[ -s names ]
	while read -r ino path; do
		diff <(dump.nilfs2 inode "$image" "$ino") \
			<(dump.nilfs2 inode "$image" "$path")
	done <names
}

@test "the bytes at the place it names are the inode" {
	image=$corpus/special/image
	for ino in 2 13 dat sufile ifile; do
		dump.nilfs2 inode --json-lines "$image" "$ino" >inode
		at=$(gojq '.place.blocknr * 4096 + .place.offset' inode)
		[ "$(od -An -tu8 -j $((at + 0)) -N 8 "$image" | tr -d ' ')" \
			-eq "$(gojq .i_blocks inode)" ]
		[ "$(od -An -tu8 -j $((at + 16)) -N 8 "$image" | tr -d ' ')" \
			-eq "$(gojq .i_ctime inode)" ]
		[ "$(od -An -tu2 -j $((at + 48)) -N 2 "$image" | tr -d ' ')" \
			-eq "$(gojq .i_mode inode)" ]
	done
}

@test "of a snapshot, the inode as it was" {
	for list in "$corpus"/snapshots/manifest.[0-9]*; do
		manifest_inodes "$list" >theirs
		cut -f 10 theirs | xargs dump.nilfs2 inode -c "${list##*.}" \
			--json-lines "$corpus/snapshots/image" | shown >ours
		diff theirs ours
	done
}

@test "an inode that is not in use is shown as that" {
	last=$(cut -f 11 "$corpus/special/manifest" | sort -n | tail -n 1)
	dump.nilfs2 inode --json "$corpus/special/image" $((last + 1)) >inode
	[ "$(gojq .inode.allocated inode)" = false ]
	run -1 dump.nilfs2 inode "$corpus/special/image" 999999999
	[[ $output == *"inode 999999999: "* ]]
}
