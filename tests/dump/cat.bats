#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 cat, against the checksums that the kernel's view of the same
# images gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# At most 30 files of each checkpoint, 150 if EVERY is set; names come back from
# their escapes.
contents_equal() {
	local cno wanted path sum most=${EVERY:+150}

	while read -r cno wanted; do
		while IFS=$'\t' read -r sum path; do
			printf -v path '%b' "${path//\\/\\0}x"
			got=$(dump.nilfs2 cat -c "$cno" "$corpus/$1/image" \
				"${path%x}" | sha256sum)
			[ "sha256:${got%% *}" = "$sum" ] || {
				echo "$cno: $path: $got instead of $sum"
				return 1
			}
		done < <(awk -F'\t' '$12 ~ /^sha256/ {
			print $12 "\t" $14 }' "$wanted" |
			awk -v most="${most:-30}" '{ line[NR] = $0 } END {
				step = NR > most ? NR / most : 1
				for (i = 1; i <= NR; i += step)
					print line[int(i)] }')
	done < <(checkpoints_of "$1")
}

@test "the content of files is what the kernel read" {
	each_image contents_equal
}

@test "several files, and a hole in between, on a pipe and in a file" {
	image=$corpus/sparse-2k/image
	make_room
	dump.nilfs2 cat "$image" direct-gap small-hole >"$room/file"
	dump.nilfs2 cat "$image" direct-gap small-hole | cmp - "$room/file"
	[ "$(stat -c %s "$room/file")" -eq 13240 ]
	{
		dump.nilfs2 cat "$image" direct-gap
		head -c 3000 /dev/zero
	} | cmp - "$room/file"
	drop_room
}

@test "a huge hole stays one in a file" {
	make_room
	[ "$(stat -fc %T "$room")" = tmpfs ] || skip "needs a tmpfs"
	mkdir "$room/d"
	dump.nilfs2 cat "$corpus/sparse-2k/image" far >"$room/d/far"
	dump.nilfs2 cat "$corpus/sparse-2k/image" all-hole >"$room/d/all-hole"
	[ "$(du -sk "$room/d" | cut -f1)" -lt 100 ]
	same "$(awk -F'\t' '$14 ~ /^(far|all-hole)$/ { print $6, $12 }' \
			"$corpus/sparse-2k/manifest")" \
		"$(copy_manifest "$room/d" |
			awk -F'\t' '$1 == "f" { print $6, $12 }')"
	drop_room
}

@test "what is no regular file is named, and the next one follows" {
	image=$corpus/snapshots/image
	run -1 --separate-stderr dump.nilfs2 cat "$image" /d nothing /d/f1
	[ "$output" = new ]
	[[ $stderr == *": /d: "*": Is a directory"* ]]
	[[ $stderr == *$'\ndump.nilfs2: nothing: not in checkpoint '* ]]
	run -1 dump.nilfs2 cat "$corpus/special/image" /types/symlink-short
	[[ $output == *": not a regular file"* ]]
}

@test "a full disk is an error" {
	run -1 bash -c "dump.nilfs2 cat '$corpus/snapshots/image' /d/f1 >/dev/full"
	[[ $output == *": No space left on device" ]]
}

@test "a missing path is an error in JSON, too" {
	run -1 --separate-stderr dump.nilfs2 cat --json "$corpus/snapshots/image" nope
	[ "$(gojq .error.status <<<"$output")" -eq 1 ]
	[[ $(gojq -r .error.message <<<"$output") == "nope: not in checkpoint "* ]]
}
