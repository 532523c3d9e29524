# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots spread over several blocks of the checkpoint file, and the whole of
# a block's checkpoints deleted between them.
SIZE=64M
MKFS='-b 2048 -B 512'

fill() {
	nilfs_mount "$DEV1"
	perl -e "$perl_checkpoint"'
		my ($dir, $device) = @ARGV;
		my %kept = map { $_ => 1 } 5, 6, 40, 41, 70;
		for my $i (2 .. 79) {
			# The time of the kernel goes on in steps of 10 ms.
			select undef, undef, undef, 0.03;
			open my $file, ">", "$dir/f" . $i % 7 or die $!;
			print $file "$i\n";
			close $file;
			if ($kept{$i}) {
				system "mkcp", "-s", $device and die;
			} else {
				checkpoint($dir);
			}
		}' "$MNT" "$DEV1"
	rmcp -f "$DEV1" 10..38
	nilfs_umount
}
