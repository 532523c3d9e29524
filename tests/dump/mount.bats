#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 mount, against the manifests that the kernel's view of the same
# images gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	grep -q '^#define HAVE_LIBFUSE 1' "$NILFS2_BUILD/config.h" ||
		skip "built without libfuse"
	[ -w /dev/fuse ] || skip "/dev/fuse cannot be opened"
	command -v fusermount3 >/dev/null || skip "fusermount3 not found"
	dir=$BATS_TEST_TMPDIR/dir
	mkdir "$dir"
}

teardown() {
	[ -z "${dir-}" ] || ! mountpoint -q "$dir" || fusermount3 -u -z "$dir"
}

# The process in the background must not keep the descriptors of bats.
mount_on_dir() {
	dump.nilfs2 mount "$@" "$dir" 3>&- 4>&-
}

unmount_dir() {
	fusermount3 -u "$dir"
}

# serve ARGS...: in the foreground; its messages are in the file "said".
serve() {
	dump.nilfs2 mount -f "$@" "$dir" 2>"$BATS_TEST_TMPDIR/said" 3>&- 4>&- &
	server=$!
	for _ in $(seq 200); do
		! mountpoint -q "$dir" || return 0
		sleep 0.05
	done
	cat "$BATS_TEST_TMPDIR/said"
	return 1
}

# server_ends: it does so soon, with success.
server_ends() {
	for _ in $(seq 200); do
		kill -0 "$server" 2>/dev/null || {
			wait "$server"
			return
		}
		sleep 0.05
	done
	kill -KILL "$server"
	echo "it did not end"
	return 1
}

# Every column, those that a copy cannot keep among them.
mounts_equal() {
	local cno wanted

	while read -r cno wanted; do
		echo "checkpoint $cno"
		mount_on_dir -c "$cno" "$corpus/$1/image"
		diff "$wanted" <(manifest "$dir") || return 1
		unmount_dir
	done < <(checkpoints_of "$1")
}

@test "a mount is what the kernel saw: latest state and all snapshots" {
	need_root
	need_corpus
	each_image mounts_equal
}

# The names in snapshots/ are those of lscp; what they lead to is what the kernel
# saw, with other inode numbers.
all_equal() {
	local cno wanted

	mount_on_dir --all "$corpus/$1/image"
	same "$(awk 'NR > 1 { print $1 }' "$corpus/$1/lscp")" \
		"$(ls "$dir" | grep '^[0-9]' | sort -n)" || return 1
	same "$(awk '/ ss / { print $1 }' "$corpus/$1/lscp")" \
		"$(ls "$dir/snapshots" | sort -n)" || return 1
	while read -r cno wanted; do
		echo "checkpoint $cno"
		cno=snapshots/$cno
		[ "$cno" != snapshots/0 ] || cno=latest
		diff <(manifest --drop ino - <"$wanted") \
			<(manifest --drop ino "$dir/$cno/") || return 1
	done < <(checkpoints_of "$1")
	unmount_dir
}

@test "--all has a directory for each checkpoint, links to snapshots and latest" {
	need_root
	need_corpus
	each_image all_equal
}

