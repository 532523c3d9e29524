# SPDX-License-Identifier: GPL-2.0-or-later
#
# churn.pl FILE MIB SEED TOTAL [CLEAN]: writes to a file of MIB, first all of it, then
# runs of blocks at random places, TOTAL MiB in all; nine of ten to a tenth of it.  Reads
# all back from the device, and dies at the first difference or failure.  Prints what was
# written.  Waits for a cleaner where CLEAN segments (0) or fewer are clean, for five
# minutes at most.
use strict;
use warnings;

my ($file, $mib, $seed, $total, $clean) = @ARGV;
my $blocks = $mib * 256;
my @version = (0) x $blocks;
my $written = 0;

srand $seed;
my $noise = pack 'L*', map { int rand 2 ** 32 } 1 .. 1022;

sub block {
	my ($n) = @_;
	return pack('LL', $n, $version[$n]) . $noise;
}

# NILFS_IOCTL_GET_SUSTAT
sub wait_for_cleaner {
	my ($fh) = @_;
	for (1 .. 3000) {
		ioctl $fh, 0x80306e85, my $stat = "\0" x 48 or die "segments: $!\n";
		return if (unpack 'Q2', $stat)[1] > $clean;
		select undef, undef, undef, 0.1;
	}
	die "$file: no segments are cleaned\n";
}

sub put {
	my ($fh, $first, $n) = @_;
	my $data = '';
	for my $i ($first .. $first + $n - 1) {
		$version[$i]++;
		$data .= block($i);
	}
	sysseek $fh, $first * 4096, 0;
	(syswrite($fh, $data) // 0) == length $data or die "$file: write: $!\n";
	wait_for_cleaner($fh) if $clean;
	# syncfs(2)
	my $before = int($written / 1024);
	$written += $n;
	int($written / 1024) == $before or syscall(306, fileno $fh) == 0
		or die "$file: syncfs: $!\n";
}

open my $fh, '+>:raw', $file or die "$file: $!\n";
for (my $i = 0; $i < $blocks; $i += 256) {
	put($fh, $i, 256);
}
while ($written < $total * 256) {
	my $range = rand() < .9 ? $blocks / 10 : $blocks;
	my $n = 1 + int rand 64;
	put($fh, int rand($range - $n), $n);
}
close $fh or die "$file: $!\n";
open my $drop, '>', '/proc/sys/vm/drop_caches' or die "$!\n";
print $drop "3\n";
close $drop;
open $fh, '<:raw', $file or die "$file: $!\n";
my $is;
for my $i (0 .. $blocks - 1) {
	sysread($fh, $is, 4096) == 4096 && $is eq block($i)
		or die "$file: block $i differs\n";
}
printf "%s: %d MiB written\n", $file, $written / 256;
