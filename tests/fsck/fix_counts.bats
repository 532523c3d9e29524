#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts rebuilt: of what segments have in use, of what lives in them.  The
# kernel's own counts, by lssu, say what they should be.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load damage

recipes=$BATS_TEST_DIRNAME/../kernel/recipes

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

rebuild() {
	fsck.nilfs2 -q --rebuild-counters "$@"
}

# Logs that only a recovery reads stand after the latest state.
is_to_be_recovered() {
	[[ $1 == crash-dsync* ]]
}

# Of the kernel's list on standard input: number, state without the mark of
# segments in writing, and the columns given; what is clean left out.
usage_lines() {
	awk -v columns="$1" '$1 ~ /^[0-9]+$/ && $4 !~ /^-*$/ {
		sub(/a/, "-", $4)
		line = $1 " " substr($4, 1, 3)
		n = split(columns, at, " ")
		for (i = 1; i <= n; i++)
			line = line " " $at[i]
		print line }'
}

# lists OPTIONS IMAGE...: the kernel's lists of their segments, in lists/1, ...
lists() {
	local options=$1

	shift
	mkdir -p lists
	guest --share lists "$@" <<-SCRIPT
	i=1
	while dev=DEV\$i; [ -n "\${!dev-}" ]; do
		nilfs_mount -o ro,norecovery "\${!dev}"
		lssu $options "\${!dev}" >"\$SHARE/\$i"
		nilfs_umount
		i=\$((i + 1))
	done
	SCRIPT
	[ "$status" -eq 0 ] && kernel_content
}

@test "there is nothing to count again in what the kernel wrote" {
	for name in $(corpus_names); do
		cp --sparse=always "$corpus/$name/image" image
		before=$(state_of image)
		if is_to_be_recovered "$name"; then
			run -8 rebuild image
			[[ $output == *"not cleanly unmounted"* ]]
		else
			run -0 rebuild image
		fi
		[ "$(state_of image)" = "$before" ]
	done
}

# Spoils the entries of six segments of $image in use: "SEGMENT STATE BLOCKS"
# on standard input.
spoil_entries() {
	local segment nblocks i=0

	while read -r segment _ nblocks && [ $i -lt 6 ]; do
		[ "$nblocks" -gt 0 ] || continue
		case $((i++ % 3)) in
		0) damage "segment:$segment" su_nblocks=1 ;;
		1) damage "segment:$segment" su_flags=0x82 ;;
		2) damage "segment:$segment" su_flags=none su_nblocks=0 ;;
		esac
	done
	damage suheader sh_ncleansegs=1 sh_last_alloc=1000000
}

@test "blocks in use and states are those of the kernel's list again" {
	local names=() number=0

	need_guest uml
	for name in $(corpus_names); do
		[[ $name == crash-* ]] && continue
		names+=("$name")
		image=$name.image
		cp --sparse=always "$corpus/$name/image" "$image"
		usage_lines 5 <"$corpus/$name/lssu" >"$name.wanted"
		spoil_entries <"$name.wanted"
		run -1 rebuild "$image"
		expect
		run -0 rebuild "$image"
	done
	lists -a "${names[@]/%/.image}"
	for name in "${names[@]}"; do
		# Where the new log went, and what of it lives, is not asked.
		number=$((number + 1))
		usage_lines 5 <"lists/$number" >got
		awk -v name="$name" '
			NR == FNR { state[$1] = $2; nblocks[$1] = $3; next }
			$2 != state[$1] || ($3 && $3 != nblocks[$1] &&
				++differ > 1) { print name ": " $0; bad = 1 }
			END { exit bad }' got "$name.wanted"
	done
}

