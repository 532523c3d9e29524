#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# fresh.sh DIR: makes DIR/fresh/image, a volume as mkfs.nilfs2 writes it.  Its only
# checkpoint is the latest state and a snapshot.
set -eu

mkdir -p "$1/fresh/tree/some/more"
cd "$1/fresh"
seq 20000 >tree/some/more/numbers
for i in $(seq 40); do
	echo "$i" >"tree/file-$i"
	ln "tree/file-$i" "tree/some/name-$i"
	ln -s "$i" "tree/some/more/link-$i"
done
find tree -exec touch -hd @1000000000 {} +
mkfs.nilfs2 -q --size 16M -B 64 --snapshot -d tree image
rm -r tree
