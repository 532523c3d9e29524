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
	gojq -r --arg command "$1" '
		[paths as $p | {p: $p, array: (getpath($p) | type == "array")}] |
		.[] | (reduce .p[] as $k (""; if ($k | type) == "number"
			then . + "[]" else . + "." + $k end) | ltrimstr("."))
		+ (if .array then "[]" else "" end) | "\($command): \(.)"'
}

# types COMMAND: "COMMAND: MEMBER TYPE" for each that is not null.
types() {
	gojq -r --arg command "$1" '
		[paths as $p | select(getpath($p) != null) |
			{p: $p, type: (getpath($p) | type)}] |
		.[] | (reduce .p[] as $k (""; if ($k | type) == "number"
			then . + "[]" else . + "." + $k end) | ltrimstr("."))
		+ " " + .type | "\($command): \(.)"'
}

# ask COMMAND... : the members of what it prints, by the name of the command; their
# types are added to the file "types".
ask() {
	local name=$1

	[ "$1" != dump.nilfs2 ] || name="$1 $2"
	"$@" --json 2>>errors | tee document | members "$name" || true
	types "$name" <document >>types
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
		ask dump.nilfs2 history "$image" /types/zero
		ask dump.nilfs2 history "$image" /
		ask dump.nilfs2 find --all "$image"
		ask dump.nilfs2 find --deleted "$image"
		ask dump.nilfs2 find --inodes "$image"
		ask dump.nilfs2 du --shared "$image"
		ask dump.nilfs2 du --free .. "$image"
		ask fsck.nilfs2 -n "$image"
	done
}

repairs() {
	cp --sparse=always "$corpus/snapshots/image" bad
	put_noise bad $((300 * 4096)) $((40 * 4096))
	ask fsck.nilfs2 -n --data bad
	ask fsck.nilfs2 -y --undo-file undo bad
	cp --sparse=always "$corpus/snapshots/image" short
	truncate -s 8M short
	ask fsck.nilfs2 -n short
	ask dump.nilfs2 info short
	ask fsck.nilfs2 --list-rules
	ask dump.nilfs2 image bad meta
	ask dump.nilfs2 set --expert bad segment:7 su_flags=error
	ask dump.nilfs2 info /dev/null
	ask dump.nilfs2 export --each-snapshot "$corpus/snapshots/image" layers
}

jobs_of_gc() {
	for job in '-n -v --compare' '-v --free 3' --compact --purge \
		--defrag '--delete-checkpoints 1..3' '--shrink=min' \
		'--grow=80M' --punch '--label x' --take-snapshot \
		'-v --keep last=2 --keep-state record' \
		'--features sufile_live_blks_ext'; do
		cp --sparse=always "$corpus/snapshots/image" volume
		[[ $job != --grow* ]] || truncate -s 80M volume
		# shellcheck disable=SC2086
		ask gc.nilfs2 -f $job volume
	done
}

# What gc.nilfs2 prints of a mounted volume, and of the service for it.
mounted() {
	local document

	cp --sparse=always "$corpus/cleaned/image" volume
	guest --backend "$(guest_with gc.nilfs2)" --share "$PWD" volume <<-EOF
		PATH=$NILFS2_BUILD/gc:\$PATH
		nilfs_mount \$DEV1
		gc.nilfs2 --json --protect 0 \$MNT >\$SHARE/live1
		gc.nilfs2 --watch --low 1% --high 2% \$MNT &
		sleep 1
		gc.nilfs2 --json --status \$MNT >\$SHARE/live2
		kill \$!
		wait
		nilfs_umount
	EOF
	for document in live1 live2; do
		members gc.nilfs2 <$document
		types gc.nilfs2 <$document >>types
	done
}