# make_image NAME: what recipe NAME makes, on a volume of ours with live-block
# counts, in NAME.image.
make_image() (
	SIZE=64M MKFS=''
	# shellcheck disable=SC1090
	. "$recipes/$1.sh"
	truncate -s "$SIZE" "$1.image"
	# Word splitting of the recipe's options is meant.
	# shellcheck disable=SC2086
	mkfs.nilfs2 -q $MKFS -O sufile_live_blks_ext "$1.image" || exit
	{
		cat "$recipes/$1.sh"
		echo 'set -e; nilfs-tune -i 86400 "$DEV1" >/dev/null; fill'
	} | "$lab_dir/guest.sh" --timeout 120 - "$1.image" >said 2>&1 || {
		cat said
		exit 1
	}
)

# A segment that it may not clean yet the kernel's tool takes for live as a
# whole, summaries included; "SEGMENT STATE BLOCKS LIVE".
compare_live() {
	usage_lines '5 6' <"$1" | awk '$4 < $3' >wanted
	[ "$(wc -l <wanted)" -gt 0 ] || return
	dump.nilfs2 segments -o segment,state,written,su_nlive_blks "$2" |
		awk 'NR > 1 { sub(/a/, "-", $2)
			print $1, substr($2, 1, 3), $3, $4 }' >stored
	awk -v name="$2" 'NR == FNR { stored[$0] = 1; next }
		!($0 in stored) { print name ": " $0; bad = 1 }
		END { exit bad }' stored wanted
}

@test "what lives in each segment is what the kernel's cleaner takes for it" {
	local names number=0

	need_guest uml
	mapfile -t names < <(sample 3 cleaned cleaned-1k snapshots \
		many-snapshots-2k plain-checkpoints small-files)
	for name in "${names[@]}"; do
		make_image "$name"
		image=$name.image
		run --separate-stderr fsck.nilfs2 -n "$image"
		[[ $stderr == *"counts of live blocks"* ]]
		run -1 rebuild "$image"
		expect
		run --separate-stderr fsck.nilfs2 -n "$image"
		[[ $stderr != *"counts of live blocks"* ]]
		run -0 rebuild "$image"
	done
	lists '-a -l -p 0' "${names[@]/%/.image}"
	for name in "${names[@]}"; do
		number=$((number + 1))
		compare_live "lists/$number" "$name.image"
	done
}

# Blocks without references: of a file whose map was emptied.
make_leaks() {
	mkdir -p source
	head -c 3000000 /dev/urandom >source/one
	echo two >source/two
	mkfs.nilfs2 -q --size 64M -B 128 \
		-O sufile_live_blks_ext,track_live_blks -d source "$image"
	live=$(sum_live)
	damage inode:/one i_size=0 i_blocks=0 'i_bmap[0]=0' 'i_bmap[1]=0' \
		'i_bmap[2]=0' 'i_bmap[3]=0' 'i_bmap[4]=0' 'i_bmap[5]=0' \
		'i_bmap[6]=0'
}

# Of all segments, as the SUFILE has it.
sum_live() {
	dump.nilfs2 segments -o su_nlive_blks "$image" |
		awk 'NR > 1 { n += $1 } END { print n }'
}

@test "what has no references is given up, and a cleaner frees it" {
	need_guest uml
	image=leaks.image
	make_leaks
	says 'dat-leaked.*found 736)'
	run -1 fsck.nilfs2 -y "$image"
	[[ $output == *"736 virtual blocks given up"* ]]
	# What is left is the past of the checkpoint that the file was taken from.
	run -0 fsck.nilfs2 -nq "$image"
	[ -z "$output" ]
	# Data and nodes; of the log that said so some blocks more live.
	[ "$(sum_live)" -lt $((live - 736 + 10)) ]
	guest "$image" <<-'SCRIPT'
	nilfs_mount "$DEV1"
	cat "$MNT/two"
	filler 1 2000000 >"$MNT/three"
	clean "$DEV1" "$MNT"
	lssu -l -p 0 "$DEV1"
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	[[ $output == two* ]]
	# All segments together hold less than the leaks alone were.
	awk '$1 ~ /^[0-9]+$/ { n += $6 } END { exit n > 736 + 500 }' \
		<<<"$output"
}
