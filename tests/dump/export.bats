#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 export, against the manifests that the kernel's view of the same
# images gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	make_room
}

teardown() {
	drop_room
}

directories_equal() {
	local cno wanted

	while read -r cno wanted; do
		echo "checkpoint $cno"
		dump.nilfs2 export -c "$cno" "$corpus/$1/image" "$room/d"
		equals_kernel "$room/d" "$wanted" || return 1
		rm -rf "$room/d"
	done < <(checkpoints_of "$1")
}

@test "a directory is what the kernel saw: latest state and all snapshots" {
	need_root
	each_image directories_equal
}

# Reads a manifest; tar has no sockets.
without_sockets() {
	grep -v '^s' | "$@"
}

untar() {
	mkdir -p "$room/d"
	tar -C "$room/d" -xp --same-owner --numeric-owner "$@" 2>"$room/messages"
	# Only times before 1970 are worth a word to it.
	run ! grep -v 'implausibly old time stamp' "$room/messages"
}

streams_equal() {
	local cno wanted

	while read -r cno wanted; do
		dump.nilfs2 export -q -c "$cno" "$corpus/$1/image" - \
			2>"$room/said" >"$room/t" ||
			grep -q 'sockets left out' "$room/said"
		untar -f - <"$room/t"
		equals_kernel "$room/d" "$wanted" without_sockets || return 1
		rm -rf "$room/d"
	done < <(checkpoints_of "$1")
}

@test "a tar stream holds what the kernel saw: latest state, all snapshots" {
	need_root
	each_image streams_equal
}

@test "tar files, plain and compressed, are the stream" {
	image=$corpus/snapshots/image
	dump.nilfs2 export "$image" - >"$room/stream"
	dump.nilfs2 export "$image" "$room/x.tar"
	cmp "$room/stream" "$room/x.tar"
	run dump.nilfs2 export "$image" "$room/x.tar.gz"
	[ "$status" -eq 0 ] || [[ $output == *"without libarchive"* ]]
	[ "$status" -ne 0 ] || gzip -dc "$room/x.tar.gz" | cmp - "$room/stream"
}

@test "sockets are named as lost in a tar stream" {
	run -1 --separate-stderr dump.nilfs2 export "$corpus/special/image" \
		"$room/x.tar"
	[ "$stderr" = "dump.nilfs2: sockets left out: tar has none (files: 1)" ]
	[ -s "$room/x.tar" ]
}

@test "holes take no room" {
	dump.nilfs2 export "$corpus/sparse-2k/image" "$room/x.tar"
	[ "$(stat -c %s "$room/x.tar")" -lt 8000000 ]
	[ "$(stat -fc %T "$room")" = tmpfs ] || skip "files of 8 EiB need a tmpfs"
	dump.nilfs2 export "$corpus/sparse-2k/image" "$room/d"
	[ "$(du -sk "$room/d" | cut -f1)" -lt 8000 ]
}

@test "a path: a directory, a file, nothing" {
	need_root
	image=$corpus/special/image
	dump.nilfs2 export "$image" "$room/d" /names
	diff <(copy_manifest "$room/d" | sed 1d) \
		<(manifest --drop portable - <"$corpus/special/manifest" |
			sed -n 's,\tnames/,\t,p')
	dump.nilfs2 export "$image" "$room/f" types/symlink-short
	[ "$(readlink "$room/f/symlink-short")" = short ]
	run -1 dump.nilfs2 export "$image" "$room/n" /nothing
	[[ $output == *": /nothing: not in checkpoint "* ]]
}

@test "what is there is not touched" {
	image=$corpus/snapshots/image
	mkdir "$room/d"
	echo mine >"$room/d/file"
	echo mine >"$room/x.tar"
	run -1 dump.nilfs2 export "$image" "$room/d"
	[[ $output == *"Directory not empty" ]]
	run -1 dump.nilfs2 export "$image" "$room/x.tar"
	[[ $output == *"x.tar: exists; "*--force* ]]
	run -1 dump.nilfs2 export "$image" "$room/d/file"
	[[ $output == *"Not a directory" ]]
	[ "$(cat "$room/d/file" "$room/x.tar")" = $'mine\nmine' ]
	[ "$(ls "$room/d")" = file ]
}

