# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What no output of a tool may take the place of, or be written to.

# make_things: a file "mine", a link to it, one to nothing, a folder, another name
# of $image, and a device, where that can be made.
make_things() {
	echo mine >mine
	ln -sf mine link
	ln -sf absent dangling
	mkdir -p folder
	ln -f "$image" same
	[ -e device ] || mknod device b 7 4095 2>/dev/null || true
}

# things: what is there now, and when it was changed.
things() {
	find . -mindepth 1 ! -name before -printf '%p %y %i %s %T@ %l\n' | sort
}

# spares STATUS PATH TEXT COMMAND...: the command, whose word OUT stands for PATH, ends
# with the status, names PATH and the reason TEXT, and nothing has changed.
spares() {
	local status=$1 path=$2 text=$3

	shift 3
	things >before
	run -"$status" "${@/#OUT/$path}"
	[[ $output == *": $path: "*"$text"*"give the name of a new file"* ]] ||
		return
	things | diff before -
}

# spares_things STATUS COMMAND...: each of the things, with whatever option there is.
spares_things() {
	make_things
	spares "$1" link 'symbolic link' "${@:2}"
	spares "$1" dangling 'symbolic link' "${@:2}"
	spares "$1" folder 'is a directory' "${@:2}"
	spares "$1" same 'is the input itself' "${@:2}"
	[ ! -e device ] || spares "$1" device 'is a block device' "${@:2}"
}
