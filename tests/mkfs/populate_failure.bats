#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# When filling a volume fails, the exit status is 1, the message names the file,
# and no valid volume is left.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# old_volume: "image" holds a volume already.
old_volume() {
	image "${1-64M}"
	mkfs -q -B 64 -L old image
}

# nothing_left FILE: no program finds a superblock.
nothing_left() {
	run blkid -p -o value -s TYPE "$1"
	echo "blkid: $output"
	[ -z "$output" ]
	run ! dump.nilfs2 info -v "$1"
	[ "$(field 1030 2 "$1")" != 3434 ]
	size=$(stat -c %s "$1")
	[ "$(field $(((size / 4096 - 1) * 4096 + 6)) 2 "$1")" != 3434 ]
}

# fails TEXT ARGUMENT...: mkfs fails and says TEXT, over an old volume, of which
# nothing must be left, and with a file of its own, which must go away.
fails() {
	local text=$1

	shift
	old_volume
	run mkfs -f -B 64 "$@" image
	said "$text"
	nothing_left image
	rm -f new
	run mkfs -B 64 --size 64M "$@" new
	said "$text"
	[ ! -e new ]
}

said() {
	echo "status $status: $output"
	[ "$status" -eq 1 ]
	[[ $output == *"mkfs.nilfs2: "* ]]
	[[ $output == *"$1"* ]]
}

# refuses TEXT ARGUMENT...: mkfs refuses, and an old volume stays: all is tried
# before but the reading of files.
refuses() {
	local text=$1

	shift
	old_volume
	refused 1 "$text" -f -B 64 "$@" image
	[ "$(blkid -p -o value -s LABEL image)" = old ]
	rm -f new
	run mkfs -B 64 --size 64M "$@" new
	said "$text"
	[ ! -e new ]
}

@test "a source that is not there, or cannot be one" {
	mkfifo fifo
	echo text >text
	mkdir empty
	refuses 'No such file' -d missing
	refuses 'No such file' -d empty -d missing
	refuses text -d text
}

@test "a symbolic link that fills a block, as the kernel makes none" {
	mkdir tree
	ln -s "$(printf '%01024d' 7)" tree/link
	image 64M
	run mkfs -f -b 1024 -d tree image
	said tree/link
	[[ $output == *"name too long"* ]]
	nothing_left image
	run -0 mkfs -q -b 2048 --size 128M -d tree new
}

@test "a file and a directory that may not be read" {
	need setpriv
	chmod 755 .
	mkdir -p tree/sub
	echo 1 >tree/a
	echo 2 >tree/sub/secret
	export -f mkfs
	chmod 000 tree/sub/secret
	for round in file directory; do
		old_volume
		run unprivileged "$NILFS2_BUILD/mkfs/mkfs.nilfs2" -f -B 64 \
			-d tree image
		said 'tree/sub'
		[[ $output == *"Permission denied"* ]]
		[ "$(blkid -p -o value -s LABEL image)" = old ]
		chmod 644 tree/sub/secret
		chmod 000 tree/sub
	done
	chmod 755 tree/sub
}

# held PERL: a write lease on "tree/held" is taken.  A program that opens that
# file waits until PERL, where $fh is the file, has been carried out.  mkfs has
# looked at the files of a segment before it opens the first of them.  On a
# blank image it does not try first.
held() {
	cat >hold.pl <<-'EOF'
	use Fcntl;
	use constant { F_SETLEASE => 1024 };
	open my $fh, '+<', 'tree/held' or die "$!\n";
	$SIG{IO} = sub {
		eval $ARGV[0];
		warn $@ if $@;
		fcntl $fh, F_SETLEASE, F_UNLCK;
		exit 0;
	};
	$SIG{ALRM} = sub { exit 3 };
	if (!fcntl $fh, F_SETLEASE, F_WRLCK) {
		print "lease: $!\n";
		exit 2;
	}
	open my $ready, '>', 'ready' or die;
	alarm 30;
	sleep 1 while 1;
	EOF
	rm -f ready
	perl hold.pl "$1" >hold.said &
	holder=$!
	while kill -0 $holder 2>/dev/null && [ ! -e ready ]; do
		sleep 0.05
	done
	[ -e ready ] || skip "$(cat hold.said)"
}

hold_tree() {
	rm -rf tree
	mkdir tree
	head -c 100000 /dev/urandom >tree/held
	head -c 100000 /dev/urandom >tree/other
}

# changed PERL FILE: mkfs must notice, and name it.
changed() {
	hold_tree
	image 64M
	held "$1"
	run timeout 60 "$NILFS2_BUILD/mkfs/mkfs.nilfs2" -B 64 -j 1 -d tree image
	wait $holder
	said "$2: changed"
	nothing_left image
}

