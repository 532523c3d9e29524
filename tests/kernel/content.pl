# SPDX-License-Identifier: GPL-2.0-or-later
# content.pl FILE...: what files hold, to be hashed: their sizes, and pieces that are
# not zero with their places.  Holes, which are most of an image, are not read, and
# are the same as zeros.
use strict;
use warnings;

my $piece = 1 << 16;
my $zeros = "\0" x $piece;
my ($SEEK_SET, $SEEK_DATA) = (0, 3);

for my $name (@ARGV) {
	open my $file, '<', $name or die "$name: $!\n";
	print -s $file, "\n";
	my $at = 0;
	while (defined($at = sysseek $file, $at, $SEEK_DATA)) {
		$at -= $at % $piece;
		sysseek $file, $at, $SEEK_SET;
		sysread($file, my ($data), $piece) or die "$name: $!\n";
		print $at, $data if $data ne substr $zeros, 0, length $data;
		$at += $piece;
	}
}
