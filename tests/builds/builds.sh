#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# builds.sh [TARGET...]: the tools as other compilers make them, for other
# machines, as a table.
#
#	bare	this compiler, no optional library
#	clang	another compiler
#	s390x	big-endian, run by qemu-user
#	i686	32 bits
#	musl	another C library
#
# Each builds all tools without a warning, passes the unit tests, and does a few
# jobs; every byte they write and print must be what this build wrote.  A target
# whose compiler is not there is skipped.  Libraries for other machines and the
# sources of those for musl come from Debian's archive, into the build directory;
# nothing is installed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C TZ=UTC
at=$NILFS2_BUILD/tests/builds/work
mkdir -p "$at"
at=$(cd "$at" && pwd)

# row TARGET PART CASES FAILED
row()
{
	printf '%-8s %-12s %6s %8s\n' "$@"
}

# apt DIR ARGUMENT...: apt-get with its state in DIR, for the archives of Debian
# and what $apt_options say.
apt()
{
	local dir=$1
	shift
	(cd "$dir" && apt-get -qq -o Dir::State="$dir/state" \
		-o Dir::State::status="$dir/status" \
		-o Dir::Cache="$dir/cache" -o Dir::Etc::sourcelist=/dev/null \
		-o Dir::Etc::sourceparts="$dir/sources" \
		-o APT::Sandbox::User="$(id -un)" "${apt_options[@]}" "$@")
}

# archive DIR: begins with the lists of packages and sources.
archive()
{
	local list

	mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" \
		"$1/sources"
	: >"$1/status"
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian*; do
		[ ! -f "$list" ] || sed -e 's/^Types:.*/Types: deb deb-src/' \
			-e '/^deb /{p;s/^deb /deb-src /}' "$list" \
			>"$1/sources/${list##*/}"
	done
	# One list that fails may be another's than those needed.
	apt "$1" update || :
}