@test "a file becomes shorter, longer, other, between the look and the read" {
	changed 'truncate $fh, 99999' tree/held
	changed 'truncate $fh, 4096' tree/held
	changed 'truncate $fh, 0' tree/held
	changed 'truncate $fh, 100001' tree/held
	changed 'syswrite $fh, "new"' tree/held
}

@test "a file vanishes, or is another, between the look and the read" {
	changed 'unlink "tree/other"' tree/other
	changed 'unlink "tree/other"; mkdir "tree/other"' tree/other
	changed 'system "cp tree/other new; mv new tree/other"' tree/other
}

@test "a file of sysfs, which is shorter than it says" {
	short=/sys/module/kernel/parameters
	[ -n "$(find $short -type f -size -4097c -size +4095c 2>/dev/null)" ] ||
		skip "nothing in $short"
	fails $short -d $short
}

# ended_by SIGNAL: at the same point.
ended_by() {
	hold_tree
	image 64M
	held "system 'kill -$1 \$(cat pid); sleep 0.3'"
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -B 64 -j 1 -d tree image \
		2>said & echo $! >pid
	status=0
	wait "$(cat pid)" || status=$?
	wait $holder
	cat said
	[ "$status" -eq $((128 + $2)) ] || [ "$status" -eq 1 ]
	nothing_left image
}

@test "SIGINT, SIGTERM and SIGHUP leave no superblock" {
	ended_by INT 2
	ended_by TERM 15
	ended_by HUP 1
}

@test "a signal while an archive is waited for; the new image goes away" {
	mkfifo fifo
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -B 64 --size 64M -d - new \
		<fifo 2>said & pid=$!
	exec 9>fifo
	sleep 0.5
	[ "$(echo .new.nilfs2-*)" != '.new.nilfs2-*' ]
	[ ! -e new ]
	kill -TERM $pid
	sleep 0.2
	exec 9>&-
	status=0
	wait $pid || status=$?
	[ "$status" -ne 0 ]
	[ ! -e new ]
	[ "$(echo .new.nilfs2-*)" = '.new.nilfs2-*' ]
}

@test "the image is too small" {
	mkdir tree
	head -c 70M /dev/urandom >tree/large
	refuses 'No space left' -d tree
	mkdir many
	for i in $(seq 70); do head -c 1M /dev/urandom >many/$i; done
	tar cf many.tar many
	refuses 'No space left' -d many.tar
	# From a pipe, into an image whose name begins the reason as well.
	truncate -s 16M n
	run bash -c "cat many.tar | '$NILFS2_BUILD/mkfs/mkfs.nilfs2' -B 64 -d - n"
	said 'n: no clean segment is left'
	# Just above what would do, by a definition: data, and a third more.
	rm -f new
	mkfs -q -B 64 --size 94M -d tree new
}

@test "too many files for the image" {
	mkdir tree
	(cd tree && seq -f 'file-%05.0f' 1 3000 | xargs touch)
	image 270336
	run mkfs -f -b 1024 -B 16 -d tree image
	said 'No space left'
	nothing_left image
}

@test "the file system of the image is full" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	mkdir full tree
	mount -t tmpfs -o size=8M tmpfs full 2>messages || skip "$(cat messages)"
	head -c 20M /dev/urandom >tree/large
	run mkfs -B 64 --size 64M -d tree full/image
	umount full
	said 'No space left'
}

@test "the image may grow no further" {
	mkdir tree
	head -c 20M /dev/urandom >tree/large
	run bash -c "trap '' XFSZ; ulimit -f 8192
		'$NILFS2_BUILD/mkfs/mkfs.nilfs2' -B 64 --size auto -d tree new"
	said 'No space left'
	[ ! -e new ]
	truncate -s 64M image
	run bash -c "trap '' XFSZ; ulimit -f 8192
		'$NILFS2_BUILD/mkfs/mkfs.nilfs2' -B 64 -d tree image"
	said 'File too large'
	nothing_left image
}

# keeps TEXT COMMAND...: it fails and says TEXT, and "old" is not touched.
keeps() {
	cp --sparse=always old kept
	run "${@:2}"
	said "$1"
	[[ $output == *"nothing was written"* ]]
	cmp old kept
}

