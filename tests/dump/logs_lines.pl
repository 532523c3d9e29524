#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Brings the output of nilfs-utils' dumpseg, or of `dump.nilfs2 logs --blocks
# --json-lines`, on standard input, into the same lines:
#
#	log SEGMENT SEQ NEXT-SEGMENT BLOCK NBLOCKS CREATED NFINFO
#	file INO CNO NBLOCKS NDATABLK
#	block BLOCK INO VBLOCKNR BLKOFF LEVEL		("-" where not said)
#
# usage: logs_lines.pl dumpseg|logs BLOCKS-PER-SEGMENT

use strict;
use warnings;
use JSON::PP;
use POSIX qw(strftime);

my ($form, $per_segment) = @ARGV;
my $files = 0;

sub from_dumpseg {
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
}

# dumpseg prints a level only of the DAT's nodes, and each file's blocks under
# the file.
sub print_log {
	my ($log) = @_;
	my $blocks = $log->{blocks};
	print join(' ', 'log', @$log{qw(segment ss_seq)},
		int($log->{ss_next} / $per_segment), $log->{blocknr},
		$log->{ss_nblocks},
		strftime('%Y-%m-%d %H:%M:%S', gmtime $log->{ss_create}),
		$log->{ss_nfinfo}), "\n";
	for my $file (@{$log->{files}}) {
		print join(' ', 'file', @$file{qw(fi_ino fi_cno fi_nblocks fi_ndatablk)}), "\n";
		for (1 .. $file->{fi_nblocks}) {
			my $b = shift @$blocks;
			my $level = $b->{kind} eq 'node' ? $b->{level} : undef;
			print join(' ', 'block', $b->{blocknr}, $b->{ino},
				map { $_ // '-' } @$b{qw(vblocknr blkoff)}, $level), "\n";
		}
	}
	die "blocks of no file\n" if @$blocks;
}

if ($form eq 'dumpseg') {
	from_dumpseg();
} else {
	print_log(decode_json($_)) while <STDIN>;
}
