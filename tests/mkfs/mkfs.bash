# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of mkfs.nilfs2 share.  "mkfs" is ours; the distribution's is
# asked for by need_peer and then in $peer.

load ../kernel/state

mkfs() {
	"$NILFS2_BUILD/mkfs/mkfs.nilfs2" "$@"
}

# image SIZE: an empty image file of that size, called "image".
image() {
	rm -f image
	truncate -s "$1" image
}

sum() {
	cksum <"${1-image}"
}

need() {
	PATH=$PATH:/usr/sbin:/sbin
	command -v "$1" >/dev/null || skip "$1 not found"
}

# The distribution's mkfs.nilfs2, found by what it says of itself.
need_peer() {
	local dir

	for dir in /usr/sbin /sbin; do
		peer=$dir/mkfs.nilfs2
		! "$peer" -V 2>&1 | grep -q nilfs-utils || return 0
	done
	skip "no mkfs.nilfs2 of nilfs-utils"
}

# field OFFSET LENGTH [FILE]: hexadecimal digits of bytes of an image.
field() {
	od -An -v -tx1 -j "$1" -N "$2" "${3-image}" | tr -d ' \n'
}

# refused STATUS TEXT ARGUMENT...: mkfs must fail so, naming itself, and leave
# "image" as it is.
refused() {
	local want=$1 text=$2 before=''

	shift 2
	[ ! -f image ] || before=$(state_of image)
	run mkfs "$@"
	echo "status $status: $output"
	[ "$status" -eq "$want" ] || return
	[[ ${lines[0]} == mkfs.nilfs2:* ]] || return
	[[ $output == *"$text"* ]] || return
	[ -z "$before" ] || [ "$before" = "$(state_of image)" ]
}

# unprivileged COMMAND...: root too is bound by the modes of files.
unprivileged() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search \
			--inh-caps=-dac_override,-dac_read_search "$@"
	else
		"$@"
	fi
}

# clean_log FILE: a guest's kernel log with NILFS2 in it and no complaint.
clean_log() {
	cat "$1"
	grep -q 'segctord starting' "$1" || return
	! grep -iE 'nilfs.*(error|warn|bad|broken|invalid|unable|fail)' "$1" ||
		return
	! grep -iE 'I/O error|BUG|WARNING:' "$1"
}
