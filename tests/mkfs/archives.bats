#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes filled from archives.  The witness is GNU tar: --compare holds what a
# volume has against the tree that was packed.  What archives may say besides is
# tested member by member in tests/unit/t_mkfs_tar_bad.c.

bats_require_minimum_version 1.5.0

load mkfs

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need perl
	tar --version 2>/dev/null | grep -q 'GNU tar' || skip "no GNU tar"
	make_tree
	tar --format=posix -C tree -cf tree.tar .
	run fill probe -d tree.tar
	[[ $output != *"no libarchive"* ]] || skip "built without libarchive"
	[[ $output != *"not installed"* ]] || skip "no libarchive"
	rm probe
}

setup() {
	cp -a "$BATS_FILE_TMPDIR"/* "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1800000000
}

# Sizes around blocks, segments (256 KiB here) and what is read ahead.
make_tree() {
	local size

	mkdir -p tree/a/b/c tree/empty
	for size in 0 1 4095 4096 4097 65536 65537 262144 1048577 3000000; do
		perl -e 'my ($size) = @ARGV;
			srand $size;
			print substr pack("L*", map { int rand 2 ** 32 }
				0 .. $size / 4), 0, $size' $size >tree/a/$size
	done
	ln tree/a/3000000 tree/a/b/link
	ln -s "$(printf 'to/\303\244/\377')" tree/a/b/sym
	mkfifo tree/a/b/fifo
	echo odd >"tree/$(printf 'n\377 \n\303\244')"
	truncate -s 5M tree/holes
	echo end >>tree/holes
	chmod 4711 tree/a/1
	# GNU's own format has no fractions of seconds.
	find tree -exec touch -h -d @1750000000 {} +
	touch -d @-7 tree/a/4095
	touch -d @1700000000.123456789 tree/a/4096
	touch -d @1600000000 tree/empty tree/a/b
}

# fill IMAGE ARGUMENT...: small segments, so that files cross them.
fill() {
	rm -f "$1"
	mkfs -q -B 64 -U clear --size auto "${@:2}" "$1"
}

# same_as DIR IMAGE: tar finds no difference, and no name is missing.
same_as() {
	dump.nilfs2 export "$2" - >exported || return
	tar -C "$1" --warning=no-unknown-keyword -df exported || return
	[ "$(tar --warning=no-unknown-keyword -tf exported | wc -l)" -eq \
		"$(find "$1" -printf 'x\n' | wc -l)" ]
}

# fails TEXT ARGUMENT...: says so, and leaves nothing that looks like a volume.
fails() {
	rm -f image
	run mkfs -B 64 --size auto "${@:2}" image
	echo "status $status: $output"
	[ "$status" -eq 1 ] || return
	[[ $output == *"$1"* ]] || return
	[ ! -s image ] || [ "$(field 1030 2)" != 3434 ]
}

@test "every format and compression is the tree" {
	export XZ_OPT=-0
	for how in --format=gnu --format=posix '--format=gnu -S' \
		'--format=posix -S' '--format=posix -z' '--format=posix -J' \
		'--format=posix -j' '--format=posix --zstd'; do
		echo "tar $how"
		# shellcheck disable=SC2086
		tar $how -C tree -cf some.tar . || continue
		fill image -d some.tar
		[[ $how != *gnu* ]] ||
			touch -d @1700000000 tree/a/4096
		same_as tree image
		touch -d @1700000000.123456789 tree/a/4096
	done
}

@test "bsdtar's archives are the tree" {
	need bsdtar
	for how in --format=pax '--format=pax --zstd'; do
		echo "bsdtar $how"
		# shellcheck disable=SC2086
		bsdtar $how -C tree -cf some.tar .
		fill image -d some.tar
		same_as tree image
	done
}

@test "standard input, read to its end" {
	set -o pipefail
	tar --format=posix -b 2000 -C tree -cf - . | fill image -d -
	same_as tree image
	gzip -c tree.tar | fill image -d -
	same_as tree image
}

@test "the number of workers changes no byte" {
	fill one -j1 -d tree.tar
	for j in 2 3 8; do
		fill more -j$j -d tree.tar
		cmp one more
	done
	fill more -j8 -d - <tree.tar
	cmp one more
}

@test "an archive and the directory it was made of are the same volume" {
	fill image -d tree.tar
	fill other -d tree
	dump.nilfs2 export image - | tar -tvf - | sort -k 6 >one
	dump.nilfs2 export other - | tar -tvf - | sort -k 6 >two
	diff one two
}

@test "the last second before 1970" {
	local long

	mkdir times
	touch -d @-7.25 times/earlier
	touch -d @-0.25 times/file
	ln -s to times/link
	touch -h -d @-0.000000001 times/link
	touch -d @0.25 times/later
	touch -d @0 times
	tar --format=posix -C times -cf times.tar .
	fill image -d times.tar
	fill other -d times
	dump.nilfs2 ls --full-time --utc -R image >one
	dump.nilfs2 ls --full-time --utc -R other >two
	diff one two
	grep -q '1969-12-31.23:59:59.750000000' one
	# With records of other kinds before, and a long name.
	long=$(printf 'n%.0s' {1..200})
	mkdir before && touch -d @-0.5 "before/$long"
	tar --format=posix --pax-option=comment=x,delete=none -C before \
		-cf before.tar .
	fill image -d before.tar
	[[ $(dump.nilfs2 inode --utc image "/$long") == *1969-12-31*500000000* ]]
	# After a record that is shorter than that of any time, which tar puts last.
	tar --format=posix --pax-option=a:=b -C before -cf short.tar .
	perl -0pi -e 's/(14 mtime=-0\.5\n.*?)(6 a=b\n)/$2$1/s' short.tar
	fill image -d short.tar
	[[ $(dump.nilfs2 inode --utc image "/$long") == *1969-12-31*500000000* ]]
	# Compressed, and of a thousand members, wherever a read of them ends.
	(cd before && seq -f 'a%04g' 1000 | xargs touch -d @-0.5)
	tar --format=posix -C before -cf - . | gzip -1 >before.tar.gz
	fill image -d before.tar.gz
	dump.nilfs2 ls --full-time --utc image >one
	[ "$(grep -c ' 1969-12-31.23:59:59.500000000' one)" -eq 1001 ]
	fill other -d - <before.tar.gz
	diff one <(dump.nilfs2 ls --full-time --utc other)
}

# archives: "alone.tar", "zeros.tar", "several.tar" and "real.tar", after the forms of
# pax-path-hdr, pax-multi-hdrs and nil-uid among the tests of archive/tar of Go.
archives() {
	perl -e '
		# header NAME TYPE DATA, and bytes for other fields, by offset
		sub header {
			my ($name, $type, $data, %more) = @_;
			my $h = pack "a100 a8 a8 a8 a12 a12 A8 a1 a100 a8 a247",
				$name, "0000755", "0000000", "0000000",
				sprintf("%011o", length $data), "00000000000",
				"", $type, "", "ustar\00000", "";
			substr $h, $_, length $more{$_}, $more{$_}
				for keys %more;
			substr $h, 148, 8,
				sprintf "%06o\0 ", unpack "%16C*", $h;
			return $h . $data . "\0" x (-length($data) % 512);
		}
		sub pax {
			my ($record) = @_;
			my $n = length($record) + 2;
			$n++ while length("$n $record\n") > $n;
			return header("x/y", "x", "$n $record\n");
		}
		sub archive {
			my ($name, @members) = @_;
			open my $file, ">", $name or die;
			print $file header("./", "5", ""), @members;
		}
		my $file = header("file", "0", "content\n");
		my $pax = pax("path=one");
		archive "alone.tar", $file, $pax;
		archive "zeros.tar", $pax, "\0" x 1024;
		archive "several.tar", $file, pax("path=one"), pax("path=two"),
			pax("linkpath=three"), pax("linkpath=four/five"),
			header("bar", "2", "", 157, "foo");
		archive "real.tar", header("log", "0", "44,44,POWERON\0",
			108, "\0" x 16, 257, "ustar  \0",
			476, "1213040420300012130627766\0"), $file;
		archive "bad.tar", $file, pax("path=one"),
			header("x/y", "x", "9 path=abc\n"),
			header("bar", "0", "");'
}

@test "headers that libarchive does not read as GNU tar does" {
	archives
	for from in alone zeros several real; do
		rm -rf got
		mkdir got
		tar --no-same-owner -C got -xpf $from.tar
		fill image -d $from.tar
		same_as got image
		gzip -f $from.tar
		fill other -d - <$from.tar.gz
		diff <(dump.nilfs2 ls -lR image) <(dump.nilfs2 ls -lR other)
	done
	# The last of several has to be whole.
	run ! tar -tf bad.tar
	fails 'member bar: ' -d bad.tar
	# A pax header that is cut is no end.
	gzip -d alone.tar.gz
	head -c -1 alone.tar >bad.tar
	run ! tar -tf bad.tar
	fails 'bad.tar: ' -d bad.tar
}

@test "an archive over a directory, a directory over an archive" {
	mkdir -p upper/a/b upper/new both
	echo upper >upper/a/1
	echo new >upper/new/file
	touch -d @1650000000 upper/a upper/a/b upper upper/new
	cp -a tree/. both/
	cp -a --remove-destination upper/. both/
	tar --format=posix -C upper -cf upper.tar .
	for layers in 'tree upper.tar' 'tree.tar upper' 'tree.tar upper.tar'; do
		# shellcheck disable=SC2086
		set -- $layers
		fill image -d "$1" -d "$2"
		same_as both image
	done
}

@test "a file that is there twice has its later content" {
	cp -a tree later
	head -c 2000000 tree/a/3000000 >later/a/1048577
	echo 1 >later/a/65537
	tar --format=posix -C later -rf tree.tar ./a/1048577 ./a/65537
	fill image -d tree.tar
	same_as later image
	mkfs -q -B 64 -O sufile_live_blks_ext --size auto -d tree.tar counted
	dump.nilfs2 export counted - >counted.tar
	tar -C later --warning=no-unknown-keyword -df counted.tar
}

@test "--exclude leaves out what tar leaves out" {
	fill image -d tree.tar --exclude c --exclude './a/4*' --exclude fifo
	tar --exclude=c --exclude='./a/4*' --exclude=fifo -C tree -cf - . |
		tar -tf - | sort >want
	dump.nilfs2 export image - | tar --warning=no-unknown-keyword -tf - |
		sort >got
	diff <(sed 's,/$,,; s,^\./,,' want | sort) \
		<(sed 's,/$,,; s,^\./,,' got | sort)
}

@test "--owner and --mtime" {
	fill image -d tree.tar --owner 7:8 --mtime 1234567890
	dump.nilfs2 export image - |
		tar --warning=no-unknown-keyword --numeric-owner --utc \
			--full-time -tvf - >list
	! grep -v ' 7/8  *[0-9]* 2009-02-13 23:31:30 ' list
}

@test "what NILFS2 cannot hold is reported, or refused" {
	tar --format=posix --pax-option=SCHILY.xattr.user.a:=b -C tree \
		-cf attr.tar ./a/1
	fill image -d attr.tar 2>warnings
	grep -q 'extended attributes' warnings
	fails 'a/1: has extended attributes' --strict -d attr.tar
}

@test "archives that are cut, damaged or none" {
	size=$(stat -c %s tree.tar)
	for cut in 1000 100000 1000000 $((size / 2)) $((size - 12000)); do
		head -c $cut tree.tar >bad.tar
		fails 'bad.tar: ' -d bad.tar
		fails 'standard input: ' -j1 -d - <bad.tar
	done
	gzip -c tree.tar | head -c 2000000 >bad.tar
	fails 'bad.tar: ' -d bad.tar
	{ head -c 1000000 bad.tar; head -c 100000 /dev/zero; } >worse.tar
	fails 'worse.tar: ' -d worse.tar
	: >bad.tar
	fails 'bad.tar: ' -d bad.tar
	head -c 100000 tree/a/1048577 >bad.tar
	fails 'bad.tar: ' -d bad.tar
	fails 'none.tar: open' -d none.tar
}

@test "a size that the archive does not have" {
	# The digits of the size in the header, and its sum.
	tar --format=ustar -C tree -cf big.tar ./a/1
	perl -e 'open F, "+<", "big.tar"; read F, $h, 512;
		substr($h, 124, 12) = "77777777777\0";
		substr($h, 148, 8) = " " x 8;
		substr($h, 148, 7) = sprintf "%06o\0",
			unpack "%32C*", $h;
		seek F, 0, 0; print F $h'
	fails './a/1: ' -d big.tar
	fails './a/1: ' -j4 -d big.tar
}

@test "a hard link to itself is no file, and is not passed over" {
	need perl
	perl -e 'my $h = pack("a100a8a8a8a12a12A8aa100a6a2a32a32a8a8a155x12",
		"a", "0000644", "0000000", "0000000", "00000000000",
		"00000000000", "", "1", "a", "ustar", "00", "", "", "0000000",
		"0000000", "");
		substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h));
		print $h, "\0" x 1024' >self.tar
	tar tvf self.tar
	image 16M
	run -1 mkfs -B 64 -d self.tar image
	[[ $output == *"hard link to a file that did not precede it"* ]]
}

@test "nothing at all is no archive" {
	: >empty.tar
	gzip -c empty.tar >empty.tar.gz
	for source in empty.tar empty.tar.gz; do
		refused 1 'Unrecognized archive format' -B 16 --size 4M \
			-d $source image
	done
}
