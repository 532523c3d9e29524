#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# judge_undo.sh: what is in "image" after "undo" was put back into it, wholly or
# in part: doing it again must end with all of it.
fsck.nilfs2 --undo undo image >/dev/null 2>said || {
	cat said
	exit 1
}
sha256sum <image
