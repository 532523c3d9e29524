# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Cleaning: a volume whose first half is dead, compacted in place and into a new
# image, beside programs that move as many bytes; and what the daemon frees on
# an aged volume, freed by gc.nilfs2.
#
#	BENCH_LIVE	bytes of the tree that lives (1400000000)
#	BENCH_CASES	some of place new daemon
#	BENCH_DISK	a directory on the disk that is to be measured

# gc_tree: part of the large tree, as hard links, and as many bytes of garbage.
gc_tree() {
	local source bytes=${BENCH_LIVE:-1400000000} blocks

	source=$("$here/trees.sh" real)
	mkdir "$tree" "$tree/live" "$tree/garbage" "$tree/emptied"
	find "$source" -xdev -type f -printf '%s %P\n' | LC_ALL=C sort -k 2 |
	awk -v bytes="$bytes" '(n += $1) <= bytes { sub(/^[0-9]+ /, ""); print }' |
	(cd "$source" && cpio --quiet -pdl "$tree/live")
	blocks=$(du -s -B 4096 "$tree/live" | cut -f 1)
	head -c $((blocks * 4096)) /dev/urandom >"$tree/garbage/0"
	: >"$tree/emptied/0"
}

# What was written first is dead: the same in NILFS2 and in ext4.
gc_images() {
	mkdir "$scratch/gc"
	"$mkfs" -q --size +64M -d "$tree/garbage" -d "$tree/emptied" \
		-d "$tree/live" "$scratch/gc/nilfs2"
	have mke2fs debugfs resize2fs || return 0
	truncate -s "$(stat -c %s "$scratch/gc/nilfs2")" "$scratch/gc/ext4"
	mke2fs -q -F -t ext4 -N 200000 -m 0 -d "$tree/garbage" \
		"$scratch/gc/ext4"
	fill_ext4 "$scratch/gc/ext4"
	debugfs -w -R 'rm 0' "$scratch/gc/ext4" 2>/dev/null
	e2fsck -fy "$scratch/gc/ext4" >/dev/null || [ $? -le 1 ]
}

# fill_ext4 IMAGE: adds what lives, after what is there.
fill_ext4() {
	(cd "$tree/live" && find . -mindepth 1 -type d | LC_ALL=C sort |
		sed 's/^\.\(.*\)/mkdir "\1"/'
	 find "$tree/live" -type f -printf 'write "%p" "/%P"\n' |
		LC_ALL=C sort) | debugfs -w -f - "$1" >/dev/null 2>&1
}

gc_place() {
	local copy=$scratch/gc/copy live skip part commands

	live=$("$dump" segments --json-lines "$scratch/gc/nilfs2" |
		sed -n 's/.*"live":\([0-9]*\),.*/\1/p' |
		awk '{ n += $1 } END { printf "%.0f", n / 256 }')
	skip=$(($(stat -c %s "$scratch/gc/nilfs2") / 1048576 - live))
	part="skip=$skip count=$live conv=notrunc status=none"
	commands=(
		"ours, --compact=$gc -q --compact --protect 0 $copy.nilfs2"
		"ours, 1 thread=$gc -q -j 1 --compact --protect 0 $copy.nilfs2"
		"ours, and --shrink=$gc -q --compact --shrink --protect 0 $copy.nilfs2"
		"limit: dd in place=dd if=$copy.nilfs2 of=$copy.nilfs2 bs=1M $part"
	)
	[ ! -e "$scratch/gc/ext4" ] ||
		commands+=("resize2fs -M=resize2fs -fM $copy.ext4")
	title "$live MiB that live after as much garbage, compacted in place"
	interleave 5 -s 60 -r "limit: dd in place" \
		-b "for i in nilfs2 ext4; do [ ! -e $scratch/gc/\$i ] ||
			cp --sparse=never $scratch/gc/\$i $copy.\$i; done" \
		"${commands[@]}"
	rm -f "$copy".*
}

gc_new() {
	local to=$disk/new commands
	local direct="bs=4M oflag=direct status=none"

	commands=(
		"ours, --output=$gc -q --protect 0 --output $to $scratch/gc/nilfs2"
		"limit: copy, direct=dd if=$tree/direct of=$to $direct"
	)
	[ ! -e "$scratch/gc/ext4" ] ||
		commands+=("e2image -ra=e2image -ra $scratch/gc/ext4 $to")
	tar -C "$tree/live" -cf "$scratch/gc/direct" .
	truncate -s %4M "$scratch/gc/direct"
	ln -s "$scratch/gc/direct" "$tree/direct"
	title "the same into a new image, on the disk"
	interleave 5 -s 60 -r "limit: copy, direct" -b "rm -f $to; sync" \
		"${commands[@]}"
	rm -f "$to"
}

gc_daemon() {
	image_needed
	cp --sparse=always "$image" "$scratch/gc.daemon"
	cp --sparse=always "$image" "$scratch/gc.ours"
	title "what nilfs_cleanerd frees on an aged volume, in the guest"
	"$guest" --mem 1G --timeout 900 "$here/guest-gc.sh" \
		"$scratch/gc.daemon" "$scratch/gc.ours" -- "$build"
	rm -f "$scratch"/gc.*
}

bench_gc() {
	local disk tree case gc=$build/gc/gc.nilfs2
	local cases=${BENCH_CASES:-place new daemon}

	disk=${BENCH_DISK:-$(dirname "$("$here/trees.sh" real)")}
	disk=$(mktemp -d "$disk/nilfs2-bench.XXXXXX")
	tree=$disk.tree
	# shellcheck disable=SC2064
	trap "rm -rf '$scratch' '$disk' '$disk.tree'" EXIT
	case $cases in
	*place* | *new*)
		gc_tree
		gc_images
		;;
	esac
	for case in $cases; do
		"gc_$case"
	done
	rm -rf "$tree" "$disk"
}
