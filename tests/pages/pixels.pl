#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# pixels.pl PNG: the colour of the pixel at 2,2, how many colours there are, and
# which share of all pixels (in percent) has another colour than that pixel.
#
# Reads what a browser writes: 8 bits a sample, RGB or RGBA, not interlaced.
use strict;
use warnings;
use Compress::Zlib;

open(my $file, '<:raw', $ARGV[0]) or die "$ARGV[0]: $!\n";
my $png = do { local $/; <$file> };
substr($png, 0, 8) eq "\x89PNG\r\n\x1a\n" or die "$ARGV[0]: no PNG\n";

my ($at, $data, $width, $height, $type) = (8, '');
while ($at < length $png) {
	my ($len, $name) = unpack('N a4', substr($png, $at, 8));
	my $body = substr($png, $at + 8, $len);

	($width, $height, $type) = (unpack('N N C C', $body))[0, 1, 3]
		if $name eq 'IHDR';
	$data .= $body if $name eq 'IDAT';
	$at += 12 + $len;
}

# Undoes the filter of each line (PNG, second edition, 9.2).
my $bpp = { 2 => 3, 6 => 4 }->{$type} or die "$ARGV[0]: type $type\n";
my $raw = uncompress($data);
my @above = (0) x ($width * $bpp);
my (%colours, $first);
for my $y (0 .. $height - 1) {
	my @line = unpack('C*', substr($raw, $y * ($width * $bpp + 1),
				       $width * $bpp + 1));
	my $filter = shift @line;

	for my $i (0 .. $#line) {
		my $left = $i < $bpp ? 0 : $line[$i - $bpp];
		my $up = $above[$i];

		if ($filter == 1) {
			$line[$i] += $left;
		} elsif ($filter == 2) {
			$line[$i] += $up;
		} elsif ($filter == 3) {
			$line[$i] += ($left + $up) >> 1;
		} elsif ($filter == 4) {
			my $corner = $i < $bpp ? 0 : $above[$i - $bpp];
			my $p = $left + $up - $corner;
			my ($a, $b, $c) = map { abs } $p - $left, $p - $up,
					  $p - $corner;
			$line[$i] += $a <= $b && $a <= $c ? $left :
				     $b <= $c ? $up : $corner;
		}
		$line[$i] &= 255;
	}
	for my $x (0 .. $width - 1) {
		my $colour = sprintf '%02x%02x%02x',
				     @line[$x * $bpp .. $x * $bpp + 2];

		$colours{$colour}++;
		$first = $colour if $x == 2 && $y == 2;
	}
	@above = @line;
}
printf "%s %d %.2f\n", $first, scalar(keys %colours),
       100 - 100 * $colours{$first} / ($width * $height);
