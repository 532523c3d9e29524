#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 set: its changes as others see them.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image special)
	original=$corpus/special/image
}

set_field() {
	dump.nilfs2 set --expert "$@"
}

# Bytes that differ from the original image.
changed_bytes() {
	cmp -l "$image" "$original" | wc -l
}

@test "without --expert nothing is changed" {
	run -1 dump.nilfs2 set "$image" super:1 s_volume_name=x
	[[ $output == *"needs --expert"* ]]
	cmp "$image" "$original"
}

@test "blkid sees a label under a fixed checksum" {
	set_field --fix-checksums "$image" super:1 s_volume_name=marmalade
	set_field --fix-checksums "$image" super:2 s_volume_name=marmalade
	[ "$(blkid -p -s LABEL -o value "$image")" = marmalade ]
	dump.nilfs2 logs -s "$image"
}

@test "blkid rejects superblocks whose checksums were left" {
	set_field "$image" super:1 s_volume_name=marmalade
	set_field --keep-checksums "$image" super:2 s_volume_name=marmalade
	run -2 blkid -p "$image"
}

@test "the kernel mounts a volume whose fields were changed with checksums" {
	need_guest uml
	ino=$(awk -F '\t' '$1 == "f" && $14 ~ /^links\/a$/ { print $11 }' \
		"$corpus/special/manifest")
	set_field --fix-checksums "$image" "inode:$ino" i_uid=4711 \
		i_mtime=2001-02-03T04:05:06Z i_mtime_nsec=7
	set_field --fix-checksums "$image" inode:/links i_gid=12
	set_field --fix-checksums "$image" superroot sr_nongc_ctime=1
	guest "$image" <<-'SCRIPT'
	nilfs_mount -o ro "$DEV1"
	stat -c '%u %y' "$MNT/links/a"
	stat -c %g "$MNT/links"
	SCRIPT
	echo "$output $errors"
	[ "$status" -eq 0 ]
	[[ $output == "4711 2001-02-03 04:05:06.000000007 +0000
12"* ]]
	kernel_content
}

@test "the kernel does not take a log whose checksum was left" {
	need_guest uml
	set_field "$image" inode:/links i_gid=12
	guest "$image" <<-'SCRIPT'
	nilfs_mount -o ro "$DEV1"
	stat -c "gid %g" "$MNT/links"
	SCRIPT
	[[ $output != *"gid 12"* ]]
	[[ $dmesg == *"Checksum error in segment payload"* ]]
}

# field_kept STRUCTURE FIELD=VALUE [CHECK]: sets, reads back with `set` itself
# (the old value of a second change), and finds all checksums right.
field_kept() {
	set_field --fix-checksums "$image" "$1" "$2"
	set_field --fix-checksums --json-lines "$image" "$1" "$2" >again
	want=\"old\":\"${3-${2#*=}}\"
	head -n 1 again | grep -F "$want" || {
		cat again
		return 1
	}
	run -1 grep -w no <(dump.nilfs2 logs -s --verify --stale "$image")
}

@test "every structure can be changed, and the sums over it are right" {
	dump.nilfs2 bmap --nodes "$image" dat >map
	log=$(dump.nilfs2 logs -s "$image" | awk 'END { print $2 }')
	field_kept "log:$log" ss_create=1970-01-01T00:00:05Z
	field_kept "finfo:$log/1" fi_cno=77
	field_kept "binfo:$log/2" bi_vblocknr=28999
	field_kept superroot sr_flags=0x3
	field_kept inode:dat i_generation=5
	field_kept inode:ifile i_generation=-1 4294967295
	field_kept inode:/links i_size=7
	field_kept dat:5 de_end=10
	field_kept checkpoint:2 cp_flags=snapshot,minor
	field_kept checkpoint:2 cp_ifile_inode.i_bmap[6]=0x77
	field_kept cpheader ch_snapshot_list.ssl_next=3
	field_kept segment:0 su_flags=dirty,error
	field_kept suheader sh_last_alloc=1
	field_kept group:dat/0 pg_nfrees=1
	field_kept group:ifile/0 pg_nfrees=2
	field_kept bitmap:dat/40 bit=0
	field_kept bitmap:ifile/500 bit=1
	field_kept dirent:2/links file_type=fifo
	field_kept dirent:/links/a name=z z || true
	field_kept "block:$((log + 3))" 'byte[17]=0x5a'
}

@test "a node of a B-tree, by file and by block" {
	image=$(copy_image cleaned)
	original=$corpus/cleaned/image
	dump.nilfs2 bmap -b --nodes "$image" /overwritten >map
	node=$(awk '$NF == "node" && $6 == 1 { print $5; exit }' map)
	set_field "$image" bmap:/overwritten/0 'key[0]=5' && return 1
	ino=$(dump.nilfs2 bmap -s "$image" /overwritten |
		awk '/^Inode:/ { print $2 }')
	set_field --fix-checksums --json-lines "$image" "bmap:$ino/0" \
		'ptr[1]=999' >change
	first=$(awk '$NF == "data" && $1 == 1 { print $4 }' map)
	grep -q "\"old\":\"$first\",\"new\":\"999\"" change
	set_field --json-lines "$image" "node:$node" 'ptr[1]=999' |
		grep -q '"old":"999"'
	# The second node, by a block in its middle.
	awk '$NF == "node" && $6 == 1 { print $5, $1 }' map |
		sed -n 2p >second
	read -r node key <second
	set_field --json-lines "$image" "bmap:$ino/$((key + 7))" 'key[0]=1' |
		grep -q "\"old\":\"$key\""
	set_field --json-lines "$image" "node:$node" 'key[0]=1' |
		grep -q '"old":"1"'
}

@test "one field changes as many bytes as it has, and the sum four more" {
	set_field "$image" block:20 'byte[9]=0xaa'
	[ "$(changed_bytes)" -eq 1 ]
	cp "$original" "$image"
	set_field --fix-checksums "$image" super:1 s_state=valid,error
	[ "$(changed_bytes)" -le 5 ]
	[ "$(changed_bytes)" -ge 2 ]
}

@test "values that do not fit, and things that are not there, change nothing" {
	run -1 set_field "$image" inode:/links i_mode=65536
	run -1 set_field "$image" inode:/links i_mode=0755 i_nothing=1
	run -1 set_field "$image" inode:/links i_mtime=yesterday
	run -1 set_field "$image" inode:/nowhere i_uid=1
	run -1 set_field "$image" superroot sr_dat=1
	run -1 set_field "$image" 'inode:/links' 'i_bmap[7]=1'
	run -1 set_field "$image" inode:/links i_bmap=1
	run -1 set_field "$image" super:3 s_flags=1
	run -1 set_field "$image" super:1 s_uuid=1234
	run -1 set_field "$image" super:1 \
		s_volume_name="$(printf '%081d' 0)"
	run -1 set_field "$image" bitmap:dat/5 bit=2
	run -1 set_field "$image" nothing:1 a=1
	run -2 set_field "$image" super:1 s_flags
	cmp "$image" "$original"
}

@test "a volume that cannot be opened can still be changed" {
	set_field "$image" super:1 s_magic=0
	set_field "$image" super:2 s_magic=0
	run -1 dump.nilfs2 logs "$image"
	set_field "$image" super:1 s_magic=0x3434
	set_field "$image" super:2 s_magic=0x3434
	cmp "$image" "$original"
	set_field "$image" superroot sr_flags=1
	run -1 dump.nilfs2 logs "$image"
	root=$(cmp -l "$image" "$original" |
		awk '{ print int(($1 - 1) / 4096); exit }')
	set_field "$image" "superroot:$root" sr_flags=0
	cmp "$image" "$original"
}

@test "read-only commands leave the image alone" {
	for words in "logs --verify --stale" "inode" "bmap" "dat" "block"; do
		case $words in
		inode | bmap) arg=/links ;;
		dat | block) arg=5 ;;
		*) arg= ;;
		esac
		# shellcheck disable=SC2086
		dump.nilfs2 ${words%% *} ${words#"${words%% *}"} "$image" $arg \
			>/dev/null
	done
	cmp "$image" "$original"
}

@test "an image after a mounted loop device is refused" {
	loop=$(losetup --find --show "$image" 2>/dev/null) ||
		skip "no loop device to be had"
	run dump.nilfs2 set --expert "$image" super:1 s_flags=1
	losetup --detach "$loop"
	[ "$status" -eq 1 ]
	[[ $output == *"in use"* ]]
	cmp "$image" "$original"
}