others() {
	ask gcsim.nilfs2 -n 50 --segment-size 64K --curve --wear
	ask gcsim.nilfs2 --victims 5 "$corpus/nearly-full/image"
	printf '0,write,0,4096,%s\n' a b >trace
	ask gcsim.nilfs2 -t trace --volume each
	ask gcsim.nilfs2 -n 50 --segment-size 64K --sweep fill=50,60 --seeds 2
	ask gcsim.nilfs2 --emit
	ask gcsim.nilfs2 --list
	truncate -s 160M new
	mkdir -p tree
	echo x >tree/file
	ask mkfs.nilfs2 -n --redundant -d tree new
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
		-e '/^dump.nilfs2 find: files\[\]\.((last_)?checkpoint|whole_bytes)$/!s/^dump.nilfs2 find: files/dump.nilfs2 ls: files/' \
		-e 's/^dump.nilfs2 report: (totals|utilization)/dump.nilfs2 segments: \1/' \
		-e '/^gcsim.nilfs2: means\[\]\.(runs|write_)/!s/^(gcsim.nilfs2: )(totals|means)\[\]\./\1runs[]./' \
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
	need_guest "$(guest_with gc.nilfs2)"
	{ volumes; repairs; jobs_of_gc; mounted; others; } | sort -u | general >printed
	described >said
	echo "printed and not described (<), or described and not printed (>):"
	diff printed said
	# A member has the same type everywhere, or is null.
	sort -u types | awk '{ name = $0; sub(/ [a-z]*$/, "", name) }
		name == last { print name, "has several types"; bad = 1 }
		{ last = name } END { exit bad }'
}

# commands: all that take an image, each with the status of a failure and what it
# needs besides.
commands() {
	local name

	echo '1 mkfs.nilfs2 - -B 16'
	for mode in -n -a -p -y '-y --rebuild' --quick --rollback=1 \
		--rebuild-counters '--undo undo'; do
		echo "8 fsck.nilfs2 - $mode"
	done
	for job in -n --compact --shrink --grow --punch --purge --compare \
		'--defrag all' '--output copy' '--label x' --take-snapshot \
		'--to-snapshot 1' '--to-checkpoint 1' '-O ^track_live_blks' \
		'--delete-checkpoints 1'; do
		echo "1 gc.nilfs2 - $job"
	done
	echo '1 gcsim.nilfs2 -'
	dump.nilfs2 --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
	while read -r name; do
		case $name in
		help) ;;
		inode | bmap | cat | history) echo "1 dump.nilfs2 $name /" ;;
		dat | block) echo "1 dump.nilfs2 $name 1" ;;
		diff) echo "1 dump.nilfs2 $name 1 2" ;;
		image) echo "1 dump.nilfs2 $name meta" ;;
		export) echo "1 dump.nilfs2 $name exported" ;;
		mount) echo "1 dump.nilfs2 $name directory" ;;
		set) echo "1 dump.nilfs2 $name super:1 s_errors=1 --expert" ;;
		*) echo "1 dump.nilfs2 $name" ;;
		esac
	done
}

# fails STATUS IMAGE TOOL COMMAND|- ARGUMENT... : with a document that says so, the
# same on standard error, and for one image in the other format as well.
fails() {
	local status=$1 image=$2 words=("$3")

	[ "$4" = - ] || words+=("$4")
	words+=(--json "$image" "${@:5}")
	run --separate-stderr "${words[@]}"
	if [ "$(gojq .error.status <<<"$output")" = "$status" ] &&
		[[ $stderr == *"$(gojq -r .error.message <<<"$output")"* ]]; then
		[ "$image" = missing ] || return 0
		words=("${words[@]/#--json/--json-lines}")
		run --separate-stderr "${words[@]}"
		[ "$(gojq -r 'select(.record == "error").status' \
			<<<"$output")" != "$status" ] || return 0
	fi
	echo "${words[*]}: $output $stderr"
	return 1
}

@test "where a command cannot open its image, its document says so" {
	local status words

	mkdir directory
	echo 'no volume' >text
	truncate -s 64M zeros
	commands >list
	[ "$(wc -l <list)" -gt 38 ]
	while read -r status words; do
		for image in /dev/null missing directory text zeros; do
			# Images are made, a simulation needs none.
			case "$words:$image" in
			mkfs*:zeros) continue ;;
			# A volume with damage, not a failure.
			fsck*:zeros | fsck*:text) continue ;;
			gc*:zeros | gc*:text | *set*:zeros) continue ;;
			esac
			# shellcheck disable=SC2086
			fails "$status" "$image" $words
		done
	done <list
}

@test "where a command fails later, its document says so" {
	# In the middle of a document.
	cp --sparse=always "$corpus/snapshots/image" bad
	dump.nilfs2 set --expert --fix-checksums bad inode:cpfile \
		'i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 bmap --json bad cpfile
	gojq -e '.error.message' <<<"$output"
}
