# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Loaded by lab and by ../fsck/zonefile.

# put_noise FILE OFFSET BYTES [SEED]: overwrite bytes, a multiple of 4, with some
# that look random and are the same each time.
put_noise() {
	perl -e 'srand shift;
		 print pack "L*", map { int rand 2 ** 32 } 1 .. shift' \
		"${4-1}" $(($3 / 4)) |
		dd of="$1" oflag=seek_bytes seek="$2" bs=64K \
			iflag=fullblock conv=notrunc status=none
}
