# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads the JSON lines of "dump.nilfs2 ls -Ri" (FILE) and of "dump.nilfs2 logs
# --blocks" (standard input), and says how files lie that do not lie as they
# should:
#
#     perl extents.pl FILE BLOCK_SIZE BLOCKS_PER_SEGMENT
#
# A file that fits in a segment must have one extent: its blocks follow one
# another, and nothing else is between; or two, in two segments.  A longer one may
# have one extent in each segment, of which only the first and the last may be
# short.  Ends with "FILES MULTI SPLIT", the numbers of files looked at, of longer
# ones among them, and of those that would fit in a segment and are in two.

use strict;
use warnings;

my ($list, $block_size, $per_segment) = @ARGV;
my (%path, %extents, %segments, $multi, $split);

# The most data blocks that fit in a segment with their log's summary: a header
# of 64 bytes, one of 24 for the file, 16 for each block; an entry is never cut
# by the end of a block.
sub capacity {
	my $used = 1;
	my $at = 64 + 24;
	my $n = 0;

	while (1) {
		if ($at + 16 > $block_size) {
			$at = 0;
			$used++;
		}
		last if $n + 1 + $used > $per_segment;
		$n++;
		$at += 16;
	}
	return $n;
}

sub read_list {
	open my $fh, '<', $list or die "$list: $!\n";
	while (<$fh>) {
		$path{$2} = $1
			if /"path":"(.*?)","inode":(\d+),"type":"file"/;
	}
}

# One more extent wherever the block before on the disk is not the file's block
# before.
sub read_logs {
	my ($last, $end, $off) = (0, 0, 0);

	while (<STDIN>) {
		my ($segment) = /"segment":(\d+)/;
		while (/\{"blocknr":(\d+),"index":\d+,"ino":(\d+),"blkoff":(\d+),
			[^}]*"kind":"data"/gx) {
			my ($blocknr, $ino, $blkoff) = ($1, $2, $3);
			my $extents = $extents{$ino} //= [];

			push @$extents, 0
				if $ino != $last || $blocknr != $end + 1 ||
				   $blkoff <= $off;
			$extents->[-1]++;
			$segments{$ino}{$segment} = 1;
			($last, $end, $off) = ($ino, $blocknr, $blkoff);
		}
	}
}

sub lies_well {
	my ($ino, $capacity) = @_;
	my @extents = @{$extents{$ino} // []};
	my $blocks = 0;

	$blocks += $_ for @extents;
	if ($blocks <= $capacity) {
		$split += @extents == 2;
		return @extents == keys %{$segments{$ino} // {}} && @extents <= 2;
	}
	$multi++;
	return @extents == keys %{$segments{$ino}} &&
		@extents <= int($blocks / $capacity) + 2;
}

read_list();
read_logs();
$multi = $split = 0;
for my $ino (sort { $a <=> $b } keys %path) {
	print "$path{$ino}: @{$extents{$ino}}\n" if !lies_well($ino, capacity());
}
print keys(%path) . " $multi $split\n";
