#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# mkfs.nilfs2 --oci: members below symbolic links of lower layers and of their own
# archive go where these lead, if the volume is the root directory.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate
load layers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir empty
	tar cf empty.tar empty
	need_archives empty.tar
	mkdir -p lower/usr/lib/sub lower/a/b
	echo old >lower/usr/lib/old
	echo sub >lower/usr/lib/sub/old
	echo file >lower/file
	ln -s usr/lib lower/lib
	ln -s /usr/lib lower/absolute
	ln -s ../../lib lower/a/b/up
	ln -s ../../../../a/b/up lower/chain
	ln -s two lower/one
	ln -s ./one lower/two
	ln -s usr/new/dir lower/dangling
	ln -s usr/lib/old lower/to-file
	tar cf lower.tar -C lower .
}

# layer MEMBER...: "upper.tar" has these members, whose content is their name.
layer() {
	local name

	rm -rf upper
	for name; do
		mkdir -p "upper/$(dirname "$name")"
		echo "$name" >"upper/$name"
	done
	tar --no-recursion -cf upper.tar -C upper "$@"
}

over() {
	rm -f image
	mkfs -q -B 16 --size 4M --oci -d lower.tar -d upper.tar image
	fsck.nilfs2 -n image >checked || { cat checked; return 1; }
}

@test "relative and absolute links, chains, '..', and missing directories" {
	for name in lib absolute a/b/up chain; do
		layer "$name/new" "$name/sub/new"
		over
		[ "$(dump.nilfs2 cat image /usr/lib/new)" = "$name/new" ]
		[ "$(dump.nilfs2 cat image /usr/lib/old)" = old ]
		[ "$(dump.nilfs2 cat image /usr/lib/sub/new)" = "$name/sub/new" ]
		[ "$(dump.nilfs2 cat image /usr/lib/sub/old)" = sub ]
		[[ $(dump.nilfs2 ls -l image / | grep lib) == l* ]]
	done
	layer dangling/new
	over
	[ "$(dump.nilfs2 cat image /usr/new/dir/new)" = dangling/new ]
}

@test "links of the same archive" {
	mkdir -p upper/real
	ln -s real upper/link
	echo new >upper/new
	tar -cf upper.tar -C upper link real
	tar -rf upper.tar -C upper --transform 's,new,link/new,' new
	over
	[ "$(dump.nilfs2 cat image /real/new)" = new ]
	mkfs -qf -B 16 --size 4M -d upper.tar image
	[ "$(dump.nilfs2 cat image /real/new)" = new ]
}

@test "whiteouts and opaque directories below links" {
	layer lib/.wh.old
	over
	run ! dump.nilfs2 cat image /usr/lib/old
	dump.nilfs2 cat image /usr/lib/sub/old
	layer absolute/.wh..wh..opq chain/new
	over
	[ "$(dump.nilfs2 ls image /usr/lib)" = new ]
	layer .wh.lib lib/new
	over
	[ "$(dump.nilfs2 cat image /lib/new)" = lib/new ]
	[ "$(dump.nilfs2 cat image /usr/lib/old)" = old ]
}

@test "below a file, and in a loop: the message names both" {
	for name in file to-file; do
		layer "$name/new"
		run -1 mkfs -qf -B 16 --size 4M --oci -d lower.tar -d upper.tar \
			image
		case $name in
		file) where=file ;;
		*) where=usr/lib/old ;;
		esac
		[[ $output == *"$name/new: lies below $where, which is not a directory" ]]
	done
	layer one/new
	run -1 mkfs -qf -B 16 --size 4M --oci -d lower.tar -d upper.tar image
	[[ $output == *"one/new: too many symbolic links lead there" ]]
}

@test "a directory replaces a link of its name, with a warning" {
	mkdir -p upper/lib
	echo new >upper/lib/new
	tar cf upper.tar -C upper lib
	for source in upper.tar upper; do
		run -0 mkfs -qf -B 16 --size 4M -d lower.tar -d $source image
		[[ $output == *"directories replace 1 symbolic link of lower layers" ]]
		[ "$(dump.nilfs2 ls image /lib)" = new ]
		[ "$(dump.nilfs2 cat image /usr/lib/old)" = old ]
	done
}

@test "a directory after a file of its name in the same archive is new" {
	mkdir -p first/lib second/lib
	rmdir first/lib
	echo x >first/lib
	rm lower/lib
	mkdir lower/lib
	echo old >lower/lib/old
	tar cf lower.tar -C lower .
	tar cf upper.tar -C first lib
	tar rf upper.tar -C second lib
	over
	[ -z "$(dump.nilfs2 ls image /lib)" ]
}

@test "random layers, as the model has them" {
	local last=$((30 * ${SEED:-1}))

	for ((seed = last - 29; seed <= last; seed++)); do
		make_layers "$seed"
		made_here >made
		diff layers/wanted made || { echo "seed $seed"; return 1; }
	done
}