@test "what does not fit is refused before an old volume is lost" {
	need tar
	mkdir tree
	head -c 6M /dev/urandom >tree/large
	tar -cf tree.tar -C tree .
	need_archives tree.tar
	mkfs -q --size 4M -b 1K -B 64 old
	format="$NILFS2_BUILD/mkfs/mkfs.nilfs2 -f -b 1K"
	keeps 'old: -d: ' $format -B 64 -d tree old
	keeps 'old: -d: ' bash -c "$format -B 64 -d - old <tree.tar"
	keeps 'old: -d: ' $format -n -B 64 -d tree old
	keeps 'old: -d: ' bash -c "ulimit -f 5120
		$format -B 64 --size auto -d tree old"
	run ! bash -c "head -c 2M tree.tar >cut.tar
		$format -B 64 --size auto -d cut.tar old"
	cmp old kept
	rm old
	mkfs -q --size 4M -b 1K -B 128 --zone-size 128K old
	keeps 'old: -d: ' $format -d tree old
	bytes=${output#*-d: } bytes=${bytes%% *}
	# That many are enough, in whole zones.
	mkfs -q --size $(((bytes + 131071) / 131072 * 131072)) -b 1K -B 128 \
		--zone-size 128K -d tree new
}

@test "an archive that is the image itself is refused" {
	need tar
	mkdir tree
	head -c 1M /dev/urandom >tree/large
	tar -cf old -C tree .
	need_archives old
	format="$NILFS2_BUILD/mkfs/mkfs.nilfs2 -f -b 1K -B 64"
	ln -s old link
	ln old other
	keeps 'is also a source' $format --size auto -d old old
	keeps 'is also a source' $format --size 64M -d link old
	keeps 'is also a source' $format --size 64M -d tree -d old other
	keeps 'is also a source' bash -c "$format --size auto -d - old <old"
}

@test "an archive that is cut, is none, or leads out of the volume" {
	need tar
	mkdir tree
	head -c 3M /dev/urandom >tree/large
	echo 1 >tree/small
	tar -cf whole.tar -C tree .
	need_archives whole.tar
	for bytes in 100000 $((2 << 20)) 513; do
		head -c $bytes whole.tar >cut.tar
		refuses cut.tar -d cut.tar
	done
	head -c 100000 /dev/urandom >noise.tar
	refuses noise.tar -d noise.tar
	(cd tree && tar -Pcf ../dots.tar ../tree/small --transform s,.*,../out,)
	refuses ../out -d dots.tar
	(cd tree && tar -Pcf ../dots.tar small --transform s,.*,a/../../out,)
	refuses "a/../../out: leads out of the volume" -d dots.tar
	(cd tree && tar -Pcf ../dots.tar small --transform s,.*,a/../b,)
	refuses "a/../b: has .. in its path" -d dots.tar
	gzip -c whole.tar | head -c 1000000 >cut.tar.gz
	refuses cut.tar.gz -d cut.tar.gz
}

@test "a reason is given once" {
	run -1 --separate-stderr mkfs.nilfs2 -q --size 16M -B 16 -d - new <.
	[ "$stderr" = "mkfs.nilfs2: standard input: read: Is a directory" ]
}

@test "a stream that ends early" {
	mkdir tree
	head -c 3M /dev/urandom >tree/large
	tar -cf whole.tar -C tree .
	need_archives whole.tar
	image 64M
	for bytes in 2000000 0; do
		run bash -c "head -c $bytes whole.tar |
			'$NILFS2_BUILD/mkfs/mkfs.nilfs2' -f -B 64 -d - image"
		said ''
		nothing_left image
	done
}

@test "a layer that fails takes those below it away" {
	mkdir tree
	echo 1 >tree/file
	echo none >none
	refuses none -d tree -d none
}

@test "--strict and extended attributes" {
	need setfattr
	mkdir tree
	echo 1 >tree/file
	echo 1 >tree/plain
	setfattr -n user.color -v red tree/file 2>messages ||
		skip "$(cat messages)"
	image 64M
	run -0 mkfs -B 64 -d tree image
	[[ $output == *"extended attributes"* ]]
	refuses 'extended attributes' --strict -d tree
	setfattr -x user.color tree/file
	image 64M
	run -0 mkfs -q -B 64 --strict -d tree image
	[ -z "$output" ]
}

@test "the image in its own source is left out" {
	mkdir tree
	echo 1 >tree/file
	mkfs -q -B 64 --size 64M -d tree tree/image
	[ "$(dump.nilfs2 ls tree/image)" = file ]
	mkfs -qf -B 64 -d tree tree/image
	[ "$(dump.nilfs2 ls tree/image)" = file ]
	rm tree/image
	mkfs -q -B 64 --size auto -d tree tree/image
	[ "$(dump.nilfs2 ls tree/image)" = file ]
}

teardown() {
	! mountpoint -q mnt || umount mnt
	[ -z "${loop-}" ] || losetup -d "$loop"
}

@test "what is mounted is refused before the source is read" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	need losetup
	need mke2fs
	image 64M
	loop=$(losetup -f --show image) || skip "no loop devices"
	mke2fs -qF "$loop"
	mkdir mnt tree
	mount "$loop" mnt || skip "cannot mount"
	before=$(sum)
	for target in "$loop" image; do
		run mkfs -f -B 64 -d tree "$target"
		said 'mounted on'
	done
	[ "$(sum)" = "$before" ]
}