@test "a full target is an error, and no half tar file stays" {
	run -1 bash -c "dump.nilfs2 export '$corpus/cleaned/image' - >/dev/full"
	[[ $output == *"standard output: No space left on device" ]]
	for suffix in tar tar.gz tar.bz2 tar.xz tar.zst; do
		run -1 bash -c "ulimit -f 8; trap '' XFSZ
			dump.nilfs2 export '$corpus/cleaned/image' \
				'$room/x.$suffix'"
		[[ $output == *"x.$suffix: File too large" ]]
		[ -z "$(ls "$room")" ]
	done
}

@test "without root all content comes, and what does not is counted" {
	need_root
	command -v setpriv >/dev/null || skip "setpriv not found"
	image=$BATS_TEST_TMPDIR/image
	cp --sparse=always "$corpus/special/image" "$image"
	chmod 755 "$room" "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	chmod 644 "$image"
	mkdir "$room/mine"
	chown 65534 "$room/mine"
	run -1 setpriv --reuid 65534 --regid 65534 --clear-groups \
		dump.nilfs2 export "$image" "$room/mine/d"
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} == *"owner and group not kept (files: "* ]]
	[[ ${lines[1]} == *"set-user-ID and set-group-ID not kept"* ]]
	[[ ${lines[2]} == *"device files not made (files: "* ]]
	diff <(manifest --drop portable,uid,gid,mode,nlink - \
			<"$corpus/special/manifest" | grep -v '^[bc]') \
		<(manifest --drop portable,uid,gid,mode,nlink "$room/mine/d" |
			grep -v '^[bc]')
	[ "$(find "$room/mine/d" -type f -perm /6000)" = '' ]
}

# damage_name OLD NEW: an image whose entries OLD are called NEW, equally long.
# It is the first snapshot that is damaged: the checksum of the last log must
# stay right.  The name's length and type stand in front of it.
damage_name() {
	image=$(copy_image snapshots)
	OLD=$1 NEW=$2 edit "$image" 's/\Q$ENV{OLD}\E/$ENV{NEW}/g'
}

