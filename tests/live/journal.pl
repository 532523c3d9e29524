# SPDX-License-Identifier: GPL-2.0-or-later
#
# journal.pl JOURNAL DIRECTORY [SURE [END]]: whether DIRECTORY has what the journal of
# writer.pl says that it has after a cut of the power.
#
# Lines up to the byte SURE of the journal hold; of later ones, up to END, only that a
# file was about to be changed.  Without SURE all lines hold.
use strict;
use warnings;
use Digest::SHA;

my ($journal, $dir, $sure, $end) = @ARGV;
my (%is, $bad);
my $at = 0;

open my $fh, '<:raw', $journal or die "$journal: $!\n";
while (my $line = <$fh>) {
	last if $line !~ /\n$/ || (defined $end && $at >= $end);
	my ($what, $name, $sum) = split ' ', $line;
	my $holds = !defined $sure || $at < $sure;
	$at += length $line;
	delete $is{$name} if $what eq '?';
	$is{$name} = $what eq '=' ? $sum : '' if $what ne '?' && $holds;
}
for my $name (sort keys %is) {
	my $there = '';

	if (-e "$dir/$name") {
		$there = eval { Digest::SHA->new(256)->addfile("$dir/$name", 'b')
				->hexdigest } || "unreadable: $@";
	}
	next if $there eq $is{$name};
	print "$name: is ", $there || 'not there', ', was ', $is{$name} || 'removed',
		"\n";
	$bad = 1;
}
print scalar keys %is, " files of the journal\n";
exit !!$bad;
