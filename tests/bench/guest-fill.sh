# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in a guest.  What a used volume looks like: $SHARE/files copied in, every
# second one deleted, some of the rest overwritten here and there, a snapshot,
# and some more deleted.

set -eu

overwrite() {
	perl -e 'srand 1;
		 while (my $file = <STDIN>) {
			 chomp $file;
			 open my $fh, "+<:raw", $file or die "$file: $!\n";
			 my $blocks = int((-s $fh) / 4096);
			 for (1 .. $blocks / 16) {
				 sysseek $fh, 4096 * int(rand $blocks), 0;
				 syswrite $fh, pack("L", $_) x 1024;
			 }
		 }'
}

files() {
	find "$MNT" -xdev -type f "$@" | LC_ALL=C sort
}

nilfs_mount "$DEV1"
tar -C / -cf - --no-recursion -T "$SHARE/files" | tar -C "$MNT" -xf -
sync
files | awk 'NR % 2' | tr '\n' '\0' | xargs -0 rm
find "$MNT" -mindepth 1 -type d -empty -delete
sync
files -size +1M | overwrite
sync
snapshot "$DEV1" >/dev/null
files | awk 'NR % 10 == 0' | tr '\n' '\0' | xargs -0 rm
nilfs_umount
