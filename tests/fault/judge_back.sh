#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# judge_back.sh: as judge.sh of a volume that is repaired with an undo file.  As
# soon as a byte of the image has changed, the undo file must lead back to what
# it was, which is in "before".
set -u
if ! cmp -s image before; then
	cp image back
	fsck.nilfs2 -q --undo undo back >said 2>&1 &&
		cmp back before >>said 2>&1 || {
		echo "the undo file does not lead back: $(cat said)"
		exit 1
	}
fi
exec "$(dirname "$0")/judge.sh" image
