#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints a directory tree as text that is the same wherever it is computed: one
# line per entry, sorted by the bytes of the path, fields separated by tabs.
# Works on a mounted volume in a guest and on an exported copy on the host.

set -u -o pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
	cat <<'EOF'
usage: manifest.sh [--drop COLUMN,...] [--blocks FILE] [--limit BYTES] DIR
       manifest.sh [--drop COLUMN,...] -

Columns: type mode uid gid nlink size blocks mtime ctime rdev ino content
link path.  --drop puts "-" for those named; "dirsize" and "dirnlink" mean
size and nlink of directories only; "portable" means all that an exported
copy cannot keep: dirsize, dirnlink, blocks, ctime, ino.  With - a manifest
is read from standard input, and only --drop is applied.

content   sha256:HEX of the bytes of a regular file;
          runs:HEX for one larger than --limit (64 MiB): sha256 over, for each
          longest run of 1024-byte units that are not all zero, the line
          "OFFSET LENGTH\n" and the run's bytes, so that holes and written
          zeroes are the same; target:PATH of a symbolic link;
          error:TEXT if it could not be read; else -
link      the first path with the same inode, if nlink > 1 and it is no
          directory
path      relative to DIR, which is "."; bytes outside printable ASCII and
          the backslash are \ooo, in targets too

A file system that does not report holes of files (NILFS2 in the kernel)
would have us read every byte of a huge sparse file.  --blocks FILE gives lines
"INO OFFSET LENGTH" that cover all data of files past --limit.
EOF
}

drop='' blocks='' limit=$((64 << 20))
while [ $# -gt 1 ]; do
	case $1 in
	--drop) drop=$2; shift 2 ;;
	--blocks) blocks=$2; shift 2 ;;
	--limit) limit=$2; shift 2 ;;
	*) usage >&2; exit 2 ;;
	esac
done
case ${1-} in
''|--*) usage; exit 2 ;;
-)	exec perl "$here/manifest.pl" drop "$drop" ;;
esac

[ -z "$blocks" ] || blocks=$(realpath "$blocks") || exit
cd "$1" || exit
find . -print0 | sort -z |
	xargs -0 stat --printf \
	'%f\t%u\t%g\t%h\t%s\t%b\t%.9Y\t%.9Z\t%t\t%T\t%d\t%i\t%n\0' |
	perl "$here/manifest.pl" list "$blocks" "$limit" |
	perl "$here/manifest.pl" drop "$drop"
