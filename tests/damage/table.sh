#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# table.sh [OPTION...]: the table of what fsck.nilfs2 restores, over images of
# different kinds.  OPTIONs are those of the program; --every 50 takes minutes.
# NILFS2_BUILD and NILFS2_SOURCE say where both are.
set -eu

images='snapshots small-files deep-1k cleaned-1k cleaned nearly-full special
	many-snapshots-2k plain-checkpoints crash-dsync crash-sr'

corpus=$("$NILFS2_SOURCE/tests/kernel/corpus.sh" --cached)
for name in $images; do
	set -- "$@" "$corpus/$name/image"
done
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
PATH=$NILFS2_BUILD/mkfs:$PATH "$NILFS2_SOURCE/tests/damage/fresh.sh" "$made"
"$NILFS2_BUILD/tests/damage/damage" --jobs "$(nproc)" "$@" "$made/fresh/image"
