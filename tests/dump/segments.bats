#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 segments, against lssu of the same image under the kernel.

load ../kernel/lab
load corpus
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# lssu's "SEGNUM DATE TIME STAT NBLOCKS" without what depends on the format.
lssu_lines() {
	awk 'NR > 1 { sub(/^-.*/, "-", $2); print $1, $2, $3, $4, $5 }' "$1" |
		sed 's/ - --:--:-- / - /'
}

usage_equals_lssu() {
	local columns=segment,modified,state,written

	same "$(lssu_lines "$corpus/$1/lssu")" \
		"$(dump.nilfs2 segments -a --utc -o $columns "$corpus/$1/image" |
		sed 's/ +0000 / /' |
		awk 'NR > 1 { $(NF - 1) = substr($(NF - 1), 1, 3); print }')"
}

@test "states, times and blocks are those of lssu -a" {
	each_image usage_equals_lssu
}

only_used_by_default() {
	same "$(awk 'NR > 1 && !/ --- / { print $1 }' "$corpus/$1/lssu")" \
		"$(dump.nilfs2 segments -o segment "$corpus/$1/image" |
		awk 'NR > 1 { print $1 }')"
}

@test "without -a only segments in use are listed" {
	each_image only_used_by_default
}

# lssu -l of segments that are not protected: it does not count the live
# blocks of those that are.
unprotected() {
	sed 's/([^)]*)//' "$corpus/$1/lssu-l" |
		awk 'NR > 1 && $4 !~ /p$/ { print $1, $NF }' | sort
}

live_equals_lssu() {
	same "$(unprotected "$1")" \
		"$(dump.nilfs2 segments -a -o segment,live,snapshot \
			"$corpus/$1/image" |
		awk 'NR > 1 { print $1, $2 + $3 }' | sort |
		join - <(unprotected "$1" | cut -d' ' -f1))"
}

@test "live blocks are those of lssu -l -p 0" {
	each_image live_equals_lssu
}

# Right after a mount the kernel protects less where the second superblock is
# the newer one, never more.
protects_as_kernel() {
	local kernel ours newer

	kernel=$(awk '/[ad-][d-][e-]p / { print $1 }' "$corpus/$1/lssu-l" |
		sort)
	ours=$(dump.nilfs2 segments -o segment --state protected \
		"$corpus/$1/image" | awk 'NR > 1 { print $1 }' | sort)
	[ -z "$(comm -23 <(echo "$kernel") <(echo "$ours"))" ] || return 1
	newer=$(newer_superblock "$corpus/$1/image")
	[ "$newer" -eq 2 ] || same "$kernel" "$ours"
}

# 1 or 2, by s_last_cno at byte 56 of both copies.
newer_superblock() {
	local size first second

	size=$(stat -c %s "$1")
	first=$(last_cno "$1" 1024)
	second=$(last_cno "$1" $((size / 4096 * 4096 - 4096)))
	echo $((second > first ? 2 : 1))
}

last_cno() {
	od -An -tu8 -j $(($2 + 56)) -N 8 "$1" | tr -d ' '
}

@test "protected segments are those of lssu -l" {
	each_image protects_as_kernel
}

# The sequence number of the first log, as dumpseg prints it, which looks into
# the active segment that is still empty as well.
sequence_equals_dumpseg() {
	local ours

	ours=$(dump.nilfs2 segments -o segment,sequence "$corpus/$1/image" |
		awk 'NR > 1 && $2 != "-" { print $1, $2 }' | sort)
	same "$(awk '/^segment:/ { segment = $NF }
		/^  sequence number = / { print segment, $4 + 0 }' \
		"$corpus/$1/dumpseg" | sort |
		join - <(cut -d' ' -f1 <<<"$ours"))" "$ours"
}

@test "sequence numbers are those of dumpseg" {
	each_image sequence_equals_dumpseg
}

