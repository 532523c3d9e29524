#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# mkfs.nilfs2 --sparse: blocks of zeros become holes; contents do not change.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir tree
	head -c 1000 /dev/zero >tree/small
	head -c 3000000 /dev/zero >tree/zeros
	head -c 3000000 /dev/urandom >tree/data
	echo end >>tree/zeros-and-end
	{
		head -c 4095 /dev/zero
		echo
		head -c 8192 /dev/zero
		head -c 2500000 /dev/urandom
		head -c 100000 /dev/zero
		echo x
	} >tree/both
	truncate -s 50000 tree/holes
	echo 1 >>tree/holes
	cp tree/both tree/held
	truncate -s +100000 tree/held
}

# blocks FILE BYTES: how many blocks of that size of FILE are not zeros.
blocks() {
	perl -e 'open my $f, "<", shift or die; my $n = 0;
		while (read $f, my $b, $ARGV[0]) { $n++ if $b =~ /[^\0]/ }
		print $n' "$1" "$2"
}

# sparse SIZE ARGUMENT...: files are as they were, with no block of zeros.
sparse() {
	local size=$1 file

	shift
	rm -f image
	mkfs -q -b "$size" -B 64 --size 16M --sparse "$@" image
	fsck.nilfs2 -n image >checked || { cat checked; return 1; }
	for file in small zeros data zeros-and-end both holes held; do
		echo "$file"
		dump.nilfs2 cat image /$file | cmp - tree/$file
		[ "$(dump.nilfs2 bmap -s image /$file |
			awk '/^Data blocks:/ { print $NF }')" -eq \
			"$(blocks tree/$file "$size")" ]
	done
}

@test "of files" {
	sparse 4096 -d tree
	sparse 1024 -d tree -j 3
}

@test "of members, which may wait in a file" {
	tar cf tree.tar -C tree .
	tar --format=posix -Scf sparse.tar -C tree .
	need_archives tree.tar
	sparse 4096 -d tree.tar
	sparse 1024 -d tree.tar -j 3
	sparse 4096 -d sparse.tar
	TMPDIR=$PWD/missing run -1 mkfs -f -B 64 --sparse -d tree.tar image
	[[ $output == *"missing: opening a temporary file"* ]]
}

@test "a dry run finds them, too" {
	need gojq
	for source in tree tree.tar; do
		tar cf tree.tar -C tree .
		[ "$source" = tree ] || need_archives tree.tar
		mkfs -n --json --size 32M -B 64 --sparse -d $source none |
			gojq .content.written_bytes >dry
		mkfs -f --json --size 32M -B 64 --sparse -d $source image |
			gojq .content.written_bytes >wet
		diff dry wet
	done
}

@test "without it zeros are data" {
	mkfs -q -B 64 --size 16M -d tree image
	run -0 dump.nilfs2 bmap -s image /zeros
	[[ $output == *"Data blocks:"*733* ]]
}
