#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# nilfs2-json(5) and the output with --json have the same members: each that a
# tool prints is described, and each that is described is printed.

load ../kernel/lab
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	page=$NILFS2_SOURCE/man/nilfs2-json.5
}

# members COMMAND: of the documents on standard input, "COMMAND: MEMBER" each.
members() {
	jq -r --arg command "$1" '
		[paths as $p | {p: $p, array: (getpath($p) | type == "array")}] |
		.[] | (reduce .p[] as $k (""; if ($k | type) == "number"
			then . + "[]" else . + "." + $k end) | ltrimstr("."))
		+ (if .array then "[]" else "" end) | "\($command): \(.)"'
}

# ask COMMAND... : the members of what it prints, by the name of the command.
ask() {
	local name=$1

	[ "$1" != dump.nilfs2 ] || name="$1 $2"
	"$@" --json 2>>errors | members "$name" || true
}

volumes() {
	local image

	for image in "$corpus"/{snapshots,special,complete,crash-dsync}/image; do
		for command in info map report 'logs -b' 'ls -lR' \
			'checkpoints -a' 'segments -a --totals --histogram -o all'; do
			# shellcheck disable=SC2086
			ask dump.nilfs2 $command "$image"
		done
		ask dump.nilfs2 inode "$image" /
		ask dump.nilfs2 inode "$image" dat
		ask dump.nilfs2 bmap "$image" ifile
		ask dump.nilfs2 dat -a "$image"
		ask dump.nilfs2 dat "$image" 1
		ask dump.nilfs2 block --path "$image" 0..2500
		ask dump.nilfs2 diff "$image" 1 2
		ask fsck.nilfs2 -n "$image"
	done
}

repairs() {
	cp --sparse=always "$corpus/snapshots/image" bad
	dd if=/dev/urandom of=bad bs=4096 seek=300 count=40 conv=notrunc \
		status=none
	ask fsck.nilfs2 -n bad
	ask fsck.nilfs2 -y --undo-file undo bad
	ask fsck.nilfs2 --list-rules
	ask dump.nilfs2 set --expert bad segment:7 su_flags=error
	ask dump.nilfs2 info /dev/null
}

jobs_of_gc() {
	for job in '-n -v --compare' '-v --free 3' --compact --purge \
		--defrag '--delete-checkpoints 1..3' '--shrink=min' \
		'--grow=80M' --punch '--label x' --take-snapshot \
		'--features sufile_live_blks_ext'; do
		cp --sparse=always "$corpus/snapshots/image" volume
		[[ $job != --grow* ]] || truncate -s 80M volume
		# shellcheck disable=SC2086
		ask gc.nilfs2 -f $job volume
	done
}

others() {
	ask gcsim.nilfs2 -n 50 --segment-size 64K --curve --wear
	ask gcsim.nilfs2 --victims 5 "$corpus/nearly-full/image"
	truncate -s 160M new
	mkdir -p tree
	echo x >tree/file
	ask mkfs.nilfs2 -n -d tree new
	ask mkfs.nilfs2 -f -d tree -O sufile_live_blks_ext new
	ask dump.nilfs2 info new
}

# The members as they are described: "COMMAND: MEMBER".
described() {
	awk '/^\.SH/ { on = $2 == "MEMBERS" }
		on && /^\.SS/ { section = substr($0, 5) }
		tag && on { print section ": " substr($0, 4) }
		{ tag = $0 == ".TP" }' "$page" | sed 's/\\-/-/g' | sort -u
}

# What the page says for many at once: fields of the format, suffixes, and
# members that one command takes over from another.
general() {
	grep -ohE '\<(s|ss|sr|i|de|fi|cp|su|sh|ch|bg)_[a-z0-9_]+' \
		"$NILFS2_SOURCE"/lib/disk/ondisk*.h | sort -u >fields
	sed -E -e 's/\[[0-9]+\]//' \
		-e 's/^(gc.nilfs2: )(result|compaction|defragmentation|grow|shrink|punch|purge)(\.|$)/\1JOB\3/' \
		-e 's/^(fsck.nilfs2: )left\[\]\./\1findings[]./' \
		-e 's/^dump.nilfs2 report: check\.findings/fsck.nilfs2: findings/' \
		-e 's/^gc.nilfs2: findings/fsck.nilfs2: findings/' \
		-e 's/^dump.nilfs2 report: (superblocks|choice|features|state|geometry|latest|usage|live_counts|zones)/dump.nilfs2 info: \1/' \
		-e 's/^dump.nilfs2 report: (totals|utilization)/dump.nilfs2 segments: \1/' \
		-e 's/^[^:]*: error(\.|$)/Any command: error\1/' |
	awk 'BEGIN { while ((getline f < "fields") > 0) field[f] = 1 }
		{ last = $NF; sub(/.*\./, "", last) }
		last in field { next }
		{ base = last; sub(/(_iso|_names(\[\])*|_hex)$/, "", base) }
		base != last || (sub(/_name$/, "", base) && base in field) {
			next }
		{ print }' | sort -u
}

@test "what is printed is described, and what is described is printed" {
	{ volumes; repairs; jobs_of_gc; others; } | sort -u | general >printed
	described >said
	echo "printed and not described (<), or described and not printed (>):"
	diff printed said
}

@test "where a command fails, its document says so" {
	for command in 'mkfs.nilfs2 1' 'fsck.nilfs2,-n 8' 'gc.nilfs2 1' \
		'gcsim.nilfs2 1' 'dump.nilfs2,info 1' 'dump.nilfs2,ls 1' \
		'dump.nilfs2,report 1'; do
		read -r words status <<<"$command"
		# shellcheck disable=SC2086
		run --separate-stderr ${words//,/ } --json /dev/null
		[ "$output" ]
		echo "$words: $status: $output"
		[ "$(jq .error.status <<<"$output")" -eq "$status" ]
		[[ $stderr == *"$(jq -r .error.message <<<"$output")"* ]]
		# shellcheck disable=SC2086
		run --separate-stderr ${words//,/ } --json-lines /dev/null
		[ "$(jq -r .record <<<"$output")" = error ]
	done
	# In the middle of a document.
	cp --sparse=always "$corpus/snapshots/image" bad
	dump.nilfs2 set --expert --fix-checksums bad inode:cpfile \
		'i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 bmap --json bad cpfile
	jq -e '.error.message' <<<"$output"
}