# Where nothing was truncated and no snapshot holds what is gone, the newest
# place of each block of a file that dumpseg prints is the live one.
data_by_segment() {
	local bsize

	bsize=$(sed 's/bsize=\([0-9]*\).*/\1/' "$corpus/$1/statfs")
	awk -v bsize="$bsize" '
	FILENAME ~ /manifest$/ { split($0, f, "\t"); size[f[11]] = f[6]; next }
	/^segment:/ { segment = $NF }
	/^ *ino = / { ino = $3 + 0 }
	/vblocknr = .*blkoff = / && !(ino >= 3 && ino <= 6) {
		match($0, /blkoff = [0-9]+/)
		at[ino, substr($0, RSTART + 9, RLENGTH - 9)] = segment
	}
	END {
		for (block in at) {
			split(block, key, SUBSEP)
			if (key[1] in size && key[2] * bsize < size[key[1]])
				count[at[block]]++
		}
		for (segment in count)
			print segment, count[segment]
	}' "$corpus/$1/manifest" "$corpus/$1/dumpseg" | sort
}

@test "file contents are distinguished from metadata" {
	for name in deep-1k nearly-full plain-checkpoints small-files \
		special; do
		echo "image $name:"
		same "$(data_by_segment $name)" \
			"$(dump.nilfs2 segments -o segment,data \
				"$corpus/$name/image" |
			awk 'NR > 1 && $2 > 0 { print $1, $2 }' | sort)"
	done
}

@test "a protection period keeps what lssu -l -p keeps" {
	need_guest uml
	names=(snapshots plain-checkpoints)
	guest "$(copy_image "${names[0]}")" "$(copy_image "${names[1]}")" <<-'EOF'
	for device in "$DEV1" "$DEV2"; do
		nilfs_mount -o ro,norecovery "$device"
		lssu -a -l -p 100000000 "$device"
		nilfs_umount
	done
	EOF
	[ "$status" -eq 0 ]
	for i in 0 1; do
		name=${names[i]}
		same "$(sed 's/([^)]*)//' <<<"$output" | awk -v i=$i '
			/SEGNUM/ { n++; next }
			n == i + 1 { print $1, $NF }' | sort |
			join - <(unprotected $name | cut -d' ' -f1))" \
			"$(dump.nilfs2 segments -a -p 100000000 \
				-o segment,live,snapshot,recent \
				"$corpus/$name/image" |
			awk 'NR > 1 { print $1, $2 + $3 + $4 }' | sort |
			join - <(unprotected $name | cut -d' ' -f1))"
		[ "$(dump.nilfs2 segments -p 100000000 -o recent \
			"$corpus/$name/image" |
			awk '{ sum += $1 } END { print sum }')" -gt 0 ]
	done
}

# rows [OPTION...]: of the snapshots image, without the heads.
rows() {
	dump.nilfs2 segments "$@" "$corpus/snapshots/image" | awk 'NR > 1'
}

@test "sorting, filters and limits choose among the same rows" {
	all=$(rows -a -o segment,dead)
	same "$(sort -k2,2nr -k1,1nr <<<"$all" | head -n 5)" \
		"$(rows -a -o segment,dead -s dead -r -n 5)"
	same "$(sort -k2,2n -k1,1n <<<"$all")" \
		"$(rows -a -o segment,dead -s dead)"
	same "$(awk '$2 * 2 >= 64' <<<"$all")" \
		"$(rows -o segment,dead --min-dead 50)"
	same "$(rows -o segment,state | awk '/^ *[0-9]+ +a/')" \
		"$(rows -o segment,state --state active)"
	same "$(awk '$1 > 2 && $1 <= 5' <<<"$all")" \
		"$(dump.nilfs2 segments -o segment,dead \
			"$corpus/snapshots/image" 3..5 | awk 'NR > 1')"
	[ "$(rows -o segment --state clean | wc -l)" -eq 241 ]
}

@test "totals and histogram are sums over the rows" {
	run -0 dump.nilfs2 segments --json --totals --histogram -o live,dead \
		"$corpus/snapshots/image"
	live=$(rows -o live | awk '{ sum += $1 } END { print sum }')
	dead=$(rows -o dead | awk '{ sum += $1 } END { print sum }')
	[[ $output == *"\"live\": $live,"*"\"dead\": $dead,"* ]]
	used=$(rows -o segment | wc -l)
	[ "$(grep -o '"count":[0-9]*' <<<"$output" | cut -d: -f2 |
		awk '{ sum += $1 } END { print sum }')" -eq "$used" ]
	all=$(rows -a -o segment | wc -l)
	[[ $output == *"\"segments\": $all,"*"\"clean_segments\": $((all - used)),"* ]]
}

