#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# mkfs.nilfs2 --oci: the names that whiteouts remove, by the OCI image
# specification (layer.md, "Whiteouts"): only those of lower layers, regardless of
# their order in the archive.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir empty
	tar cf empty.tar empty
	need_archives empty.tar
	mkdir -p lower/d/sub/deep lower/e
	echo file >lower/file
	echo other >lower/other
	ln lower/other lower/e/linked
	echo 1 >lower/d/one
	echo 2 >lower/d/sub/two
	echo 3 >lower/d/sub/deep/three
	ln -s nowhere lower/d/link
	chmod 700 lower/d lower/d/sub
	tar cf lower.tar -C lower .
	mkdir upper
}

# layer MEMBER...: "upper.tar" has these members of "upper", in that order, whose
# files are made: those that end in a slash are directories.
layer() {
	local name

	for name; do
		mkdir -p "upper/$(dirname "$name")"
		case $name in
		*/) mkdir -p "upper/$name" ;;
		*) [ -e "upper/$name" ] || echo "$name" >"upper/$name" ;;
		esac
	done
	tar --no-recursion -cf upper.tar -C upper "${@%/}"
}

# Both layers on "image", without a finding, and every name of it.
names() {
	rm -f image
	mkfs -q -B 16 --size 4M --oci --snapshot -d lower.tar -d upper.tar image
	fsck.nilfs2 -n image >checked || { cat checked; return 1; }
	listed
}

# listed [OPTION]...: the names on "image", without the root.
listed() {
	dump.nilfs2 ls -R "$@" image | sed -n 's,^/\(.\),\1,p' | sort |
		tr '\n' ' '
}

all="d d/link d/one d/sub d/sub/deep d/sub/deep/three d/sub/two \
e e/linked file other "

@test "a file, and a name of a file that has another one" {
	[ "$(names_of_lower)" = "$all" ]
	layer .wh.file .wh.other
	[ "$(names)" = "${all/ file other / }" ]
	[ "$(dump.nilfs2 ls -l image /e/linked | awk 'END { print $2 }')" -eq 1 ]
	# Each layer is a snapshot.
	[ "$(listed -c 1)" = "$all" ]
}

names_of_lower() {
	mkfs -q -B 16 --size 4M --oci -d lower.tar image
	listed
}

@test "a directory, with all below it" {
	layer .wh.d
	[ "$(names)" = "e e/linked file other " ]
	layer d/.wh.sub
	[ "$(names)" = "d d/link d/one e e/linked file other " ]
}

