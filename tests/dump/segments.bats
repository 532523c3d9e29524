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
		"$(dump.nilfs2 segments -a -o $columns "$corpus/$1/image" |
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
