#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints the path of a volume that the kernel has filled with a part of this
# machine's /usr and then aged (see guest-fill.sh).  It is made once, in about
# a minute, and kept in the test cache; its content differs between machines.

set -eu

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$PATH:/usr/sbin:/sbin
bytes=1400000000

cache=${NILFS2_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nilfs2-progs}
key=$(cat "$here/guest-fill.sh" "$here/image.sh" | sha256sum | cut -c1-16)
dir=$cache/bench-$key

# Small files first of all, then the large ones, in equal shares of the bytes;
# a directory comes before what is in it.
choose() {
	find /usr -xdev \( -type d -o -type l -o -type f -readable \) \
		-printf '%s %y %p\n' | grep -v '[\\"]' | LC_ALL=C sort -k3 |
	awk -v bytes="$1" '
		$2 != "f" { next_is[++n] = $0; next }
		($1 < 65536 ? small += $1 : large += $1) <= bytes / 2 {
			next_is[++n] = $0
		}
		$1 < 65536 && small > bytes / 2 { small -= $1 }
		$1 >= 65536 && large > bytes / 2 { large -= $1 }
		END {
			for (i = 1; i <= n; i++) {
				sub(/^[0-9]+ . \//, "", next_is[i])
				print next_is[i]
			}
		}'
}

build() {
	mkdir "$1"
	choose "$bytes" >"$1/files"
	truncate -s 4G "$1/image"
	mkfs.nilfs2 -q "$1/image"
	"$here/../kernel/guest.sh" --timeout 600 --mem 1G --share "$1" \
		"$here/guest-fill.sh" "$1/image"
	rm "$1/files"
}

mkdir -p "$cache"
exec 9>"$cache/bench.lock"
flock 9
if [ ! -e "$dir/image" ]; then
	trap 'rm -rf "$dir.new"' EXIT
	rm -rf "$dir.new"
	build "$dir.new" >&2
	mv "$dir.new" "$dir"
fi
echo "$dir/image"
