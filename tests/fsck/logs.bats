#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pass over logs: one field of a log wrong, the rules it breaks.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../dump/corpus
load damage

# The first segment in use has four logs, the last one a logical log that goes
# on in the segments after it.
setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	# Not where all images of another set are looked at.
	[ -e "$corpus/cleaned" ] || return 0
	image=$(copy_image cleaned)
	used=$(awk '$4 ~ /^-d/ && $5 > 0 { print $1; exit }' \
		"$corpus/cleaned/lssu")
	dump.nilfs2 logs -s "$image" "$used" | awk 'NR > 1' >logs
	mapfile -t log < <(awk '{ print $2 }' logs)
	mapfile -t nblocks < <(awk '{ print $7 }' logs)
	[ "${#log[@]}" -eq 4 ]
}

silent() {
	fsck.nilfs2 -n --data -j 3 "$corpus/$1/image"
}

@test "all that the kernel wrote is right, also after a crash" {
	each_image silent
}

@test "a summary without its checksum, whatever field it was" {
	damage_raw "log:${log[1]}" ss_create=1970-01-01T00:00:05Z
	expect log-sumsum
	damage_raw "log:${log[1]}" ss_seq=7 ss_flags=0x40 ss_next=5
	expect log-sumsum
}

@test "a wrong length is reported once, not of all that follows" {
	# By 3, which no single flipped bit explains.
	damage_raw "log:${log[1]}" "ss_nblocks=$((nblocks[1] - 3))"
	expect log-sumsum
	[ "$(fsck.nilfs2 -n "$image" | grep -c ^log-)" -eq 1 ]
}

@test "no log where one should be" {
	damage_raw "log:${log[2]}" ss_magic=0
	expect log-magic
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"log-magic: log ${log[2]}: "* ]]
}

@test "a log that ends after its segment" {
	damage_raw "log:${log[3]}" "ss_nblocks=$((nblocks[3] + 1))"
	expect log-segment
}

@test "sequence numbers" {
	damage "log:${log[1]}" ss_seq=7
	expect log-seq
	damage "log:${log[0]}" ss_seq=7
	damage "log:${log[2]}" ss_seq=7
	damage "log:${log[3]}" ss_seq=7
	expect
	for at in "${log[@]}"; do
		damage "log:$at" "ss_seq=$((used + 1))"
	done
	expect log-seq-twice
	for at in "${log[@]}"; do
		damage "log:$at" ss_seq=1000000
	done
	expect log-newer log-seq
}

@test "beginnings and ends that do not follow each other" {
	damage "log:${log[1]}" ss_flags=logend,sr
	expect log-parts
	damage "log:${log[1]}" ss_flags=logbgn,sr
	expect log-parts
	damage "log:${log[1]}" ss_flags=logbgn,logend,sr,0x40
	expect log-flags
}

@test "the next segment matters for the latest log, and is not between segments" {
	damage "log:${log[1]}" ss_next=$((128 * 1000000))
	expect
	damage "log:${log[1]}" ss_next=$((128 * 30 + 1))
	expect
	latest=$(dump.nilfs2 info -v "$image" | awk '/Log at block/ { print $NF }')
	next=$(dump.nilfs2 info -v "$image" | awk '/Next segment/ { print $NF }')
	damage "log:$latest" ss_next=$((128 * next + 1))
	expect log-next
}

@test "a checkpoint that does not exist yet" {
	damage "log:${log[1]}" ss_cno=13
	expect log-cno
}

@test "lists that do not fit the log" {
	damage "finfo:${log[1]}/0" fi_nblocks=0
	expect log-finfo
	image=$(copy_image cleaned)
	damage "finfo:${log[1]}/4" fi_nblocks=1000
	expect log-payload
	image=$(copy_image cleaned)
	sumbytes=$(dump.nilfs2 logs "$image" "$used" |
		awk '/^First block/ { at = $3 }
			/^ss_sumbytes/ && at == wanted { print $2 }' \
			wanted="${log[1]}")
	damage "log:${log[1]}" "ss_sumbytes=$((sumbytes - 8))"
	expect log-truncated
	damage "log:${log[1]}" "ss_sumbytes=$((sumbytes + 8))"
	expect log-sumbytes-unused
	image=$(copy_image cleaned)
	damage "log:${log[1]}" ss_nfinfo=4
	expect log-payload
}

@test "a count of blocks that ends inside a log" {
	damage "segment:$used" su_nblocks=$((nblocks[0] + 3))
	expect su-log-end
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"(expected $((nblocks[0] + nblocks[1])),"*" found $((nblocks[0] + 3)))"* ]]
	damage "segment:$used" su_nblocks=$((nblocks[0] + 1))
	expect su-log-end
	damage "segment:$used" su_nblocks=129
	expect su-nblocks
}

