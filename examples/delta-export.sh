#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# delta-export.sh IMAGE OLD NEW DELTA.tar: what turns checkpoint OLD into checkpoint
# NEW, as a layer of a container image: changed files, and whiteouts for names that
# were removed.  A suffix such as .tar.zst compresses it.
#
# It is for a device that has OLD: made of the same archive, or of an export of
# that checkpoint ("dump.nilfs2 export -c OLD IMAGE BASE.tar").  See delta-apply.sh.
# A volume that exists gets it by "mkfs.nilfs2 --add -d DELTA.tar VOLUME", which
# refuses one that is not at OLD.
set -eu
image=$1 old=$2 new=$3 delta=$4

dump.nilfs2 export --since "$old" -c "$new" "$image" "$delta"
# Status 3 are differences.
dump.nilfs2 diff "$image" "$old" "$new" || [ $? -eq 3 ]
