#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the corpus: images written by the distribution's mkfs.nilfs2 and the
# kernel, each beside the kernel's own view of it.  An image is one recipe,
# recipes/NAME.sh; README.md says how to write one and what the files hold.  A
# second set, "big", has blocks larger than a page of this machine: the guest
# with large pages makes these, in recipes-big/.

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The system's tools first: the tests put this project's mkfs.nilfs2 in PATH.
export PATH=/usr/sbin:/sbin:$PATH

usage() {
	cat <<'EOF'
usage: corpus.sh [--set big] [--jobs N] [--only NAME]... DIR
                                build into DIR
       corpus.sh [--set big] [--jobs N] --cached
                                print a directory, built if needed
       corpus.sh [--set big] --list
                                print the recipes' names
       corpus.sh [--set big] --available
                                print why it cannot be had, if so
EOF
}

die() {
	echo "corpus.sh: $*" >&2
	exit 1
}

missing() {
	[ "$set" != big ] || { "$here/guest.sh" --available ppc64; return; }
	"$here/guest.sh" --available uml || return
	for tool in mkfs.nilfs2 lscp dumpseg nilfs_cleanerd; do
		command -v "$tool" >/dev/null && continue
		echo "$tool not found (package nilfs-tools)"
		return 1
	done
}

recipes() {
	local file

	for file in "$recipes"/*.sh; do
		basename "$file" .sh
	done
}

# Changes whenever a recipe, the harness or the guest changes.
cache_key() {
	{ cat "$here"/*.sh "$here"/*.pl "$recipes"/*
	  mkfs.nilfs2 -V 2>&1
	  basename -a /usr/lib/uml/modules/*; } | sha256sum | cut -c1-16
}

# run_guest ARGUMENT...: guest.sh as the recipe wants it.
run_guest() {
	"$here/guest.sh" --backend "$BACKEND" --timeout "$TIMEOUT" "$@"
}

# source_of NAME: the text of recipe NAME, then what its set has in common.
source_of() {
	cat "$recipes/$1.sh"
	[ ! -e "$recipes/shared.bash" ] || cat "$recipes/shared.bash"
}

# make_image NAME: recipe NAME's image in the current directory.  Where the
# host cannot mount the block size its mkfs.nilfs2 refuses it.  The driver makes
# a checkpoint five seconds after a change unless it is set to wait: on a slow
# machine checkpoints that no recipe asked for.
make_image() {
	local status wanted=0 first='nilfs-tune -i 86400 "$DEV1" >/dev/null'

	[ -z "$KILL_ON" ] || wanted=137
	truncate -s "$SIZE" image || return
	# Word splitting of the recipe's options is meant.
	case $BACKEND in
	ppc64) first='mkfs.nilfs2 -q $MKFS "$DEV1"' ;;
	*) mkfs.nilfs2 -q $MKFS image || return ;;
	esac
	[ "$(type -t fill)" = function ] || return 0
	{ source_of "$1"; echo "set -e; $first; fill"; } |
	run_guest ${KILL_ON:+--kill-on "$KILL_ON"} --dmesg dmesg - image \
		>fill.log 2>&1
	status=$?
	[ "$status" -eq "$wanted" ] || {
		cat fill.log dmesg >&2
		echo "$1: fill ended with status $status" >&2
		return 1
	}
}

# look: write the kernel's view of ./image, seen on copies.
look() {
	local copies=(copy1)

	cp --sparse=always image copy1 || return
	if [ -n "$KILL_ON" ]; then
		copies+=(copy2)
		cp --sparse=always image copy2 || return
	fi
	run_guest --share . --dmesg dmesg.look "$here/corpus-look.sh" \
		"${copies[@]}" >look.log 2>&1 || {
		cat look.log dmesg.look >&2
		return 1
	}
	cmp image copy1 || return
	rm -f copy1 copy2 look.log fill.log dmesg.look
}

as_meant() {
	[ "$(type -t verify)" = function ] || return 0
	# In a tested command "set -e" has no effect: another shell.
	bash -ec '. /dev/stdin; verify >/dev/null' < <(source_of "$1")
}

# A slow machine can miss the moment that a recipe is about: tried again.
build_one() (
	SIZE=64M MKFS='' TIMEOUT=600 KILL_ON='' BACKEND=uml
	. /dev/stdin < <(source_of "$1")
	work=$2/.$1.$$
	trap 'rm -rf "$work"' EXIT
	for try in 1 2 3; do
		rm -rf "$work"
		mkdir -p "$work" && cd "$work" || exit
		make_image "$1" && look || { echo "$1: failed" >&2; exit 1; }
		as_meant "$1" && break
		echo "$1: not as meant, try $try" >&2
		[ "$try" -lt 3 ] || exit 1
	done
	cd / && rm -rf "${2:?}/$1" && mv "$work" "$2/$1"
)

build_all() {
	mkdir -p "$1" || return
	printf '%s\n' "${only[@]}" |
		xargs -P "$jobs" -I NAME "$here/corpus.sh" ${set:+--set "$set"} \
			--one NAME "$1"
}

cached() {
	local base dir

	base=${XDG_CACHE_HOME:-${HOME-}/.cache}/nilfs2-progs
	base=${NILFS2_TEST_CACHE:-$base}
	dir=$base/corpus-${set:+$set-}$(cache_key)
	mkdir -p "$base" || return
	(
		flock 9
		[ -e "$dir/complete" ] && exit
		build_all "$dir" >&2 || exit
		# What older versions of the recipes left.
		find "$base" -maxdepth 1 -name 'corpus-*' -mtime +7 \
			-exec rm -rf {} +
		: >"$dir/complete"
	) 9>"$base/corpus${set:+-$set}.lock" || return
	echo "$dir"
}

jobs=2 only=() set='' recipes=$here/recipes
while [ $# -gt 0 ]; do
	case $1 in
	--set) set=$2 recipes=$here/recipes-$2; shift 2
		[ -d "$recipes" ] || die "no such set: $set" ;;
	--jobs) jobs=$2; shift 2 ;;
	--only) only+=("$2"); shift 2 ;;
	--list) recipes; exit ;;
	--available) missing; exit ;;
	--one) build_one "$2" "$3"; exit ;;
	--cached) reason=$(missing) || die "$reason"
		mapfile -t only < <(recipes); cached; exit ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
done
[ $# -eq 1 ] || { usage >&2; exit 2; }
reason=$(missing) || die "$reason"
[ ${#only[@]} -gt 0 ] || mapfile -t only < <(recipes)
mkdir -p "$1" && build_all "$(cd "$1" && pwd)"