@test "-n reads nothing of the target away" {
	mkdir tree
	head -c 100000 /dev/urandom >tree/file
	old_volume
	before=$(sum)
	mkfs -nf -B 64 -d tree image
	[ "$(sum)" = "$before" ]
	mkfs -n -B 64 --size auto -d tree new
	[ ! -e new ]
}

@test "what cannot fit costs no old volume, nor passes a dry run" {
	old_volume
	mkdir top
	head -c 70M /dev/urandom >top/large
	(cd top && tar cf ../top.tar .)
	before=$(sum)
	for source in top top.tar; do
		[ "$source" = top ] || need_archives top.tar
		for option in -f '-n -f'; do
			# shellcheck disable=SC2086
			refused 1 "bytes are needed, it has 67108864" $option \
				-B 64 -d $source image
		done
	done
	[ "$(sum)" = "$before" ]
	refused 1 "new: -d: 7" -n --size 64M -B 64 -d top new
	[[ $output == *"nothing was written"* ]]
	# Holes, other names and what is left out need no room.
	rm top/large
	truncate -s 1G top/holes
	head -c 40M /dev/urandom >top/a
	ln top/a top/b
	cp image top/image
	cp image top/left-out
	run -0 mkfs -f -q -B 64 --exclude left-out -d top image
}

# least ARGUMENT...: the size that a dry run says is needed, which writes
# nothing.
least() {
	mkfs -n --json --size 1G "$@" none | gojq .content.least_size
	[ ! -e none ]
}

# exactly SEGMENT ARGUMENT...: a volume of that size is made, one of SEGMENT
# bytes less is not, and says what is needed.
exactly() {
	local segment=$1 size

	shift
	size=$(least "$@")
	[ "$size" -gt $((17 * segment)) ]
	rm -f new
	mkfs -q --size "$size" "$@" new
	rm new
	run -1 mkfs -q --size $((size - segment)) "$@" new
	echo "$output"
	[[ $output == "mkfs.nilfs2: new: -d: $size bytes are needed, it has \
$((size - segment)); "* ]]
	[ ! -e new ]
}

@test "the size that a dry run prints is the least that does" {
	need gojq
	make_tree rich rich 1024 64
	head -c 9M /dev/urandom >rich/more
	mkdir over
	(cd over && seq -f 'file-%05.0f' 1 900 | xargs touch)
	cp rich/more over
	tar cf over.tar over
	exactly 16384 -b 1024 -B 16 -d rich
	exactly 65536 -b 1024 -B 64 -d over -d rich
	exactly 262144 -B 64 --collect 16 -d rich -d over --snapshot
	exactly 65536 -b 1024 -B 64 -m 30 -d rich -d over
	exactly 131072 -b 1024 -B 128 -O sufile_live_blks_ext -d rich
	need_archives over.tar
	exactly 65536 -b 1024 -B 64 -d rich -d over.tar -j 3
}

@test "a dry run reports content and losses as the real one does" {
	need gojq
	mkdir tree
	head -c 100000 /dev/urandom >tree/file
	setfattr -n user.color -v red tree/file 2>messages || :
	mkfs -n --json --size 64M -B 64 -d tree none 2>said |
		gojq 'del(.content.least_size) | .content' >dry
	mkfs --json --size 64M -B 64 -d tree new 2>again | gojq .content >wet
	diff dry wet
	diff said again
	mkfs -n --json --size auto -B 64 -d tree none 2>said |
		gojq .volume.s_dev_size >dry
	mkfs -q --size auto -B 64 -d tree auto
	[ "$(cat dry)" -eq "$(stat -c %s auto)" ]
	chmod 0 tree/file
	run unprivileged "$NILFS2_BUILD/mkfs/mkfs.nilfs2" -n --size 64M -B 64 \
		-d tree none
	[ "$status" -eq 1 ]
	[[ $output == *"tree/file: open: Permission denied"* ]]
}

@test "a dry run reads an archive to its end, from standard input too" {
	mkdir tree
	head -c 30M /dev/urandom >tree/file
	tar cf whole.tar tree
	need_archives whole.tar
	run -1 mkfs -n --size 16M -B 64 -d - none <whole.tar
	[[ $output == *"none: -d: 3"*" bytes are needed, it has 16777216"* ]]
	run -0 mkfs -n -q --size 64M -B 64 -d - none <whole.tar
	head -c 20000000 whole.tar >cut.tar
	run -1 mkfs -n --size 64M -B 64 -d cut.tar none
	[[ $output == *"cut.tar: member tree/file: "* ]]
}
