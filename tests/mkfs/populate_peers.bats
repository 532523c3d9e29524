#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What others read of populated volumes: libblkid, GRUB, lssu and lscp of
# nilfs-utils, tar by way of our own reader.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

make_volumes() {
	local flags=(-q -b "$1" -B "$2" -L "size $1" -U "$uuid" --size 128M)

	mkdir "$1"
	cd "$1" || return
	make_tree rich rich "$1" "$2"
	make_tree layer layer "$1" "$2"
	make_tree flat flat "$1" "$2"
	merge_layers rich layer merged
	mkfs "${flags[@]}" -O sufile_live_blks_ext -d flat --size 128M one
	mkfs "${flags[@]}" -O sufile_live_blks_ext --snapshot=each -d rich \
		-d layer two
}

setup_file() {
	export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return
	export uuid=01234567-89ab-cdef-0123-456789abcdef
	export sizes=$(sample 1 1024 2048 4096 | paste -sd ' ')
	for size in $sizes; do
		(make_volumes $size $((262144 / size)))
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

tag() {
	blkid -p -o value -s "$1" "$2"
}

@test "blkid sees type, label and UUID" {
	need blkid
	for image in */one */two; do
		[ "$(tag TYPE "$image")" = nilfs2 ]
		[ "$(tag LABEL "$image")" = "size ${image%/*}" ]
		[ "$(tag UUID "$image")" = $uuid ]
	done
}

# grub_reads IMAGE PATH DIR: GRUB finds all of the host's DIR below PATH, and
# its bytes.  It knows no holes in a B-tree.
grub_reads() {
	echo "$1 $2"
	grub-fstest "$PWD/$1" cmp "(loop0)$2" "$PWD/$3$2"
}

@test "GRUB reads every file that has no holes" {
	need grub-fstest
	for size in $sizes; do
		for dir in d00 d01 d02 d03 d04 d05; do
			grub_reads $size/one /$dir $size/flat
		done
		for dir in sizes large modes names links/one links/other; do
			grub_reads $size/two /$dir $size/merged
		done
		grub_reads $size/two /new/directory $size/merged
	done
}

# exported IMAGE TREE [OPTION...]: what dump.nilfs2 export makes of an image is
# its source, times and holes included.
exported() {
	echo "$*"
	dump.nilfs2 export -q "${@:3}" "$1" out
	manifest out >got
	[ -e "$2.manifest" ] || manifest "$2" >"$2.manifest"
	diff <(manifest --drop "$own,ctime" - <got | wanted -t) \
		<(manifest --drop "$own" - <"$2.manifest" | wanted -t)
	diff <(manifest --drop portable - <got) \
		<(manifest --drop portable - <"$2.manifest")
	rm -rf out
}

@test "export gives the source back, from each layer" {
	for size in $sizes; do
		exported $size/one $size/flat
		exported $size/two $size/merged
		exported $size/two $size/merged -c 2
		exported $size/two $size/rich -c 1
	done
}

@test "tar finds no difference between the tree and an exported stream" {
	for size in $sizes; do
		dump.nilfs2 export -q $size/one - >stream
		tar -C $size/flat -df stream
		dump.nilfs2 export -q -c 1 $size/two - /names >stream
		tar -C $size/rich/names -df stream
	done
}

# The guests mount what no kernel has written to.
look() {
	guest --share "$BATS_TEST_TMPDIR" $images <<-'EOF'
	set -e
	for i in 1 2 3 4 5 6; do
		device=DEV$i
		[ -n "${!device-}" ] || break
		nilfs_mount -o ro,norecovery "${!device}"
		lssu -a -l -p 0 "${!device}" >"$SHARE/lssu$i"
		lscp -a "${!device}" >"$SHARE/lscp$i"
		df --output=iused "$MNT" | tail -1 >"$SHARE/df$i"
		find "$MNT" -printf '%i %b\n' | sort -u >"$SHARE/find$i"
		nilfs_umount
	done
	EOF
	echo "$output$errors"
	[ "$status" -eq 0 ] || return
	kernel_content
}

# Live blocks as lssu -l counts them, of segments that are not protected: it
# does not count those of others.
lssu_live() {
	sed 's/([^)]*)//' "$1" |
		awk 'NR > 1 && $4 !~ /p$/ && $4 !~ /---/ { print $1, $NF }' |
		sort
}

# stored COLUMN... of an image's segments, added up.
stored() {
	local IFS=,

	dump.nilfs2 segments -a -o "segment,${*:2}" "$1" |
		awk 'NR > 1 { for (i = 3; i <= NF; i++) $2 += $i
			      print $1, $2 }' | sort
}

# As lssu, Rohner's cleaner takes what snapshots hold for live.
counts_agree() {
	local i=$1 image=$2

	lssu_live "$BATS_TEST_TMPDIR/lssu$i" >live
	diff live <(stored "$image" live snapshot | join - <(cut -d' ' -f1 live))
	diff <(stored "$image" live snapshot) <(stored "$image" su_nlive_blks)
	diff <(stored "$image" snapshot) <(stored "$image" su_nsnapshot_blks)
	[ "$(wc -l <live)" -gt 20 ]
}

# blocks_of_ifile IMAGE: with its nodes, in blocks.
blocks_of_ifile() {
	dump.nilfs2 bmap -s --json "$1" ifile |
		perl -ne '/"(data|node)_blocks": (\d+)/ and $n += $2;
			  END { print $n }'
}

# A checkpoint counts the inodes and the blocks of all that users see, and its
# own ifile.
checkpoint_agrees() {
	local i=$1 image=$2 size=${2%/*} inodes blocks

	inodes=$(wc -l <"$BATS_TEST_TMPDIR/find$i")
	blocks=$(awk '{ n += $2 } END { print n }' "$BATS_TEST_TMPDIR/find$i")
	blocks=$((blocks * 512 / size + $(blocks_of_ifile "$image")))
	[ "$(tail -1 "$BATS_TEST_TMPDIR/lscp$i" |
		awk '{ print $(NF - 1), $NF }')" = "$blocks $inodes" ] || return
	[ "$(cat "$BATS_TEST_TMPDIR/df$i")" -eq "$inodes" ]
}

@test "lssu -l, lscp and df count what our fields say" {
	need_guest uml
	images=$(printf '%s/one ' $sizes; printf '%s/two ' $sizes)
	look
	i=0
	for image in $images; do
		i=$((i + 1))
		echo "$image"
		counts_agree $i $image
		checkpoint_agrees $i $image
	done
}

# As many as hold data, and as few nodes above them as can be.
@test "i_blocks is the data and the nodes of each file" {
	for size in $sizes; do
		dump.nilfs2 ls -lR --json-lines $size/one >files
		perl -e '
			my $b = shift;
			my $n = ($b - 16) / 16;
			my $wrong = 0;
			while (<>) {
				next if !/"type":"file"/ || /holes/;
				my ($size) = /"size":(\d+)/;
				my ($blocks) = /"blocks":(\d+)/;
				my $want = my $level = int(($size + $b - 1) / $b);
				# A root in the inode holds up to 3 nodes.
				if ($level > 6) {
					do {
						$level = int(($level + $n - 1) / $n);
						$want += $level;
					} while ($level > 3);
				}
				next if $blocks == $want * $b / 512;
				print "$blocks, not $want * $b / 512: $_";
				$wrong = 1;
			}
			exit $wrong' $size files
	done
}