@test "bad columns, states and ranges are usage errors that say so" {
	image=$corpus/empty/image
	run -2 dump.nilfs2 segments -o live,nope "$image"
	[[ $output == *"'nope' is not a column; valid are segment, state"* ]]
	run -2 dump.nilfs2 segments -s nope "$image"
	run -2 dump.nilfs2 segments --state nope "$image"
	[[ $output == *"none of active, dirty"* ]]
	run -2 dump.nilfs2 segments "$image" 1-2
	run -2 dump.nilfs2 segments "$image" 2..1
	[[ $output == *"ends before it begins"* ]]
}

@test "a segment without its first log is named, the others are listed" {
	image=$(copy_image snapshots)
	dd if=/dev/zero of="$image" bs=4096 seek=$((5 * 64)) count=1 \
		conv=notrunc status=none
	run -1 --separate-stderr dump.nilfs2 segments -o segment,sequence \
		"$image"
	[[ $stderr == *"segment 5: does not begin with a log"* ]]
	same "$(rows -o segment,sequence | awk '{ print $1,
		$1 == 5 ? "-" : $2 }')" \
		"$(awk 'NR > 1 { print $1, $2 }' <<<"$output")"
}

@test "an erroneous segment is one for lssu too" {
	need_guest uml
	# The second block of the SUFILE begins with segment 62; few logs have
	# it, so that its last copy is not under a checksum that a mount looks
	# at.  Segment 70 becomes dirty and erroneous.
	image=$(copy_image nearly-full)
	block=$(awk '/^ *ino = / { ino = $3 + 0 }
		ino == 5 && /blkoff = 1,/ { print $NF }' \
		"$corpus/nearly-full/dumpseg" | tail -n 1)
	printf '\6' | dd of="$image" bs=1 conv=notrunc status=none \
		seek=$((block * 1024 + (70 - 62) * 16 + 12))
	guest "$image" <<-'EOF'
	nilfs_mount -o ro,norecovery "$DEV1"
	lssu -a "$DEV1"
	nilfs_umount
	EOF
	[ "$(awk '$1 == 70 { print $4 }' <<<"$output")" = -de ]
	[ "$(dump.nilfs2 segments -o state "$image" 70 | tail -n 1)" = -de- ]
	[ "$(dump.nilfs2 segments -o segment --state error "$image" |
		awk 'NR > 1 { print $1 }')" = 70 ]
	dump.nilfs2 map --json "$image" |
		grep -q '"first":70,"last":70,"class":"error"'
}

@test "a broken DAT leaves what can be known without it" {
	image=$(copy_image deep-1k)
	# The nodes that the last segment but one has.  Damage to the last log
	# would lead to an older state instead.
	nodes=$(awk '/^segment:/ { segment = $NF }
		/^ *ino = / { ino = $3 + 0 }
		ino == 3 && /level = 1,/ { at[$3] = segment " " $NF }
		END { for (i in at) print at[i] }' \
		"$corpus/deep-1k/dumpseg" | sort -n)
	segment=$(cut -d' ' -f1 <<<"$nodes" | uniq | tail -n 2 | head -n 1)
	for node in $(grep "^$segment " <<<"$nodes" | cut -d' ' -f2); do
		dd if=/dev/zero of="$image" bs=1024 seek="$node" count=1 \
			conv=notrunc status=none
	done
	run -1 --separate-stderr dump.nilfs2 segments -o segment,written,live \
		--totals --histogram "$image"
	[[ $stderr == "dump.nilfs2: inode 3: "*"block "* ]]
	same "$(awk 'NR > 1 && !/ --- / { print $1, $5, "-" }' \
		"$corpus/deep-1k/lssu")" \
		"$(awk 'NR > 1 && NF == 3 && $3 == "-" { print $1, $2, $3 }' \
		<<<"$output")"
	[[ $output != *"Live:"* ]]
	run -1 --separate-stderr dump.nilfs2 map --json "$image"
	[[ $output == *'"class":"unknown"'* && ${lines[-1]} == "}" ]]
	run -1 --separate-stderr dump.nilfs2 checkpoints -a "$image"
	[ "${#lines[@]}" -eq "$(awk 'END { print NR }' "$corpus/deep-1k/lscp")" ]
	[ "$(grep -c . <<<"$stderr")" -eq 1 ]
}
