# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plain checkpoints only, each overwriting parts of the one before: nearly every
# segment holds a few live blocks among dead ones.  Many checkpoints, so that
# the checkpoint file has several blocks.
SIZE=64M
MKFS='-b 4096 -B 128'

fill() {
	nilfs_mount "$DEV1"
	noise 1 4000000 >"$MNT/base"
	sync
	perl -e "$perl_checkpoint"'
		chdir shift;
		open my $base, "+<:raw", "base" or die $!;
		for my $i (0 .. 149) {
			# The time of the kernel goes on in steps of 10 ms.
			select undef, undef, undef, 0.03;
			srand $i;
			for my $n (1 .. 15) {
				sysseek $base, 4096 * int(rand 900), 0;
				syswrite $base, pack("LL", $i, $n) x 512 or die $!;
			}
			open my $step, ">", "step" or die $!;
			print $step "$i\n";
			close $step;
			checkpoint(".");
		}' "$MNT"
	rm "$MNT/step"
	nilfs_umount
}

verify() {
	[ "$(wc -l <lscp)" -gt 150 ]
}
