#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The same files make the same bytes, wherever they are and for any user; other
# files make other bytes.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	make_tree rich rich 4096 64
	make_tree layer layer 4096 64
	# What tar does not keep.
	rm rich/types/socket rich/links/other/fifo
	touch -d @1100000000 rich/types rich/links/other
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=2000000000
	uuid=01234567-89ab-cdef-0123-456789abcdef
}

# make OPTION...: the sum of a new image.
make() {
	rm -f image
	mkfs -q -B 64 --size 96M "$@" image
	sum
}

same_sum() {
	local wanted=$1

	shift
	[ "$(make "$@")" = "$wanted" ]
}

@test "-j does not matter" {
	first=$(make -U $uuid --snapshot=each -d rich -d layer -j 1)
	for jobs in 2 3 16; do
		same_sum "$first" -U $uuid --snapshot=each -d rich -d layer \
			-j $jobs
	done
}

@test "neither do the memory to use and what was on the image before" {
	first=$(make -U $uuid -d rich)
	same_sum "$first" -U $uuid -d rich --max-memory 16M
	head -c 96M /dev/zero | tr '\0' x >image
	mkfs -qf -B 64 -U $uuid -d rich image
	[ "$(sum)" = "$first" ]
}

@test "neither do time zone, umask, locale, directory and name of the source" {
	first=$(make -U $uuid -d rich)
	(
		export TZ=Pacific/Auckland LC_ALL=tr_TR.UTF-8
		umask 077
		cd rich
		[ "$(rm -f ../image; mkfs -q -B 64 --size 96M -U $uuid -d . \
			../image; sum ../image)" = "$first" ]
	)
	mv rich moved
	same_sum "$first" -U $uuid -d moved/
	same_sum "$first" -U $uuid -d "$PWD/moved/../moved/."
	mv moved rich
}

# The tree lies elsewhere, its directories are read in another order and its
# inodes have other numbers.  Not every file system has the order in which
# names were made; a tmpfs does.
@test "neither does how the source was copied" {
	first=$(make -U $uuid -d rich)
	cp -a rich copy
	same_sum "$first" -U $uuid -d copy
	rm -rf copy
	room=$(mktemp -d /dev/shm/nilfs2-test.XXXXXX 2>/dev/null) || room=$PWD
	mkdir "$room/copy"
	(cd rich && find . -print0 | sort -zr | tar -cSf - --format=posix \
		--null --no-recursion -T -) |
		tar -C "$room/copy" -xpf - --same-owner 2>messages
	diff <(source_manifest rich) <(source_manifest "$room/copy")
	same_sum "$first" -U $uuid -d "$room/copy"
	read_otherwise "$room/copy"
}

read_otherwise() {
	[ "$(ls -U rich/many)" != "$(ls -U "$1/many")" ] ||
		skip "names are read in the same order"
}

teardown() {
	rm -rf copy "${room:-none}/copy"
	[ -z "${room-}" ] || rmdir "$room" 2>/dev/null || true
}

@test "a file's content, name, mode, owner, time and place do" {
	cp -a rich copy
	first=$(make -U $uuid -d copy)
	same_sum "$first" -U $uuid -d copy
	touch -r copy/names time
	changes=(
		'printf x >>copy/links/z; touch -hd @1000 copy/links/z'
		'mv copy/names/CASE copy/names/cASE; touch -r time copy/names'
		'chmod 0611 copy/types/file'
		'touch -hd @1000.000000002 copy/links/z'
		'truncate -s +1 copy/holes/all; touch -hd @1000 copy/holes/all'
	)
	[ "$(id -u)" -ne 0 ] || changes+=('chown 1:1 copy/types/file')
	for change in "${changes[@]}"; do
		eval "$change"
		next=$(make -U $uuid -d copy)
		[ "$next" != "$first" ]
		first=$next
	done
	rm -rf copy
}

@test "the time of the volume: SOURCE_DATE_EPOCH, -P" {
	first=$(make -U $uuid -d layer)
	sleep 1.1
	same_sum "$first" -U $uuid -d layer
	SOURCE_DATE_EPOCH=2000000001
	[ "$(make -U $uuid -d layer)" != "$first" ]
	unset SOURCE_DATE_EPOCH
	same_sum "$first" -U $uuid -d layer -P 2000000000
}

@test "no file is younger than SOURCE_DATE_EPOCH, older ones stay" {
	SOURCE_DATE_EPOCH=1000050000
	make -U $uuid -d layer
	dump.nilfs2 ls -R --full-time --json-lines image |
		grep -o '"path":"[^"]*"\|"mtime":[0-9]*' | paste - - >times
	[ "$(cut -d: -f3 times | sort -n | tail -1)" -eq 1000050000 ]
	diff <(cut -d: -f3 times | sort -n) \
		<(find layer -printf '%T@\n' | cut -d. -f1 |
			awk '{ print ($1 > 1000050000) ? 1000050000 : $1 }' |
			sort -n)
}

uuid_of() {
	blkid -p -o value -s UUID image
}

@test "-U content: the same for the same, another for another" {
	need blkid
	make -U content -d layer >sum1
	first=$(uuid_of)
	[[ $first =~ ^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$ ]]
	[ "$first" != 00000000-0000-0000-0000-000000000000 ]
	make -U content -d layer -j 7 >sum2
	[ "$(uuid_of)" = "$first" ]
	cmp sum1 sum2
	cp -a layer other
	printf x | dd of=other/many/of-the-second-layer-7 bs=1 seek=3 \
		conv=notrunc status=none
	touch -r layer/many/of-the-second-layer-7 \
		other/many/of-the-second-layer-7
	make -U content -d other
	[ "$(uuid_of)" != "$first" ]
	rm -rf other
}

@test "-U content follows block size and features, too" {
	need blkid
	make -U content -d layer
	first=$(uuid_of)
	for options in '-b 2048' '-O sufile_live_blks_ext' --snapshot; do
		make -U content -d layer $options
		[ "$(uuid_of)" != "$first" ]
	done
}
