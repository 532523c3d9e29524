#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# history.pl CNO MANIFEST ... : compares versions with the manifests of
# checkpoints.  On standard input, for each path "PATH TAB ..." as manifests
# write it, and then what `history --json-lines` printed.
use strict;
use warnings;
use JSON::PP;

my (%rows, %names, $bad);

sub complain {
	print "@_\n";
	$bad = 1;
}

# As stat says it: half a second before 1970 is -0.5.
sub moment {
	my ($sec, $nsec) = @_;
	return sprintf "%d.%09d", $sec, $nsec if $sec >= 0 || !$nsec;
	return sprintf "%s%d.%09d", $sec == -1 ? "-" : "", $sec + 1,
		1000000000 - $nsec;
}

sub path_of {
	my ($row) = @_;
	my $path = $row->{path};
	if (defined $row->{path_hex}) {
		$path = pack "H*", $row->{path_hex};
	} else {
		utf8::encode($path);
	}
	$path =~ s,^/,,;
	$path =~ s/([^\x20-\x5b\x5d-\x7e])/sprintf "\\%03o", ord $1/gex;
	return $path eq "" ? "." : $path;
}

# The columns that both have, by inode, and the names of each inode.
my @arguments = @ARGV;
while (@arguments) {
	my ($cno, $file) = splice @arguments, 0, 2;
	open my $f, "<", $file or die "$file: $!\n";
	while (<$f>) {
		chomp;
		my @f = split /\t/;
		my $ino = $f[10];
		$rows{$cno}{$ino} = join " ", @f[0 .. 8];
		push @{$names{$cno}{$ino}}, $f[13];
	}
}

sub row_of {
	my ($v) = @_;
	my %types = (file => "f", directory => "d", symlink => "l",
		block => "b", character => "c", fifo => "p", socket => "s");
	return join " ", $types{$v->{type}}, sprintf("%04o", $v->{mode}),
		@$v{qw(uid gid links size blocks)},
		moment(@$v{qw(mtime mtime_nsec)}),
		moment(@$v{qw(ctime ctime_nsec)});
}

# A version is what the kernel saw in each of its checkpoints.
sub check_version {
	my ($v) = @_;
	my $ours = join " ", sort map { path_of($_) } @{$v->{names}};
	for my $cno (grep { $_ >= $v->{first} && $_ <= $v->{last} } keys %rows) {
		my $row = $rows{$cno}{$v->{inode}};
		my $wanted = join " ", sort @{$names{$cno}{$v->{inode}} || []};
		complain("checkpoint $cno, inode $v->{inode}:",
			row_of($v), "instead of", $row // "none")
			if !defined $row || row_of($v) ne $row;
		complain("checkpoint $cno, inode $v->{inode}: names",
			$ours, "instead of", $wanted) if $ours ne $wanted;
	}
}

# The path is in a version exactly where it is in the checkpoint.
sub check_path {
	my ($path, @versions) = @_;
	for my $cno (keys %rows) {
		my @wanted = grep {
			my $ino = $_;
			grep { $_ eq $path } @{$names{$cno}{$ino}}
		} keys %{$names{$cno}};
		my @ours = map { $_->{inode} } grep {
			my $v = $_;
			$v->{first} <= $cno && $cno <= $v->{last} &&
				grep { path_of($_) eq $path } @{$v->{names}}
		} @versions;
		complain("$path: in checkpoint $cno inode @ours, not @wanted")
			if "@ours" ne "@wanted";
	}
}

# Two versions of a file that follow each other differ.
sub check_neighbours {
	my %last;
	for my $v (@_) {
		my $key = "$v->{inode} $v->{generation}";
		my $row = join " ", row_of($v),
			sort map { path_of($_) } @{$v->{names}};
		complain("inode $v->{inode}: two versions are the same: $row")
			if $last{$key} && $last{$key}[0] eq $row &&
				$last{$key}[1] + 1 == $v->{first};
		$last{$key} = [$row, $v->{last}];
	}
}

my ($path, @versions, $count);

sub finish {
	return if !defined $path;
	check_version($_) for @versions;
	check_path($path, @versions);
	check_neighbours(@versions);
	$count++;
}

while (<STDIN>) {
	chomp;
	if (/^PATH\t(.*)/) {
		finish();
		($path, @versions) = $1;
	} else {
		push @versions, decode_json($_);
	}
}
finish();
complain("no path was compared") if !$count;
exit($bad ? 1 : 0);
