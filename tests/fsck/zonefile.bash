# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files about zones of an image file: what stands in "image.zones", the
# file beside "image", which zbd(8) reads as well.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../kernel/noise.bash"

# set_zone N POINTER CONDITION: what the file beside the image says.
set_zone() {
	perl -e '($n, $pointer, $cond) = @ARGV;
		 open F, "+<", "image.zones" or die;
		 seek F, 192 + 64 * $n + 24, 0; print F pack("Q<", $pointer);
		 seek F, 192 + 64 * $n + 40, 0; print F pack("L<", $cond)' "$@"
}

# Conditions of zones.
# shellcheck disable=SC2034
closed=4 full=14 offline=15

# zone N FIELD: "wp", its write pointer in blocks of 4 KiB, or its condition.
zone() {
	zbd report image.zones | perl -ne '
		/^Zone 0*'"$1"': .* wp 0*(\d+), (\w\w)/ and
		print "'"$2"'" eq "wp" ? $1 / 4096 : $2'
}

# append N BLOCKS: something that is no log, at the write pointer.
append() {
	local at

	at=$(zone "$1" wp)
	put_noise image $((at * 4096)) $(($2 * 4096))
	set_zone "$1" $(((at + $2) * 4096)) $closed
}

# Of a zone, and of a segment of volume().
# shellcheck disable=SC2034
bytes=4194304 blocks=1024

# zones_setup: what volume() needs.
zones_setup() {
	command -v zbd >/dev/null || skip "needs zbd"
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$NILFS2_BUILD/mkfs:$NILFS2_BUILD/fsck:$NILFS2_BUILD/dump:$PATH
	mkdir -p tree/dir
	head -c 9000000 /dev/urandom >tree/large
	head -c 30000 /dev/urandom >tree/dir/small
}

# volume [MKFS-OPTION...]: the tree fills zone 0 and 1; the latest log is in
# zone 2, the next segment is zone 3.
volume() {
	rm -f image image.zones
	mkfs.nilfs2 -q -d tree --size 96M --zone-size 4M "$@" image
}
