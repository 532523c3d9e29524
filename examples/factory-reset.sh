#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# factory-reset.sh DEVICE: the files of an unmounted volume become those of its
# first snapshot, the factory state.
#
# This adds checkpoints and deletes none: what was there before is a snapshot N too,
# until "gc.nilfs2 -f --delete-checkpoints N DEVICE".
set -eu
device=$1

# A list of checkpoint numbers, the oldest first.
snapshots()
{
	dump.nilfs2 checkpoints -s --json "$device" |
		jq -r '.checkpoints[].checkpoint'
}

# A volume that was not unmounted, or is damaged, must be repaired first: this
# does what cannot lose anything.
fsck.nilfs2 -a "$device" || [ $? -eq 1 ]

factory=$(snapshots | head -n 1)
[ -n "$factory" ] || {
	echo "$device: has no snapshot" >&2
	exit 1
}
gc.nilfs2 -q --take-snapshot "$device"
kept=$(snapshots | tail -n 1)
fsck.nilfs2 --rollback="$factory" "$device" || [ $? -eq 1 ]
fsck.nilfs2 -n "$device"
echo "$device: factory state of checkpoint $factory," \
	"the state before is snapshot $kept"
