#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# judge_keep.sh: as judge.sh, of "image"; "record" never has a snapshot that was made by
# hand, nor half a line.
! grep -sEvx '#.*|[47] 1700000000' record || exit 1
exec "$(dirname "$0")/judge.sh" image
