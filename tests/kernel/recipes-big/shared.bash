# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What all images with large blocks hold; a recipe says the block size (BLOCK)
# and how many blocks the large file has (TREE).
BACKEND=ppc64
TIMEOUT=900
SIZE=64M

# names COUNT: create empty files in the current directory, each with an entry of
# 264 bytes.
names() {
	local i name

	for ((i = 0; i < $1; i++)); do
		printf -v name '%0246d' "$i"
		: >"$name"
	done
}

# A directory whose middle block lost all its names, one whose last block has
# just one, one that is full to the last name.  The first block begins with 32
# bytes for "." and "..".  At 64 KiB a directory has one block, see README.md.
directories() {
	local first=$(((BLOCK - 32) / 264)) more=$((BLOCK / 264)) i

	mkdir "$MNT/full"
	cd "$MNT/full"
	names "$first"
	[ "$BLOCK" -lt 65536 ] || return 0
	mkdir "$MNT/emptied" "$MNT/one-over"
	cd "$MNT/emptied"
	names $((first + more + 1))
	sync
	for ((i = first + more - 1; i >= first; i--)); do
		printf '%0246d\0' "$i"
	done | xargs -0 rm
	cd "$MNT/one-over"
	names $((first + 1))
}

small_files() {
	local i

	mkdir "$MNT/many"
	for ((i = 0; i < 100; i++)); do
		echo "file $i" >"$MNT/many/name-of-entry-number-$i"
	done
	for i in 1 $((BLOCK - 1)) $BLOCK $((BLOCK + 1)) $((BLOCK * 6)) \
		 $((BLOCK * 7)); do
		noise "$i" "$i" >"$MNT/size-$i"
	done
}

sparse_files() {
	put "$MNT/direct-gap" $((4 * BLOCK)) 1 "$BLOCK"
	put "$MNT/far" 0 2 5000
	put "$MNT/far" $((5 << 30)) 3 5000
	put "$MNT/far" $((1 << 40)) 4 100
	put "$MNT/last-byte" $(((1 << 63) - 2)) 5 1
	truncate -s 10G "$MNT/all-hole"
	truncate -s 3000 "$MNT/small-hole"
	scatter "$MNT/scattered" "$BLOCK" 100000000 20 6
}

special_files() {
	mkdir "$MNT/special"
	cd "$MNT/special"
	mkfifo fifo
	mknod char c 5 1
	mknod block b 259 1048575
	perl -MSocket -e 'socket my $s, AF_UNIX, SOCK_STREAM, 0;
			  bind $s, sockaddr_un("socket") or die $!'
	ln -s short symlink-short
	ln -s "$(printf '%04000d' 1)" symlink-4000
	echo odd >$'new\nline\377'
	ln $'new\nline\377' link
	touch -d @-1.5 link
	cd /
}

fill() {
	nilfs_mount "$DEV1"
	small_files
	directories
	cd /
	sparse_files
	special_files
	noise 7 $((BLOCK * TREE)) >"$MNT/tree"
	sync
	scatter "$MNT/tree" "$BLOCK" "$TREE" $((TREE / 10)) 8
	snapshot "$DEV1"
	rm -r "$MNT"/many/*[13579] "$MNT/special" "$MNT/far"
	sync
	scatter "$MNT/tree" "$BLOCK" "$TREE" $((TREE / 10)) 9
	mkcp "$DEV1"
	truncate -s $((BLOCK * 3 / 2)) "$MNT/size-$((BLOCK * 7))"
	echo again >"$MNT/many/new"
	snapshot "$DEV1"
	rm "$MNT"/many/*[02468]
	nilfs_umount
}

verify() {
	[ "$(find . -name 'manifest.*' | wc -l)" -eq 2 ]
	[ "$(directory_blocks full)" -eq 1 ]
	[ "$BLOCK" -lt 65536 ] || return 0
	[ "$(directory_blocks emptied)" -eq 3 ]
	[ "$(directory_blocks one-over)" -eq 2 ]
}

# directory_blocks NAME
directory_blocks() {
	awk -v block="$BLOCK" -v name="$1" \
		'$NF == name { print $6 / block }' manifest
}