@test "a count of blocks that ends at an earlier log" {
	damage "segment:$used" "su_nblocks=$((nblocks[0] + nblocks[1]))"
	expect su-behind
}

# Sets vblock and block: of the first block of a file that was not changed.
pick_block() {
	dump.nilfs2 bmap -b "$image" /after >map
	read -r vblock block < <(awk '$NF == "data" { print $4, $5; exit }' map)
}

@test "a block that its log lists as another one" {
	pick_block
	log=$(dump.nilfs2 logs -s "$image" |
		awk 'NR > 1 && $2 <= at { from = $2 } END { print from }' \
			at="$block")
	damage "binfo:$log/$((block - log))" bi_vblocknr=1
	expect log-unlisted
	run -4 fsck.nilfs2 -n "$image"
	[[ $output == *"log-unlisted: virtual block $vblock: "*"found $block)"* ]]
}

@test "an entry of the DAT that names a summary, or a clean segment" {
	pick_block
	damage "dat:$vblock" "de_blocknr=${log[1]}"
	expect log-unlisted
	damage "dat:$vblock" de_blocknr=$((128 * 3 + 5))
	expect bmap-block-unused su-clean-holds
}

@test "a segment in use that is marked as clean" {
	damage "segment:$used" su_flags=0
	expect su-clean-holds su-clean-nblocks su-nclean su-ndirty
}

@test "a block that changed is found with --data, and its file named" {
	ino=$(awk -F '\t' '$1 == "f" && $14 == "after" { print $11 }' \
		"$corpus/cleaned/manifest")
	block=$(dump.nilfs2 bmap -b "$image" /after |
		awk '$NF == "data" { print $5; exit }')
	damage_raw "block:$block" 'byte[77]=0x5a'
	expect
	run -4 fsck.nilfs2 -n --data "$image"
	[[ $output == *"log-datasum: log "*": inodes "*"$ino"* ]]
	[ "$(grep -c ^log-datasum <<<"$output")" -eq 1 ]
	run -4 fsck.nilfs2 -n --data -j 3 "$image"
	[ "$(grep -c ^log-datasum <<<"$output")" -eq 1 ]
}

@test "the checksum of a log without live blocks is a warning" {
	image=$(copy_image snapshots)
	{
		dump.nilfs2 dat --all "$image" |
			awk '$5 ~ /^(current|snapshot)$/ { print $2 }'
		dump.nilfs2 bmap -b "$image" dat |
			awk 'NR > 1 { for (; $3-- > 0; $5++) print $5 }'
	} >used
	# A block of each log, its payload is behind a summary of one block.
	dump.nilfs2 logs -s "$image" | awk '
		NR == FNR { used[$1]; next }
		/^ / && $11 == "current" && $7 > 1 {
			for (b = $2; b < $2 + $7; b++)
				if (b in used)
					next
			print $2 + 1
		}' used - >dead
	[ -s dead ]
	while read -r block; do
		damage_raw "block:$block" 'byte[77]=0x5a' 'byte[78]=0xa5'
	done <dead
	run -0 fsck.nilfs2 -fn --data "$image"
	[ "$(grep -c ^log-datasum-dead: <<<"$output")" -eq "$(wc -l <dead)" ]
	[[ $output != *"log-datasum: "* ]]
}

@test "logs after the latest super root are not looked at" {
	image=$(copy_image crash-torn)
	expect
	end=$(dump.nilfs2 logs -s "$image" | awk '$11 == "newer" { print $2 }' |
		tail -n 1)
	damage_raw "log:$end" ss_sumbytes=9
	expect
}
