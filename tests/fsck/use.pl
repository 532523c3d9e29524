# SPDX-License-Identifier: GPL-2.0-or-later
#
# use.pl read|sum|write|same DIR: what a user does with a volume mounted at DIR,
# in one process, because a guest takes long to start one.  read: every file up
# to 100 MB; sum: prints a sum of these, and of all names and attributes; write:
# new files, another time for each old one, names moved; same: what was written
# is still there.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Find;

my ($what, $top) = @ARGV;
my $text = join '', map { pack 'Q<', $_ * 2654435761 } 1 .. 8000;

sub whole {
	my ($path) = @_;

	open my $file, '<:raw', $path or die "$path: $!\n";
	my $bytes = '';
	while (1) {
		my $n = sysread $file, $bytes, 1 << 20, length $bytes;
		defined $n or die "$path: $!\n";
		return $bytes if $n == 0;
	}
}

sub each_file {
	my ($do) = @_;

	find({ no_chdir => 1, wanted => sub {
		lstat or die "$_: $!\n";
		$do->($_) if -f _ && -s _ < 100_000_000;
	} }, $top);
}

# What a mount does not change: not the time of access, not the device.
sub attributes {
	my ($path) = @_;
	my @stat = lstat $path or die "$path: $!\n";
	my $target = -l _ ? readlink $path : '';

	# A directory may be packed in another way.
	@stat[7, 12] = (0, 0) if -d _;
	$target = sha256_hex(whole($path)) if -f _ && -s _ < 100_000_000;
	return join "\0", @stat[1 .. 7, 9, 10, 12], $path, $target;
}

sub sum {
	my @lines;

	find({ no_chdir => 1, wanted => sub { push @lines, attributes($_) } },
	     $top);
	print sha256_hex(join "\n", sort @lines), "\n";
}

sub put {
	my ($path) = @_;

	open my $file, '>:raw', $path or die "$path: $!\n";
	print $file $text or die "$path: $!\n";
	close $file or die "$path: $!\n";
}

sub change {
	my $dir = "$top/new directory";

	each_file(sub { utime 1, 1, $_[0] or die "$_[0]: $!\n" });
	mkdir $dir or die "$dir: $!\n";
	put("$dir/$_") for 1 .. 3;
	rename "$dir/1", "$top/new file" or die "rename: $!\n";
	unlink "$dir/2" or die "unlink: $!\n";
}

if ($what eq 'read') {
	each_file(\&whole);
} elsif ($what eq 'sum') {
	sum();
} elsif ($what eq 'write') {
	change();
} else {
	for ("$top/new file", "$top/new directory/3") {
		whole($_) eq $text or die "$_: not what was written\n";
	}
}
