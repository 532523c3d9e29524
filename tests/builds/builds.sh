#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# builds.sh [TARGET...]: the tools as other compilers make them, for other
# machines.
#
#	clang	another compiler
#	s390x	big-endian, run by qemu-user
#	i686	32 bits: only if asked for, as it has no __int128 yet to build with
#	musl	another C library: only if asked for
#
# Each builds all tools without a warning, passes the unit tests, and does a few
# jobs; every byte they write and print must be what this build wrote.  A target
# whose compiler is not there is skipped.  Libraries for other machines come
# from Debian's archive, into the build directory; nothing is installed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export SOURCE_DATE_EPOCH=1700000000 LC_ALL=C TZ=UTC
at=$NILFS2_BUILD/tests/builds/work
mkdir -p "$at"
at=$(cd "$at" && pwd)

count=0 failed=0

# result STATUS TEXT
result()
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

# sysroot ARCH: its libraries, unpacked in $root.
sysroot()
{
	local dir=$at/sysroot-$1 options

	root=$dir/root
	[ ! -d "$root" ] || return 0
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	options=(-qq -o APT::Architecture="$1" -o APT::Architectures="$1"
		-o Dir::State="$dir/state" -o Dir::State::status="$dir/status"
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User="$(id -un)")
	# A list that cannot be had just now may not be needed.
	(cd "$dir" && { apt-get "${options[@]}" update || true; } &&
		apt-get "${options[@]}" download zlib1g zlib1g-dev \
			libuuid1 uuid-dev) >"$dir/log" 2>&1 || return
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

# Of Debian's libraries headers that do not ask for glibc, and what is in them
# for any C library.
target_musl()
{
	local include=$at/musl-include lib=$at/musl-lib name

	command -v musl-gcc >/dev/null || { why="needs musl-gcc"; return 1; }
	mkdir -p "$include" "$lib"
	for name in linux asm-generic uuid zlib.h zconf.h; do
		ln -sfn "/usr/include/$name" "$include/$name"
	done
	ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$include/asm"
	for name in libz.a libuuid.a; do
		ln -sfn "/usr/lib/$(gcc -print-multiarch)/$name" "$lib/$name"
	done
	export PKG_CONFIG_LIBDIR=/nonexistent ZLIB_CFLAGS=' '
	export UUID_CFLAGS=-I$include/uuid
	export ZLIB_LIBS="-lz" UUID_LIBS="-luuid"
	arguments=(CC=musl-gcc CPPFLAGS="-idirafter $include"
		LDFLAGS="-static -L$lib")
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
		$mkfs -q -b 1K -B 64 --size 16M -U content --snapshot -j 1 \
			-d "$source/lib" -d "$source/fsck" $i
		cp $i first
		$fsck -fn --data -j 1 $i
		$dump info $i
		$dump logs --blocks --verify $i
		$dump dat --all $i
		$dump checkpoints $i
		$dump ls -lR $i
		$dump export -q $i - | sha256sum
		$fsck --rollback=1 $i || [ $? -eq 1 ]
		$gc -q -j 1 --protect 0 --compact=all $i | grep -v ^Milli
		cp $i compact
		$gc -q -j 1 --output copy $i | grep -v ^Milli
		$dump set --expert --fix-checksums $i suheader sh_ncleansegs=1
		$fsck -fy $i || [ $? -eq 1 ]
	) 2>&1 | sed "s,$2/,,g" >"$2/said"
}

# unit_tests DIR: all of them that the build has.
unit_tests()
{
	local tests

	tests=$(cd "$source/tests/unit" && echo t_*.c)
	tests=$(for name in ${tests//.c/}; do
		grep -q "^tests/unit/$name\$(EXEEXT):" "$1/Makefile" &&
			echo "tests/unit/$name"
	done)
	# shellcheck disable=SC2086
	make -s -C "$1" -j2 -k check LOG_COMPILER="$emulator" check_DATA= \
		check_PROGRAMS="$(echo $tests)" TESTS="$(echo $tests)" \
		>"$1/check.log" 2>&1 || {
		grep -E '^(FAIL|ERROR|XPASS)|error:' "$1/check.log"
		return 1
	}
}

# The environment of one is not that of the next.
one_target()
(
	why='' emulator='' arguments=()
	"target_$1" || { echo "skip $why"; exit 0; }
	build "$at/$1" || { tail -n 5 "$at/$1/log"; echo "bad builds"; exit 0; }
	echo "good builds"
	jobs "$at/$1" "$at/$1.jobs"
	diff -rq "$at/native.jobs" "$at/$1.jobs" &&
		echo "good writes and prints the same bytes" ||
		echo "bad writes and prints the same bytes"
	unit_tests "$at/$1" && echo "good passes the unit tests" ||
		echo "bad passes the unit tests"
)

emulator=
jobs "$NILFS2_BUILD" "$at/native.jobs"
for target in "${@:-clang}" $([ $# -gt 0 ] || echo s390x); do
	while read -r word text; do
		case $word in
		good) result 0 "$target: $text" ;;
		bad) result 1 "$target: $text" ;;
		skip)
			count=$((count + 1))
			echo "ok $count - $target # SKIP $text"
			;;
		*) echo "# $word $text" ;;
		esac
	done < <(one_target "$target")
done
echo "1..$count"
exit $failed