@test "--all: times lead to the newest checkpoint made until then" {
	need_corpus
	export TZ=UTC
	mount_on_dir --all "$corpus/snapshots/image"
	wanted=$(awk 'NR > 1 { newest[$2 "T" $3 "Z"] = $1 }
		END { for (time in newest) print time, newest[time] }' \
		"$corpus/snapshots/lscp" | sort)
	got=$(find "$dir/times" -type l -printf '%f %l\n' | sed 's,\.\./,,' | sort)
	same "$wanted" "$got"
	read -r time cno < <(tail -n 1 <<<"$wanted")
	[ "$(readlink "$dir/times/9999-12-31T23:59:59Z")" = "../$cno" ]
	[ "$(cd -P "$dir/times/$time" && pwd)" = "$dir/$cno" ]
	[ ! -e "$dir/times/1970-01-01T00:00:00Z" ]
	[ ! -e "$dir/times/today" ]
	[ ! -e "$dir/0" ]
	[ ! -e "$dir/02" ]
	[ ! -e "$dir/99999" ]
}

@test "--all: files of two checkpoints are not one file" {
	need_corpus
	mount_on_dir --all "$corpus/snapshots/image"
	[ "$(stat -c %i "$dir/2/hard")" = "$(stat -c %i "$dir/2/d/f1")" ]
	[ "$(find "$dir" -mindepth 1 -name d -printf '%i\n' | sort | uniq -d)" = '' ]
	! [ "$dir/2/d" -ef "$dir/4/d" ]
}

@test "statfs is the kernel's" {
	need_corpus
	for name in cleaned-1k nearly-full special; do
		mount_on_dir "$corpus/$name/image"
		[ "$(stat -fc 'bsize=%s blocks=%b bfree=%f bavail=%a files=%c ffree=%d' \
			"$dir")" = "$(cat "$corpus/$name/statfs")" ]
		unmount_dir
	done
}

@test "after a crash: the state of the disk, and with --recover the next mount's" {
	need_root
	need_corpus
	for name in crash-dsync crash-dsync-1k; do
		mount_on_dir "$corpus/$name/image"
		manifest --drop ino "$dir" | diff - <(manifest --drop ino - \
			<"$corpus/$name/manifest")
		unmount_dir
		mount_on_dir --recover "$corpus/$name/image"
		diff <(cut -f 12,14 "$corpus/$name/manifest.recovered") \
			<(manifest "$dir" | cut -f 12,14)
		unmount_dir
	done
}

@test "extended attributes: checkpoint, inode, segments" {
	need_corpus
	command -v getfattr >/dev/null || skip "getfattr not found"
	image=$corpus/snapshots/image
	value() {
		getfattr --absolute-names --only-values -n "user.nilfs2.$1" "$2"
	}
	mount_on_dir --all "$image"
	ino=$(awk -F'\t' '$14 == "d/f7" { print $11 }' \
		"$corpus/snapshots/manifest.4")
	[ "$(value checkpoint "$dir/4/d/f7")" = 4 ]
	[ "$(value inode "$dir/4/d/f7")" = "$ino" ]
	[ "$(getfattr --absolute-names "$dir/4/d" |
		grep -c '^user\.nilfs2\.')" = 3 ]
	run ! getfattr -n user.other "$dir/4/d"
	run ! getfattr -n user.nilfs2.inode "$dir"
	unmount_dir

	# Of 100 blocks in segments of 64, those that the map has.
	make_volume
	wanted=$(dump.nilfs2 bmap --json "$image" /file | gojq -r '[.runs[] |
		select(.level == 0) | range(.blocknr; .blocknr + .blocks) / 64 |
		floor] | unique | "\(first)-\(last)"')
	[ "${wanted%-*}" -lt "${wanted#*-}" ]
	mount_on_dir "$image"
	[ "$(value segments "$dir/file")" = "$wanted" ]
}

@test "holes are found by a seek, and read as zeros" {
	mkdir "$BATS_TEST_TMPDIR/tree"
	printf x | dd of="$BATS_TEST_TMPDIR/tree/f" bs=1 seek=300000 status=none
	truncate -s 1000000 "$BATS_TEST_TMPDIR/tree/f"
	mkfs.nilfs2 -q --size 16M -B 64 -d "$BATS_TEST_TMPDIR/tree" \
		"$BATS_TEST_TMPDIR/image"
	mount_on_dir "$BATS_TEST_TMPDIR/image"
	cmp "$BATS_TEST_TMPDIR/tree/f" "$dir/f"
	[ "$(perl -e 'open my $f, "<", $ARGV[0] or die; print join " ",
		map { 0 + (sysseek($f, $$_[0], $$_[1]) || -1) }
		[0, 3], [0, 4], [300000, 3], [300000, 4], [303104, 3], [999999, 4]' \
		"$dir/f")" = "299008 0 300000 303104 -1 999999" ]
}

@test "a directory of 5000 names is listed once each, and found" {
	mkdir "$BATS_TEST_TMPDIR/tree"
	(cd "$BATS_TEST_TMPDIR/tree" && seq -f 'a-rather-long-name-%g' 5000 |
		xargs touch)
	mkfs.nilfs2 -q --size 64M -B 64 -d "$BATS_TEST_TMPDIR/tree" \
		"$BATS_TEST_TMPDIR/image"
	mount_on_dir "$BATS_TEST_TMPDIR/image"
	diff <(ls "$BATS_TEST_TMPDIR/tree") <(ls "$dir" )
	[ -e "$dir/a-rather-long-name-4999" ]
	[ -e "$dir/a-rather-long-name-2" ]
	[ ! -e "$dir/a-rather-long-name-5001" ]
	# A position is one to go back to.
	perl -e 'opendir my $d, $ARGV[0] or die; readdir $d for 1 .. 3000;
		my $at = telldir $d; my $name = readdir $d; 1 while readdir $d;
		seekdir $d, $at; exit($name ne readdir $d)' "$dir"
}

# A small volume with a file of 100 blocks, one of a hole and a block, a directory,
# a link.
make_volume() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/sub"
	seq 4000 | dd of="$BATS_TEST_TMPDIR/tree/holed" bs=4096 seek=1 count=1 \
		iflag=fullblock status=none
	seq 80000 | head -c 409600 >"$BATS_TEST_TMPDIR/tree/file"
	echo whole >"$BATS_TEST_TMPDIR/tree/sub/other"
	ln -s file "$BATS_TEST_TMPDIR/tree/link"
	image=$BATS_TEST_TMPDIR/image
	mkfs.nilfs2 -q -b 4096 --size 16M -B 64 -d "$BATS_TEST_TMPDIR/tree" "$image"
}

# set_field STRUCTURE FIELD=VALUE: damages it.
set_field() {
	dump.nilfs2 set --expert --fix-checksums "$image" "$@" >/dev/null
}

# lose_block PATH N: its block N is nowhere.
lose_block() {
	local vblock

	vblock=$(dump.nilfs2 bmap --json "$image" "$1" |
		gojq --argjson n "$2" '.runs[] | select(.level == 0 and
			.blkoff <= $n and .last_blkoff >= $n) |
			.vblocknr + $n - .blkoff')
	set_field "dat:$vblock" de_blocknr=99999999
}

@test "a lost block is an I/O error, the others are read" {
	make_volume
	lose_block /file 50
	lose_block /holed 1
	serve "$image"
	run ! cat "$dir/file"
	run ! dd if="$dir/file" of=/dev/null bs=4096 skip=50 count=1
	[[ $output == *"Input/output error"* ]]
	dd if="$dir/file" bs=4096 count=50 status=none |
		cmp - "$BATS_TEST_TMPDIR/tree/file" -n $((50 * 4096))
	dd if="$dir/file" bs=4096 skip=51 status=none |
		cmp - <(tail -c $((49 * 4096)) "$BATS_TEST_TMPDIR/tree/file")
	run ! dd if="$dir/holed" of=/dev/null bs=4096 skip=1
	dd if="$dir/holed" bs=4096 count=1 status=none | cmp - /dev/zero -n 4096
	cmp "$dir/sub/other" "$BATS_TEST_TMPDIR/tree/sub/other"
	unmount_dir
	server_ends
	grep -q "^dump.nilfs2: .*99999999" "$BATS_TEST_TMPDIR/said"
}

@test "a lost inode is an I/O error, its name is listed" {
	make_volume
	set_field inode:/file i_links_count=0
	mount_on_dir "$image"
	run ! stat "$dir/file"
	[[ $output == *"Input/output error"* ]]
	[ "$(ls -U "$dir" | grep -c '^file$')" -eq 1 ]
	[ "$(readlink "$dir/link")" = file ]
	[ "$(cat "$dir/sub/other")" = whole ]
}

@test "lost names are an I/O error after those that are left" {
	make_volume
	set_field dirent:/link name=../x
	mount_on_dir "$image"
	run perl -e 'opendir my $d, $ARGV[0] or die;
		while (defined(my $name = readdir $d)) { print "$name\n" }
		print "error: $!\n" if $!' "$dir"
	[ "$(sort <<<"$output")" = $'.\n..\nerror: Input/output error\nfile\nholed\nsub' ]
	run ! stat "$dir/link"
	[[ $output == *"Input/output error"* ]]
	cmp "$dir/file" "$BATS_TEST_TMPDIR/tree/file"
}

# The names of a block of a directory from a broken entry on are lost.
@test "a broken block of a directory does not hide the other ones" {
	mkdir "$BATS_TEST_TMPDIR/tree"
	(cd "$BATS_TEST_TMPDIR/tree" && seq -f 'a-rather-long-name-%04g' 0 999 |
		xargs touch)
	image=$BATS_TEST_TMPDIR/image
	mkfs.nilfs2 -q -b 4096 --size 16M -B 64 -d "$BATS_TEST_TMPDIR/tree" \
		"$image"
	lost=$(dump.nilfs2 ls "$image" / | sed -n 200p)
	set_field "dirent:/$lost" rec_len=2
	mount_on_dir "$image"
	run -2 --separate-stderr ls -U "$dir"
	[[ $stderr == *"reading directory"*"Input/output error" ]]
	[ "${#lines[@]}" -gt 890 ]
	[ "${#lines[@]}" -lt 1000 ]
	dump.nilfs2 ls "$image" / 2>/dev/null | diff - <(echo "$output")
	run ! stat "$dir/$lost"
	[[ $output == *"Input/output error"* ]]
}

@test "the mount is read-only, and the image is not changed" {
	make_volume
	chmod 444 "$image"
	before=$(state_of "$image")
	mount_on_dir "$image"
	run ! touch "$dir/new"
	[[ $output == *"Read-only file system"* ]]
	run ! rm "$dir/file"
	grep -q " $dir fuse.nilfs2 ro," /proc/mounts
	unmount_dir
	[ "$(state_of "$image")" = "$before" ]
}

@test "readers are let in beside it, writers are not" {
	make_volume
	mount_on_dir "$image"
	run -0 dump.nilfs2 ls "$image"
	run -1 dump.nilfs2 set --expert "$image" inode:/file i_flags=0
	[[ $output == *": in use "* ]]
	unmount_dir
	for _ in $(seq 100); do
		dump.nilfs2 set --expert "$image" inode:/file i_flags=0 && return
		sleep 0.05
	done
	return 1
}

@test "signals and an unmount end it, with success" {
	make_volume
	for signal in TERM INT HUP; do
		serve "$image"
		kill -s "$signal" "$server"
		server_ends
		run ! mountpoint -q "$dir"
	done
	serve "$image"
	unmount_dir
	server_ends
	[ ! -s "$BATS_TEST_TMPDIR/said" ]
}

@test "in the background it ends by a signal, too" {
	make_volume
	mount_on_dir "$image"
	pid=$(pgrep -f "mount $image $dir")
	[ -n "$pid" ]
	[ "$(readlink "/proc/$pid/cwd")" = / ]
	kill "$pid"
	for _ in $(seq 200); do
		mountpoint -q "$dir" || return 0
		sleep 0.05
	done
	return 1
}

@test "what cannot be mounted is said, with status 1" {
	make_volume
	run -1 dump.nilfs2 mount "$image" "$BATS_TEST_TMPDIR/none"
	[[ $output == "dump.nilfs2: "*"/none: No such file or directory" ]]
	run -1 dump.nilfs2 mount "$image" "$image"
	[[ $output == *": Not a directory" ]]
	run -1 dump.nilfs2 mount -c 77 "$image" "$dir"
	[[ $output == *"checkpoint 77: does not exist; the nearest "* ]]
	run -1 dump.nilfs2 mount "$BATS_TEST_TMPDIR/tree/file" "$dir"
	run -2 dump.nilfs2 mount --all -c 1 "$image" "$dir"
	run -2 dump.nilfs2 mount --all --recover "$image" "$dir"
	run -2 dump.nilfs2 mount --recover -c 1 "$image" "$dir"
	run ! mountpoint -q "$dir"
}

@test "without root" {
	need_root
	command -v setpriv >/dev/null || skip "setpriv not found"
	user() {
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	}
	user test -w /dev/fuse || skip "/dev/fuse is only for root"
	make_volume
	chmod 600 "$BATS_TEST_TMPDIR/tree/file"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	chmod 644 "$image"
	chown 65534 "$dir"
	user dump.nilfs2 mount "$image" "$dir" 3>&- 4>&-
	[ "$(user cat "$dir/sub/other")" = whole ]
	[ "$(user stat -c %u "$dir/file")" = "$(stat -c %u "$image")" ]
	run ! ls "$dir"
	user fusermount3 -u "$dir"
}
