# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every type of file, odd names, odd times, odd modes and owners; the default
# block and segment sizes.
SIZE=160M
MKFS='-b 4096 -B 2048'

fill() {
	local name i

	nilfs_mount "$DEV1"
	cd "$MNT"
	mkdir types names times modes links
	mkfifo types/fifo
	mknod types/char c 5 1
	mknod types/block b 259 1048575
	mknod types/zero c 0 0
	perl -MSocket -e 'socket my $s, AF_UNIX, SOCK_STREAM, 0;
			  bind $s, sockaddr_un("types/socket") or die $!'
	ln -s short types/symlink-short
	ln -s "$(printf '%0255d' 1)" types/symlink-255
	ln -s "$(printf '%04000d' 1)" types/symlink-4000
	ln -s $'odd\ntarget\377' types/symlink-odd

	for name in $'new\nline' $'\377\376not-utf8' $'tab\there' \
		    'back\slash' ' blank ' '*' '-r' $'\001' \
		    'größe-日本' "$(printf '%0255d' 7)" a ab abc abcdefgh \
		    abcdefghi; do
		echo "$name" >"names/$name"
		mkdir "names/d-${name:0:253}"
	done

	for i in -1 -1.5 -2147483649.000000001 0 0.000000001 \
		 1.999999999 2147483648 4294967296.123456789 \
		 253402300800 1000000000000; do
		echo "$i" >"times/at$i"
		touch -d "@$i" "times/at$i"
	done
	ln -s x times/symlink
	touch -h -d @-3.25 times/symlink
	mkdir times/dir
	touch -d @5.5 times/dir

	for i in 0000 0777 1777 2755 4755 6711 7777; do
		echo "$i" >"modes/$i"
		chown "$((0x$i)):4294967294" "modes/$i"
		chmod "$i" "modes/$i"
	done

	echo linked >links/a
	for i in {1..300}; do
		ln links/a "links/b$i"
	done
	ln types/fifo links/fifo
	ln types/symlink-short links/symlink
	# All of it in one log, which is not the last one.
	sync
	touch -d @7.25 modes
	cd /
	nilfs_umount
}

verify() {
	# Tests name blocks of its logs by number.
	[ "$(awk 'END { print $1 }' lscp)" -eq 3 ]
}
