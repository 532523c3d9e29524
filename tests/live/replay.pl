# SPDX-License-Identifier: GPL-2.0-or-later
#
# replay.pl LOG IMAGE STATES LIST [FOUND]: makes IMAGE, the device as it was at first,
# what it was after a flush or a write that went past the cache, as a log of
# dm-log-writes has it.  About STATES of these states, evenly spread, are checked by
# fsck.nilfs2, which may find what matches FOUND.  Some are kept as IMAGE.01,
# IMAGE.02, ..., with the bytes of the journal that are sure and that may have been
# written in lines of LIST.
#
# The log is a superblock, and entries of a sector, each with its data
# (drivers/md/dm-log-writes.c).
use strict;
use warnings;
use constant { FLUSH => 1, FUA => 2, DISCARD => 4, MARK => 8, KEPT => 14 };

my ($log, $image, $states, $list, $found) = @ARGV;
my ($bad, $checked, $kept) = (0, 0, 0);

open my $in, '<:raw', $log or die "$log: $!\n";
read $in, my $super, 512 or die "$log: $!\n";
my ($magic, $version, $n, $sector) = unpack 'a8QQL', $super;
$magic eq "rhswfsj\0" or die "$log: not a log of writes\n";

# Entries, without their data.
my (@entries, @marks);
my $at = $sector;
for my $i (0 .. $n - 1) {
	seek $in, $at, 0;
	read $in, my $head, $sector or last;
	my ($where, $sectors, $flags, $len) = unpack 'QQQQ', $head;
	$at += $sector;
	push @entries, [$where, $sectors, $flags, $at];
	push @marks, [$i, $1] if $flags & MARK && substr($head, 32, $len) =~ /^(\d+)/;
	$at += $sectors * $sector if !($flags & DISCARD);
}
my @flushes = grep { $entries[$_][2] & (FLUSH | FUA) } 0 .. $#entries;
my $step = @flushes > $states ? @flushes / $states : 1;
my $keep = @flushes / KEPT;
my ($flush, $next, $next_kept, $mark) = (0, 0, $keep / 2, 0);

open my $out, '+<:raw', $image or die "$image: $!\n";
open my $lines, '>', $list or die "$list: $!\n";
for my $i (0 .. $#entries) {
	my ($where, $sectors, $flags, $from) = @{$entries[$i]};

	if ($sectors && !($flags & (DISCARD | MARK))) {
		seek $in, $from, 0;
		read $in, my $data, $sectors * $sector or die "$log: $!\n";
		sysseek $out, $where * 512, 0;
		syswrite $out, $data or die "$image: $!\n";
	}
	$mark++ while $mark < @marks && $marks[$mark][0] <= $i;
	next if !($flags & (FLUSH | FUA)) || $flush++ < $next;
	$next += $step;
	$checked++;
	my @said = grep { !defined $found || !/$found/ } `fsck.nilfs2 -fnq '$image' 2>&1`;
	if ($? || @said) {
		print "after entry $i: status ", $? >> 8, ": @said\n";
		system 'cp', '--sparse=always', $image, "$image.bad" if !$bad++;
	}
	next if $flush < $next_kept;
	$next_kept += $keep;
	system 'cp', '--sparse=always', $image, sprintf '%s.%02d', $image, ++$kept;
	print $lines $mark ? $marks[$mark - 1][1] : 0, ' ',
		$mark < @marks ? $marks[$mark][1] : 1e15, "\n";
}
close $lines or die "$list: $!\n";
print "replayed $n entries, ", scalar @flushes, " flushes, $checked states, $bad bad\n";
exit !!$bad;
