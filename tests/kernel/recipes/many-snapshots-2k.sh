# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots spread over several blocks of the checkpoint file, and the whole of
# a block's checkpoints deleted between them.
SIZE=64M
MKFS='-b 2048 -B 512'

fill() {
	local i

	nilfs_mount "$DEV1"
	perl -e "$perl_checkpoint"'
		my $dir = shift;
		for my $i (2 .. 79) {
			open my $file, ">", "$dir/f" . $i % 7 or die $!;
			print $file "$i\n";
			close $file;
			checkpoint($dir);
		}' "$MNT"
	for i in 5 6 40 41 70; do
		chcp ss "$DEV1" "$i"
	done
	rmcp -f "$DEV1" 10..38
	nilfs_umount
}