# sysroot ARCH: its libraries, unpacked in $root.
sysroot()
{
	local dir=$at/sysroot-$1
	local apt_options=(-o APT::Architecture="$1" -o APT::Architectures="$1")

	root=$dir/root
	[ ! -d "$root" ] || return 0
	mkdir -p "$dir"
	{ archive "$dir" && apt "$dir" download zlib1g zlib1g-dev libuuid1 \
		uuid-dev; } >"$dir/log" 2>&1 || return
	mkdir "$root"
	for deb in "$dir"/*.deb; do
		dpkg -x "$deb" "$root"
	done
}

# cross ARCH TRIPLET: sets up configure's arguments for another machine.
cross()
{
	command -v "$2-gcc" >/dev/null || { why="needs $2-gcc"; return 1; }
	sysroot "$1" || { why="libraries of $1 cannot be had"; return 1; }
	export PKG_CONFIG_LIBDIR=$root/usr/lib/$3/pkgconfig
	export PKG_CONFIG_SYSROOT_DIR=$root
	arguments=(--host="$2" CC="$2-gcc" CPPFLAGS="-I$root/usr/include"
		LDFLAGS="-static -L$root/usr/lib/$3")
}

# Each sets the arguments of configure, and what runs its programs.
target_bare()
{
	arguments=(--without-blkid --without-zbd --without-archive
		--without-deflate --without-isal --without-fuse
		--without-edit)
}

target_clang()
{
	command -v clang >/dev/null || { why="needs clang"; return 1; }
	arguments=(CC=clang)
}

target_i686()
{
	cross i386 i686-linux-gnu i386-linux-gnu
}

target_s390x()
{
	emulator=qemu-s390x-static
	command -v $emulator >/dev/null || { why="needs $emulator"; return 1; }
	cross s390x s390x-linux-gnu s390x-linux-gnu
}

# musl_libraries DIR: zlib and libuuid from their sources, in DIR/lib, DIR/include.
musl_libraries()
(
	set -e
	apt_options=()
	mkdir -p "$1/lib" "$1/include/uuid"
	archive "$1"
	apt "$1" source --download-only zlib util-linux
	cd "$1"
	for tar in zlib_*.orig.tar.* util-linux_*.orig.tar.*; do
		tar xf "$tar"
	done
	(cd zlib-*/ && CC=musl-gcc ./configure --static --prefix="$1" &&
		make -s libz.a install)
	cd util-linux-*/
	musl-gcc -c -O2 -w -D_GNU_SOURCE -DHAVE_ERR_H -DHAVE_GETRANDOM \
		-DHAVE_LOFF_T -DHAVE_NANOSLEEP -DHAVE_NETINET_IN_H \
		-DHAVE_NET_IF_H -DHAVE_SYS_FILE_H -DHAVE_SYS_IOCTL_H \
		-DHAVE_TLS -DHAVE_UNISTD_H -Iinclude -idirafter "$1/include" \
		libuuid/src/{clear,gen_uuid,isnull,pack,parse,unpack,unparse}.c \
		lib/{md5,randutils,sha1}.c
	ar rcs "$1/lib/libuuid.a" ./*.o
	cp libuuid/src/uuid.h "$1/include/uuid/"
)

# musl before 1.2.5 has no statx().
musl_statx()
{
	cat <<-'EOF'
		#include <sys/stat.h>
		#ifndef STATX_BASIC_STATS
		#include <linux/stat.h>
		#include <sys/syscall.h>
		long syscall(long number, ...);
		static inline int statx(int fd, const char *path, int flags,
					unsigned int mask, struct statx *st)
		{
			return (int)syscall(SYS_statx, fd, path, flags, mask, st);
		}
		#endif
	EOF
}

target_musl()
{
	local dir=$at/musl-libraries name

	command -v musl-gcc >/dev/null || { why="needs musl-gcc"; return 1; }
	if [ ! -e "$dir/include/uuid/uuid.h" ]; then
		mkdir -p "$dir/include"
		for name in linux asm-generic; do
			ln -sfn "/usr/include/$name" "$dir/include/$name"
		done
		ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" \
			"$dir/include/asm"
		musl_statx >"$dir/include/statx.h"
		musl_libraries "$dir" >"$dir/log" 2>&1 || {
			why="sources of zlib and libuuid cannot be had"
			return 1
		}
	fi
	export PKG_CONFIG_LIBDIR=/nonexistent ZLIB_CFLAGS=' '
	export UUID_CFLAGS=-I$dir/include/uuid
	export ZLIB_LIBS="-lz" UUID_LIBS="-luuid"
	arguments=(CC=musl-gcc LDFLAGS="-static -L$dir/lib"
		CPPFLAGS="-D_GNU_SOURCE -isystem $dir/include -include statx.h")
}

# build DIR: configures and makes in it.
build()
{
	mkdir -p "$1"
	(cd "$1" && "$source/configure" -q --enable-werror \
		"${arguments[@]}" && make -s -j2) >"$1/log" 2>&1
}

# jobs DIR OUTPUT: all that the build in DIR says and writes.
jobs()
{
	local mkfs="$emulator $1/mkfs/mkfs.nilfs2"
	local fsck="$emulator $1/fsck/fsck.nilfs2"
	local gc="$emulator $1/gc/gc.nilfs2"
	local dump="$emulator $1/dump/dump.nilfs2"
	local i=$2/image

	rm -rf "$2"
	mkdir "$2"
	# shellcheck disable=SC2046
	(
		set -e
		cd "$2"
		export TZ=UTC
		$mkfs -q -b 1K -B 64 --size 16M -U content --snapshot -j 1 \
			-d "$source/lib" -d "$source/fsck" $i
		cp $i first
		$fsck -fn --data -j 1 $i
		$dump info -v $i
		$dump logs --blocks --verify $i
		$dump dat --all $i
		$dump checkpoints $i
		$dump ls -lR $i
		$dump export -q $i - | sha256sum
		$fsck --rollback=1 $i || [ $? -eq 1 ]
		$gc -q -j 1 --protect 0 --compact=all $i | grep -v '^Time in milli'
		cp $i compact
		$gc -q -j 1 --output copy $i | grep -v '^Time in milli'
		$dump set --expert --fix-checksums $i suheader sh_ncleansegs=1
		$fsck -fy $i || [ $? -eq 1 ]
	) 2>&1 | sed "s,$2/,,g" >"$2/said"
}

# compare OUTPUT: how many files of it, and how many of them differ.
compare()
{
	local name files=0 differ=0

	for name in said image first compact copy; do
		files=$((files + 1))
		cmp "$at/native.jobs/$name" "$1/$name" >&2 ||
			differ=$((differ + 1))
	done
	echo "$files $differ"
}

# unit_tests DIR: how many results they have, and how many failures.
unit_tests()
{
	make -s -C "$1" -j2 -k check LOG_COMPILER="$emulator" check_DATA= \
		TESTS='$(check_PROGRAMS)' >"$1/check.log" 2>&1
	grep -E '^(FAIL|ERROR|XPASS)|error:' "$1/check.log" >&2
	awk '$2 == "TOTAL:" { n = $3 }
		$2 ~ /^(FAIL|XPASS|ERROR):$/ { bad += $3 }
		END { print n + 0, n ? bad + 0 : 1 }' "$1/check.log"
}

# The environment of one is not that of the next.
one_target()
(
	why='' emulator='' arguments=()
	"target_$1" || { echo "$1 skipped: $why"; exit 0; }
	if ! build "$at/$1"; then
		tail -n 5 "$at/$1/log" >&2
		row "$1" builds 1 1
		exit 0
	fi
	row "$1" builds 1 0
	jobs "$at/$1" "$at/$1.jobs"
	# shellcheck disable=SC2046
	row "$1" "same bytes" $(compare "$at/$1.jobs")
	# shellcheck disable=SC2046
	row "$1" "unit tests" $(unit_tests "$at/$1")
)

emulator=
jobs "$NILFS2_BUILD" "$at/native.jobs"
row TARGET PART CASES FAILED
for target in "${@:-bare}" $([ $# -gt 0 ] || echo clang s390x i686 musl); do
	one_target "$target"
done | tee "$at/table"
awk '$NF ~ /^[1-9][0-9]*$/ { bad = 1 } END { exit bad }' "$at/table"