@test "a directory and a new one in the same layer, in either order" {
	for order in '.wh.d d/ d/new' 'd/ d/new .wh.d' 'd/new .wh.d'; do
		rm -rf upper/*
		# shellcheck disable=SC2086
		layer $order
		[ "$(names)" = "d d/new e e/linked file other " ]
		[ "$(dump.nilfs2 cat image /d/new)" = d/new ]
		# Not with what it was, which was 0700.
		[[ $(dump.nilfs2 ls -l image / | grep ' d$') == drwxr-xr-x* ]]
	done
	layer .wh.d d/sub/new
	[ "$(names)" = "d d/sub d/sub/new e e/linked file other " ]
}

@test "a directory that becomes a file, and a file that becomes one" {
	layer .wh.d d
	[ "$(names)" = "d e e/linked file other " ]
	[ "$(dump.nilfs2 cat image /d)" = d ]
	rm -rf upper/*
	layer .wh.file file/new
	[ "$(names)" = "${all/ file / file file\/new }" ]
	layer file/new .wh.file
	run -1 mkfs -f -B 16 --oci -d lower.tar -d upper.tar image
	[[ $output == *"file/new: lies below file, which is not a directory" ]]
}

@test "a file and a new one in the same layer, in either order" {
	for order in '.wh.file file' 'file .wh.file'; do
		# shellcheck disable=SC2086
		layer $order
		[ "$(names)" = "$all" ]
		[ "$(dump.nilfs2 cat image /file)" = "$(cat upper/file)" ]
	done
}

@test "an opaque directory shows its own layer only, and stays what it was" {
	for order in 'd/new d/.wh..wh..opq' 'd/.wh..wh..opq d/new'; do
		# shellcheck disable=SC2086
		layer $order
		[ "$(names)" = "d d/new e e/linked file other " ]
		[[ $(dump.nilfs2 ls -l image / | grep ' d$') == drwx------* ]]
	done
	# What lies in it is as new as it is.
	layer d/.wh..wh..opq d/sub/new
	[ "$(names)" = "d d/sub d/sub/new e e/linked file other " ]
	layer .wh..wh..opq e/new
	[ "$(names)" = "e e/new " ]
}

@test "what is not there, aufs's own names, and names that none may have" {
	layer .wh.missing e/.wh.missing missing/.wh.file .wh..wh.aufs
	[ "$(names)" = "$all" ]
	for name in .wh. .wh.. .wh...; do
		layer $name
		run -1 mkfs -f -B 16 --oci -d lower.tar -d upper.tar image
		[[ $output == *"$name: a whiteout of the directory that it lies in" ]]
		rm upper/$name
	done
}

@test "hard links: in the same layer" {
	layer other
	ln upper/other upper/again
	layer .wh.other other again
	[ "$(names)" = "again $all" ]
	[ "$(dump.nilfs2 cat image /again)" = other ]
	[ "$(dump.nilfs2 cat image /e/linked)" = other ]
}

# members NAME:TYPE:LINK...: "upper.tar" has these, without content.
members() {
	perl -e 'for (@ARGV) {
		my ($name, $type, $link) = split /:/;
		my $h = pack("a100a8a8a8a12a12A8aa100a6a2a32a32a8a8a155x12",
			$name, "0000644", "0000000", "0000000", "00000000000",
			"00000000000", "", $type, $link, "ustar", "00", "", "",
			"0000000", "0000000", "");
		substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h));
		print $h }
		print "\0" x 1024' "$@" >upper.tar
}

# tree DIR: each file there, with its links and what it shares them with.
tree() {
	(cd "$1" && find . -type f -printf '%i %n %p\n' | sort -k 3 |
		awk '{ if (!($1 in first)) first[$1] = $3
			print $2, $3, first[$1] }')
}

# Layers are unpacked one over the other, and link() finds what is there then.
@test "hard links: to files of lower layers, as if all were unpacked" {
	mkdir -p dumped
	for m in new:1:file new:1:d/one file:1:other e/linked:1:other \
		file:1:file 'new:1:file file:0:' 'file:0: new:1:file' \
		'new:1:other more:1:new other:0: e/linked:0:' 'd/x:1:d/sub/two'; do
		# shellcheck disable=SC2086
		members $m
		names >/dev/null
		rm -rf unpacked dumped
		mkdir unpacked dumped
		tar xf lower.tar -C unpacked
		tar xf upper.tar -C unpacked
		dump.nilfs2 export -q image dumped
		diff <(tree unpacked) <(tree dumped)
	done
}

@test "hard links: whiteouts remove only the names of lower layers" {
	members new:1:file .wh.file:0:
	[[ " $(names)" != *" file "* ]]
	[ "$(dump.nilfs2 cat image /new)" = file ]
	for m in '.wh.file:0: new:1:file' 'd/.wh..wh..opq:0: new:1:d/one' \
		'.wh.d:0: new:1:d/one' new:1:nothing; do
		# shellcheck disable=SC2086
		members $m
		run -1 mkfs -f -B 16 --oci -d lower.tar -d upper.tar image
		[[ $output == *"hard link to a file that did not precede it" ]]
	done
	members new:1:d
	run -1 mkfs -f -B 16 --oci -d lower.tar -d upper.tar image
	[[ $output == *"hard link to a directory" ]]
}

@test "a number that a removed file had gets another generation" {
	layer .wh.file .wh.other d/.wh.one
	cp upper.tar middle.tar
	rm -r upper
	layer file other d/one
	mkfs -q -B 16 --size 4M --oci -d lower.tar -d middle.tar -d upper.tar \
		image
	fsck.nilfs2 -n image
	dump.nilfs2 find --all --json image -t f |
		gojq -r '.files[] | "\(.inode) \(.generation)"' | sort -u >numbers
	cut -d' ' -f1 numbers | uniq -d | grep .
	[ "$(wc -l <numbers)" -eq \
		"$(dump.nilfs2 find --all --json image -t f |
		gojq '[.files[] | select(.path != "/e/linked")] | length')" ]
}

@test "without --oci they are files, and reported; so they are in directories" {
	layer .wh.file d/.wh..wh..opq
	run -0 mkfs -q -B 16 --size 4M -d lower.tar -d upper.tar image
	[[ $output == *"whiteouts (.wh.*) are written as files: 2; "* ]]
	dump.nilfs2 ls -R image | grep -x '/d/.wh..wh..opq'
	dump.nilfs2 ls -R image | grep -x /file
	run -0 mkfs -qf -B 16 --oci -d lower.tar -d upper image
	[[ $output == *"whiteouts (.wh.*) are written as files: 2; "* ]]
	run -0 mkfs -qf -B 16 --oci -d lower.tar -d upper.tar image
	[ -z "$output" ]
}
