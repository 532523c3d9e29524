#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Brings the output of nilfs-utils' dumpseg on standard input into the lines of
# logs_lines.jq.

use strict;
use warnings;

my ($segment, $seq, $next, $log, $nfinfo, $ino);
while (my $line = <STDIN>) {
	my %v;
	$v{$1} = $2 while $line =~ /([a-z]\w*) = (\d+(?:-\d+-\d+ [\d:]+)?)/g;
	if ($line =~ /^segment/) {
		$segment = $v{segnum};
	} elsif ($line =~ /sequence number = (\d+), next segnum = (\d+)/) {
		($seq, $next) = ($1, $2);
	} elsif ($line =~ /partial segment/) {
		$log = "log $segment $seq $next $v{blocknr} $v{nblocks}";
	} elsif ($line =~ /creation time/) {
		$log .= " $v{time}";
	} elsif ($line =~ /nfinfo/) {
		print "$log $v{nfinfo}\n";
	} elsif (exists $v{ndatblk}) {
		$ino = $v{ino};
		print "file $v{ino} $v{cno} $v{nblocks} $v{ndatblk}\n";
	} elsif (exists $v{blocknr}) {
		print join(' ', 'block', $v{blocknr}, $ino,
			map { $_ // '-' } @v{qw(vblocknr blkoff level)}), "\n";
	}
}
