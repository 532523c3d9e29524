#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The definition of gc.nilfs2 --keep, in other words: periods are names.
#
# keep.pl RULE: reads lines "CNO TIME MINOR" (true or false), in any order, and prints
# the chosen checkpoints with the periods for which they are, "CNO daily,weekly".
# keep.pl --times SEED N: N times, most of which grow.
use strict;
use warnings;
use POSIX qw(strftime);

if ($ARGV[0] eq '--times') {
	srand($ARGV[1]);
	# The night in which summer time ends in Europe.
	my $time = 1698526800 - int(rand(86400));
	for (1 .. $ARGV[2]) {
		my $step = int(rand(10));
		$time += $step < 4 ? int(rand(3000)) : $step < 7 ? int(rand(90000)) :
			 $step < 9 ? int(rand(2000000)) : -int(rand(400000));
		$time += 40000000 if rand() < 0.02;
		print "$time\n";
	}
	exit;
}

my %form = (
	last => undef, hourly => '%Y-%m-%d %H %z', daily => '%Y-%m-%d',
	weekly => '%G-%V', monthly => '%Y-%m', yearly => '%Y',
);
my @order = qw(last hourly daily weekly monthly yearly);
my (%time, %minor, %chosen);

while (<STDIN>) {
	my ($cno, $time, $minor) = split;
	$time{$cno} = $time;
	$minor{$cno} = $minor eq 'true';
}
for my $part (split /,/, $ARGV[0]) {
	my ($kind, $count) = split /=/, $part;
	my (%newest, %begin);
	for my $cno (sort { $a <=> $b } keys %time) {
		next if $minor{$cno} && exists $time{$cno - 1};
		my $name = $kind eq 'last' ? $cno :
			strftime($form{$kind}, localtime($time{$cno}));
		my $at = $kind eq 'last' ? $cno : $time{$cno};
		$newest{$name} = $cno;
		$begin{$name} = $at if !exists $begin{$name} || $begin{$name} > $at;
	}
	my @names = sort { $begin{$b} <=> $begin{$a} } keys %newest;
	for my $name (@names) {
		last if $count-- == 0;
		$chosen{$newest{$name}}{$kind} = 1;
	}
}
for my $cno (sort { $a <=> $b } keys %chosen) {
	print "$cno ", join(',', grep { $chosen{$cno}{$_} } @order), "\n";
}
