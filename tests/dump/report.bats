#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 report: its numbers are those of the other commands, and its page
# is whole, refers to nothing and cannot be forged by what a volume contains.

load ../kernel/lab
load corpus
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# is_page FILE: HTML that is well-formed but for two elements without an end.
is_page() {
	[ "$(head -n 1 "$1")" = '<!DOCTYPE html>' ]
	sed -e '1d' -e 's/\(<meta [^>]*\)>/\1\/>/' "$1" | xmllint --noout -
	# No scripts, and nothing to be fetched.
	! grep -qiE '<script|<img|<link|<iframe|<[^>]* on[a-z]+=' "$1"
	! grep -E '<[^>]*(src=|href=|https?:)|url\(|@import' "$1" |
		grep -vF 'xmlns="http://www.w3.org/2000/svg"'
}

# What other commands say about the same, one number a line.
others() {
	dump.nilfs2 segments --json --totals -o +data "$1" |
		gojq -c '.totals | to_entries[] | [.key, .value]' | sort
	dump.nilfs2 segments --json --histogram "$1" |
		gojq -c '.utilization[]'
	dump.nilfs2 checkpoints --json --all --fast "$1" | gojq -c '
		.checkpoints | length, (map(select(.mode == "ss")) | length)'
	dump.nilfs2 ls -lR --json "$1" | gojq -c '
		.files | unique_by(.inode) |
		(map(select(.type == "file")) | length)'
	dump.nilfs2 info --json "$1" | gojq -Sc '
		.superblocks, .geometry, .latest, .usage'
}

ours() {
	gojq -c '.totals | to_entries[] | [.key, .value]' "$1" | sort
	gojq -c '.utilization[]' "$1"
	gojq -c '.past.count, .past.snapshots' "$1"
	gojq -c '.files.regular' "$1"
	gojq -Sc '.superblocks, .geometry, .latest, .usage' "$1"
}

agrees() {
	run -0 --separate-stderr dump.nilfs2 report --json "$corpus/$1/image"
	printf '%s\n' "$output" >said
	diff <(others "$corpus/$1/image") <(ours said) || return 1
	[ "$(gojq '.check.errors' said)" -eq 0 ]
	dump.nilfs2 report --force "$corpus/$1/image" page.html &&
		is_page page.html
}

@test "all numbers are those of the other commands" {
	need_corpus
	each_image agrees
}

@test "extents and sizes of files are those of their maps" {
	need_corpus
	for name in small-files sparse-2k snapshots; do
		dump.nilfs2 report --json "$corpus/$name/image" >said
		block=$(gojq .geometry.block_bytes said)
		gojq -r '.files.largest.files[] |
			"\(.path)\t\(.bytes)\t\(.extents)"' said >listed
		[ -s listed ]
		while IFS=$'\t' read -r path bytes extents; do
			same "$bytes $extents" "$(
				dump.nilfs2 bmap --json -s "$corpus/$name/image" "$path" |
				gojq -r --argjson b "$block" '.map |
					"\(.data_blocks * $b) \(.extents)"')"
		done <listed
		# In order, and none larger was left out.
		[ "$(cut -f 2 listed | sort -c -n -r && echo sorted)" = sorted ]
	done
}

@test "names and labels cannot leave their place on the page" {
	mkdir -p 'tree/<script>alert(1)<'
	head -c 9000 /dev/zero | tee 'tree/"><img src=x onerror=alert(1)>' \
		$'tree/\e[31m\xff\n' "tree/'&amp;" >tree/plain
	truncate -s 160M volume.img
	mkfs.nilfs2 -q -L '</title><script>x</script>' -d tree volume.img
	cp volume.img '<b>&.img'
	run -0 dump.nilfs2 report './<b>&.img' page.html
	is_page page.html
	grep -qF '&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;' page.html
	grep -qF '/&quot;&gt;&lt;img src=x onerror=alert(1)&gt;' page.html
	grep -qF '/\x1b[31m\xff\x0a' page.html
	grep -qF '/&#39;&amp;amp;' page.html
	grep -qF './&lt;b&gt;&amp;.img' page.html
}

@test "a damaged volume is reported as far as it can be read" {
	need_corpus
	image=$(copy_image snapshots)
	dump.nilfs2 set --expert --fix-checksums "$image" inode:cpfile \
		'i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 report "$image" page.html
	is_page page.html
	grep -q '>damaged<' page.html
	grep -q 'class="problem"' page.html
	grep -q '<h2>Geometry' page.html
	[[ $stderr == *"dump.nilfs2: "* ]]

	# A damaged log: the data in its segment is not counted as metadata.
	dump.nilfs2 report --fast --force "$corpus/snapshots/image" page.html
	metadata=$(grep -om1 'latest metadata: [0-9.]* KiB' page.html)
	! grep -q 'of unknown kind' page.html
	image=$(copy_image snapshots)
	log=$(($(dump.nilfs2 bmap -b --json "$image" /later |
		gojq '[.runs[] | select(.level == 0)][0].blocknr') / 64 * 64))
	dump.nilfs2 set --expert "$image" "log:$log" ss_bytes=1 >/dev/null
	run -1 dump.nilfs2 report --fast --force "$image" page.html
	known=$(grep -om1 'latest metadata: [0-9.]* KiB' page.html)
	[ "${known//[^0-9]/}" -le "${metadata//[^0-9]/}" ]
	grep -q 'of unknown kind: in damaged logs: [1-9]' page.html

	# Superblocks alone.
	image=$(copy_image cleaned)
	dd if=/dev/zero of="$image" bs=4096 seek=1 count=16000 conv=notrunc \
		status=none
	run -1 --separate-stderr dump.nilfs2 report --force "$image" page.html
	is_page page.html
	grep -q 's_volume_name' page.html
	grep -q 'cannot be opened' page.html
	run -1 --separate-stderr dump.nilfs2 report --json "$image"
	gojq -e '.check.errors > 0 and .superblocks' <<<"$output"
}

@test "--fast leaves the check and the files out" {
	need_corpus
	run -0 dump.nilfs2 report --fast --json "$corpus/special/image"
	gojq -e '(has("check") or has("files") | not) and has("past")' <<<"$output"
}

@test "no half page is left after a failure" {
	need_corpus
	echo mine >old
	for page in new old; do
		run -1 bash -c "ulimit -f 1; trap '' XFSZ
			dump.nilfs2 report --fast --force \
				'$corpus/snapshots/image' $page"
		[ "$output" = "dump.nilfs2: $page: write: File too large" ]
	done
	[ "$(ls -A)" = old ] && [ "$(cat old)" = mine ]
	run -1 dump.nilfs2 report "$corpus/snapshots/image" /dev/full
	[ -c /dev/full ]
}

@test "no page is made of what is no image" {
	run -1 dump.nilfs2 report /dev/null page.html
	[ ! -e page.html ]
}
