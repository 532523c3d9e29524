# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes random edits of the current directory, as a script for sh:
#
#     perl edits.pl SEED STEPS
#
# Each step ends with the line "step".  Names come from a small set, so that files
# become directories and the reverse, and names of hard links move.
use strict;
use warnings;

my ($seed, $steps) = @ARGV;
srand $seed;

sub pick { return $_[int rand @_] }

sub path { return join '/', map { pick(qw(a b c d)) } 0 .. int rand 3 }

# The directory of a path is made, in place of what is there.
sub room {
	my ($path) = @_;
	my @above = split m,/,, $path;

	pop @above;
	my $dir = '.';
	my @lines;
	for (@above) {
		$dir .= "/$_";
		push @lines, "[ -d $dir -a ! -L $dir ] || { rm -f $dir; mkdir $dir; }";
	}
	return join "\n", @lines, "[ ! -d $path -o -L $path ] || rm -r $path";
}

sub edit {
	my ($p, $q) = (path(), path());
	my $n = 1 + int rand 20000;

	return pick(
		room($p) . "\nrm -f $p\nseq $n >$p",
		room($p) . "\nrm -f $p\nln -s $q $p",
		room($p) . "\nrm -f $p\nmkfifo $p",
		room($p) . "\nrm -f $p\nmknod $p " . pick('c 5 300', 'b 4095 1048575'),
		room($p) . "\nrm -f $p\ntruncate -s ${n}00 $p\n" .
			"printf x | dd of=$p bs=1 seek=${n}0 conv=notrunc 2>/dev/null",
		room($p) . "\nrm -f $p\nmkdir $p",
		"rm -rf $p",
		"[ ! -f $p -o -L $p ] || seq $n | dd of=$p bs=512 seek=3 conv=notrunc 2>/dev/null",
		"[ ! -f $p -o -L $p ] || { :; " . room($q) . "\n[ ! -f $p -o $p -ef $q ] || ln -f $p $q; }",
		"[ ! -f $p -o -L $p ] || { :; " . room($q) . "\n[ ! -f $p -o $p -ef $q ] || mv $p $q; }",
		"[ ! -d $p ] || { rm -rf other; mv $p other; mkdir -p $p; }",
		"[ ! -e $p -o -L $p ] || chmod " . pick(qw(4755 600 1777 2750)) . " $p",
		"[ ! -e $p ] || chown -h " . pick('1:2', '70000:3', '0:4000000') . " $p",
		"[ ! -e $p ] || touch -h -d @" . pick('-2.5', '1600000000.123456789', '99') . " $p",
	);
}

for my $step (1 .. $steps) {
	print edit(), "\n" for 1 .. ($step == 1 ? 40 : 12);
	print "step\n";
}
