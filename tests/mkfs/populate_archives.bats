#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# An archive of a tree makes what the tree makes, whichever program made the
# archive.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	make_tree rich rich 2048 128
	make_tree layer layer 2048 128
	# What tar does not keep.
	rm rich/types/socket rich/links/other/fifo
	touch -d @1100000000 rich/types rich/links/other
	tar --format=posix -cSf posix.tar -C rich . 2>messages
	need_archives posix.tar
	source_manifest rich >wanted
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# times_of MANIFEST CUT: path and time, up to CUT.  What is before 1970 and has parts
# of a second is written, and read, in more than one way by libarchive and tar.
times_of() {
	cut -f8,14 "$1" | grep -v '^-' | grep -v '	times/t-' |
		sed "s/${2:-no cut}.*	/	/"
}

# makes ARCHIVE [CUT]: a volume made of an archive shows what the tree has.
makes() {
	echo "$1"
	rm -rf image out
	mkfs -q -b 2048 -B 128 --size 64M -d "$1" image
	dump.nilfs2 export -q image out
	diff <(manifest --drop ino,blocks,dirsize,ctime out | wanted -t) \
		<(wanted -t <wanted)
	manifest --drop portable out >got
	diff <(times_of got "${2-}") <(times_of wanted "${2-}")
	rm -rf out
}

@test "GNU tar's pax archives keep all, in nanoseconds" {
	makes posix.tar
}

@test "GNU tar's own format keeps all but parts of seconds" {
	tar --format=gnu -cSf gnu.tar -C rich . 2>messages
	makes gnu.tar '[.]'
}

@test "compressed, and from standard input" {
	gzip -1c posix.tar >posix.tar.gz
	makes posix.tar.gz
	rm -f image
	mkfs -q -b 2048 -B 128 --size 64M -d - image <posix.tar
	sum=$(SOURCE_DATE_EPOCH=2000000000 mkfs -qf -b 2048 -B 128 -U clear \
		-d - image <posix.tar; sum)
	[ "$(gzip -dc posix.tar.gz | SOURCE_DATE_EPOCH=2000000000 \
		mkfs -qf -b 2048 -B 128 -U clear -d - image; sum)" = "$sum" ]
}

@test "bsdtar's archives" {
	need bsdtar
	bsdtar --format pax -cf bsd.tar -C rich . 2>messages
	makes bsd.tar
}

@test "an archive over a directory, and the other way round" {
	merge_layers rich layer merged
	source_manifest merged >wanted.merged
	tar --format=posix -cSf layer.tar -C layer .
	for sources in '-d rich -d layer.tar' '-d posix.tar -d layer'; do
		rm -rf image out
		mkfs -q -b 2048 -B 128 --size 64M $sources image
		dump.nilfs2 export -q image out
		diff <(manifest --drop ino,blocks,dirsize,ctime out |
			wanted -t) <(wanted -t <wanted.merged)
		dump.nilfs2 export -q -c 1 image out.1
		diff <(manifest --drop ino,blocks,dirsize,ctime out.1 |
			wanted -t) <(wanted -t <wanted)
		rm -rf out out.1
	done
}

# ustar has 100 bytes for a name and no fractions; devices need no root here.
@test "devices from an archive that another program made" {
	perl -e '
		sub member {
			my ($name, $type, $major, $minor) = @_;
			my $h = pack "a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 " .
				"a32 a32 a8 a8 a155 a12", $name, "0000640",
				"0000001", "0000002", "00000000000",
				"10000000000", "", $type, "", "ustar", "00",
				"", "", sprintf("%07o", $major),
				sprintf("%07o", $minor), "", "";
			substr $h, 148, 8,
				sprintf "%06o\0 ", unpack "%16C*", $h;
			print $h;
		}
		member("null", 3, 1, 3);
		member("disk", 4, 259, 65535);
		member("fifo", 6, 0, 0);
		print "\0" x 1024' >devices.tar
	rm -f image
	mkfs -q -B 64 --size 64M -d devices.tar image
	dump.nilfs2 ls --json-lines -l image >list
	fields='path":"\([^"]*\)".*"type":"\([^"]*\)","mode":\([0-9]*\),'
	fields+='.*"uid":\([0-9]*\),"gid":\([0-9]*\),'
	fields+='.*"major":\([^,]*\),"minor":\([^,]*\),'
	diff - <(sed "s/.*$fields.*/\1 \2 \3 \4 \5 \6 \7/" list) <<-EOF
	/disk block 416 1 2 259 65535
	/fifo fifo 416 1 2 null null
	/null character 416 1 2 1 3
	EOF
}
