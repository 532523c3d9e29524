#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints the names of the fields in which two images of fresh volumes differ,
# sorted, each once; bytes that belong to no field listed here by offset.
use strict;
use warnings;

my @image = map { open my $fh, '<:raw', $_ or die "$_: $!\n"; $fh } @ARGV;
my $size = -s $ARGV[0];
die "the sizes differ\n" if $size != -s $ARGV[1];

sub piece {
	my ($fh, $off, $len) = @_;
	seek $fh, $off, 0;
	read $fh, my $bytes, $len;
	return $bytes;
}

my $block = 1024 << unpack 'V', piece($image[0], 1024 + 20, 4);
my $log = $block > 4096 ? $block : 4096;
my $root = $log + $block;
my $ifile = $root + $block;
my $inodes = $ifile + 2 * $block;
my $ifile_blocks = 2 + ($block < 2048 ? 2 : 1);
my $cpfile = $ifile + $block * $ifile_blocks;
my $sufile = $cpfile + $block;
my $entries = $sufile + 3 * $block;
my $super_root = $cpfile + 5 * $block;
my $sb2 = (int($size / 4096) - 1) * 4096;

# Name, first byte, length.
my @fields = (
	['sb1.s_crc_seed', 1024 + 12, 4], ['sb1.s_sum', 1024 + 16, 4],
	['sb2.s_crc_seed', $sb2 + 12, 4], ['sb2.s_sum', $sb2 + 16, 4],
	['ss_datasum', $log, 4], ['ss_sumsum', $log + 4, 4],
	['dirent.parent.rec_len', $root + 24, 2],
	['dirent.nilfs', $root + 32, 24],
	['ifile.pg_nfrees', $ifile, 4], ['ifile.bitmap', $ifile + $block, 2],
	['inode.nilfs', $inodes + 11 * 128, 128],
	['checkpoint.cp_inodes_count', $cpfile + 192 + 48, 8],
	['sr_sum', $super_root, 4],
	['sb1.s_free_blocks_count', 1024 + 80, 8],
	['sb2.s_free_blocks_count', $sb2 + 80, 8],
	['summary.items', $log + 64, $block - 64],
	['root.i_blocks', $inodes + 2 * 128, 8],
	['root.i_bmap', $inodes + 2 * 128 + 56, 56],
	['ifile.i_blocks', $cpfile + 192 + 64, 8],
	['ifile.i_bmap', $cpfile + 192 + 64 + 56, 56],
	['sufile.sh_last_alloc', $sufile + 16, 8],
	(map { ['dat.de_blocknr', $entries + $_ * 32, 8] } 0 .. 10),
	(map { ['sr.i_blocks', $super_root + 16 + $_ * 128, 8],
	       ['sr.i_bmap', $super_root + 72 + $_ * 128, 56] } 0 .. 2),
);

my %seen;
my $step = 1 << 20;
for (my $off = 0; $off < $size; $off += $step) {
	my ($one, $two) = map { piece($_, $off, $step) } @image;
	next if $one eq $two;
	my $mask = $one ^ $two;
	while ($mask =~ /[^\0]/g) {
		my $at = $off + pos($mask) - 1;
		my ($field) = grep { $at >= $_->[1] && $at < $_->[1] + $_->[2] }
			@fields;
		$seen{$field ? $field->[0] : sprintf 'byte %d', $at} = 1;
	}
}
print "$_\n" for sort keys %seen;