# The snapshot's directory d has the files f1 to f20.
@test "names that lead out of the target are refused" {
	damage_name $'\3\1f19' $'\3\1../'
	damaged=$(dump.nilfs2 ls -c 2 "$image" /d)
	[[ $damaged == *../* ]]
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *": /d/../: not a name of a file"* ]]
	[[ ${lines[1]} == *"1 file missing or incomplete; --inodes "* ]]
	[ "$(ls "$room/d/d" | wc -l)" -eq 19 ]
	run -1 dump.nilfs2 export -c 2 "$image" "$room/x.tar"
	[[ ${lines[0]} == *": /d/../: not a name of a file"* ]]
	tar tf "$room/x.tar" | run ! grep -F ..
}

@test "names with a slash are refused" {
	damage_name $'\3\1f19' $'\3\1/f1'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *": /d//f1: not a name of a file"* ]]
	damage_name $'\3\1f19' $'\3\1a/b'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/e"
	[[ ${lines[0]} == *": /d/a/b: not a name of a file"* ]]
	[ "$(ls "$room/e/d" | wc -l)" -eq 19 ]
}

@test "a second .. is no file" {
	damage_name $'\2\1f3' $'\2\1..'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *': /d: has "." or ".." twice'* ]]
	[ "$(ls -a "$room/d/d" | wc -l)" -eq 21 ]
	[ ! -e "$room/d/d/f3" ]
	[ -d "$room/d/d" ]
}

@test "the second of two equal names is refused, the rest follows" {
	damage_name $'\3\1f17' $'\3\1f16'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *": /d/f16: the directory has this name twice; "* ]]
	[ "$(stat -c %s "$room/d/d/f16")" -eq $((16 * 7000)) ]
	[ "$(ls "$room/d/d" | wc -l)" -eq 19 ]
}

# inode NAME: of the root directory of snapshot 2.
inode() {
	dump.nilfs2 ls -c 2 -i "$corpus/snapshots/image" |
		awk -v name="$1" '$2 == name { print $1 }'
}

@test "a symbolic link of the image is not followed" {
	image=$(copy_image snapshots)
	# The root of the snapshot gets two entries "hard": the first is the
	# symbolic link, the second must not go through it.
	HARD=$(inode hard) SOFT=$(inode soft) edit "$image" '
		$done ||= s!\Q${\pack("Q<", $ENV{HARD})}\E(..\x04\x01hard).{8}(..)\x04\x07soft!
			pack("Q<", $ENV{SOFT}) . $1 .
			pack("Q<", $ENV{HARD}) . $2 . "\x04\x01hard"!se'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *": /hard: the directory has this name twice; "* ]]
	[ "$(readlink "$room/d/hard")" = d/f2 ]
	[ "$(stat -c %s "$room/d/d/f2")" -eq 14000 ]
}

@test "a directory that is in itself ends the walk there" {
	image=$(copy_image snapshots)
	D=$(inode d) edit "$image" '
		s/.{8}(..\x03\x01f19)/pack("Q<", $ENV{D}) . $1/gse'
	run -1 dump.nilfs2 export -c 2 "$image" "$room/d"
	[[ ${lines[0]} == *": /d/f19: directory "*": contains itself"* ]]
	[ "$(ls "$room/d/d" | wc -l)" -eq 19 ]
}

@test "two entries for one directory: the second is named" {
	image=$(copy_image snapshots)
	HARD=$(inode hard) D=$(inode d) edit "$image" '
		$done ||= s/\Q${\pack("Q<", $ENV{HARD})}\E(..\x04\x01hard)/
			pack("Q<", $ENV{D}) . $1/se'
	run -1 dump.nilfs2 ls -lR -c 2 "$image"
	[[ $output == *": /hard: directory "*": already has another entry"* ]]
	[[ $output == *"  /d/f20"$'\n'* ]]
}

# says_once TEXT COMMAND...: in one line, with status 1.
says_once() {
	local text=$1

	shift
	run -1 --separate-stderr "$@"
	echo "$stderr"
	[ "$(grep -c "$text" <<<"$stderr")" -eq 1 ]
}

# A small volume: link, a symbolic link out of the target, and a directory with
# a file in it.
make_volume() {
	mkdir "$room/top" "$room/top/link1" "$room/top/other"
	ln -s /tmp "$room/top/link0"
	echo harm >"$room/top/link1/file"
	mkfs.nilfs2 -q --size 16M -B 64 -d "$room/top" "$room/image"
	image=$room/image
}

set_field() {
	dump.nilfs2 set --expert --fix-checksums "$image" "$@" >/dev/null
}

@test "a name twice is one member, and said" {
	make_volume
	set_field dirent:/link1 name=link0
	says_once "link0: the directory has this name twice" \
		dump.nilfs2 export "$image" "$room/out.tar"
	tar tf "$room/out.tar" >"$room/members"
	[ -z "$(sed 's,/$,,' "$room/members" | sort | uniq -d)" ]
	! grep '^link0/' "$room/members"
	says_once "link0: the directory has this name twice" \
		dump.nilfs2 export "$image" "$room/out"
}

@test "entries called . and .. that lead elsewhere are said" {
	for entry in . ..; do
		rm -rf "${room:?}"/*
		make_volume
		set_field "dirent:/other/$entry" inode=15
		says_once "other: has \".\" or \"..\"" \
			dump.nilfs2 export "$image" "$room/out"
		[ -d "$room/out/other" ]
		says_once "other: has \".\" or \"..\"" \
			dump.nilfs2 export "$image" "$room/out.tar"
	done
	rm -rf "${room:?}"/*
	make_volume
	set_field dirent:/link1/file name=../x
	says_once "not a name of a file" \
		dump.nilfs2 export "$image" "$room/out.tar"
	! tar tf "$room/out.tar" | grep -F ..
}
