#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# look.pl DIR, in a guest: for each line on standard input, prints what "manifest DIR"
# prints to standard output, after a checkpoint that it makes, and its number, if the
# line is "checkpoint"; then a line to file descriptor 4.
use strict;
use warnings;

my ($dir) = @ARGV;

# list_of FILE: the function of manifest.pl, which reads standard input.
sub list_of {
	my ($file) = @_;

	local *STDIN = $file;
	list("", 64 << 20);
}

# Defines it; there is nothing to list yet.
sub load_manifest {
	open my $nothing, "<", "/dev/null" or die "$!\n";
	local *STDIN = $nothing;
	local @ARGV = ("list", "", 0);
	do "/mnt/host/manifest.pl";
	defined &list or die "manifest.pl: ", $@ || $!, "\n";
}

sub checkpoint {
	open my $volume, "<", "." or die "$!\n";
	ioctl $volume, 0x80086e8a, my $cno = "\0" x 8 or die "checkpoint: $!\n";
	return unpack "Q", $cno;
}

sub names {
	my @names = ".";

	for (my $i = 0; $i < @names; $i++) {
		my $at = $names[$i];
		next if -l $at || !-d _;
		opendir my $d, $at or die "$at: $!\n";
		push @names, map "$at/$_", grep !/^\.\.?$/, readdir $d;
	}
	return sort @names;
}

load_manifest();
open my $answer, ">&=", 4 or die "$!\n";
$| = 1;
while (<STDIN>) {
	chdir $dir or die "$dir: $!\n";
	print "CHECKPOINT ", checkpoint(), "\n" if /checkpoint/;
	open my $stat, "-|", "stat", "--printf", '%f\t%u\t%g\t%h\t%s\t%b\t%.9Y' .
		'\t%.9Z\t%t\t%T\t%d\t%i\t%n\0', names() or die "stat: $!\n";
	list_of($stat);
	close $stat or die "stat: $!\n";
	chdir "/";
	syswrite $answer, "\n";
}
