# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of manifest.sh that a shell cannot do in reasonable time: escaping of
# odd bytes, hard-link identity, content hashes that do not depend on holes.

use strict;
use warnings;
use Digest::SHA;
use Fcntl qw(:mode SEEK_SET);

use constant { UNIT => 1024, CHUNK => 1 << 20, SEEK_DATA => 3, SEEK_HOLE => 4 };

my @columns = qw(type mode uid gid nlink size blocks mtime ctime rdev ino
		 content link path);
my %types = (S_IFREG, 'f', S_IFDIR, 'd', S_IFLNK, 'l', S_IFBLK, 'b',
	     S_IFCHR, 'c', S_IFIFO, 'p', S_IFSOCK, 's');

sub escaped {
	my ($text) = @_;
	$text =~ s/([^\x20-\x5b\x5d-\x7e])/sprintf "\\%03o", ord $1/ge;
	return $text;
}

# Extents [start, end) of FILE's data, from the list for its inode or from the
# file system itself; in order, not overlapping, cut at SIZE.
sub listed_extents {
	my ($list, $size) = @_;
	my @merged;

	for my $e (sort { $a->[0] <=> $b->[0] } @$list) {
		my ($start, $end) = @$e;
		$end = $size if $end > $size;
		next if $start >= $end;
		if (@merged && $start <= $merged[-1][1]) {
			$merged[-1][1] = $end if $end > $merged[-1][1];
		} else {
			push @merged, [$start, $end];
		}
	}
	return @merged;
}

sub seek_extents {
	my ($fh, $size) = @_;
	my $at = 0;
	my @extents;

	while ($at < $size) {
		my $start = sysseek($fh, $at, SEEK_DATA);
		last if !$start;
		$at = sysseek($fh, $start, SEEK_HOLE);
		die "$!\n" if !$at;
		push @extents, [int $start, int $at];
	}
	return @extents;
}

# Calls back with (offset, bytes) for each non-zero unit of the extents.
sub each_unit {
	my ($fh, $extents, $size, $call) = @_;
	my $done = 0;

	for my $e (@$extents) {
		my $at = $e->[0] - $e->[0] % UNIT;
		$at = $done if $at < $done;
		while ($at < $e->[1]) {
			my $want = $e->[1] - $at;
			$want += UNIT - $want % UNIT if $want % UNIT;
			$want = CHUNK if $want > CHUNK;
			$want = $size - $at if $want > $size - $at;
			sysseek $fh, $at, SEEK_SET or die "$!\n";
			my $got = sysread($fh, my $buf, $want);
			die "$!\n" if !defined $got;
			die "short read\n" if $got != $want;
			for (my $i = 0; $i < $got; $i += UNIT) {
				my $unit = substr $buf, $i, UNIT;
				$call->($at + $i, $unit) if $unit =~ /[^\0]/;
			}
			$at += $got;
		}
		$done = $at;
	}
}

sub runs_digest {
	my ($fh, $extents, $size) = @_;
	my $sha = Digest::SHA->new(256);
	my ($start, $run) = (0, '');
	my $flush = sub {
		$sha->add(sprintf("%d %d\n", $start, length $run), $run)
			if length $run;
	};

	each_unit($fh, $extents, $size, sub {
		my ($at, $unit) = @_;
		if ($at != $start + length $run) {
			$flush->();
			($start, $run) = ($at, '');
		}
		$run .= $unit;
	});
	$flush->();
	return 'runs:' . $sha->hexdigest;
}

sub file_content {
	my ($path, $size, $limit, $list) = @_;

	open my $fh, '<:raw', $path or die "$!\n";
	if ($size > $limit) {
		my @extents = $list ? listed_extents($list, $size)
				    : seek_extents($fh, $size);
		return runs_digest($fh, \@extents, $size);
	}
	my $sha = Digest::SHA->new(256);
	my ($got, $total) = (0, 0);
	while ($got = sysread($fh, my $buf, CHUNK)) {
		$sha->add($buf);
		$total += $got;
	}
	die "$!\n" if !defined $got;
	die "short read\n" if $total != $size;
	return 'sha256:' . $sha->hexdigest;
}

sub content {
	my ($type, $path, $size, $limit, $list) = @_;
	my $text = eval {
		return file_content($path, $size, $limit, $list)
			if $type eq 'f';
		return '-' if $type ne 'l';
		my $target = readlink $path;
		die "$!\n" if !defined $target;
		return 'target:' . escaped($target);
	};

	return $text if defined $text;
	chomp(my $why = $@);
	return "error:$why";
}

sub read_blocks {
	my ($file) = @_;
	my %blocks;

	return undef if $file eq '';
	open my $fh, '<', $file or die "$file: $!\n";
	while (<$fh>) {
		my ($ino, $offset, $length) = split;
		push @{$blocks{$ino}}, [$offset, $offset + $length];
	}
	return \%blocks;
}

sub list {
	my ($file, $limit) = @_;
	my $blocks = read_blocks($file);
	my %first;

	local $/ = "\0";
	while (my $record = <STDIN>) {
		chomp $record;
		my ($raw, $uid, $gid, $nlink, $size, $nblocks, $mtime, $ctime,
		    $major, $minor, $dev, $ino, $path) =
			split /\t/, $record, 13;
		my $mode = hex $raw;
		my $type = $types{S_IFMT($mode)} || '?';
		my $device = $type =~ /[bc]/ ?
			hex($major) . ':' . hex($minor) : '-';
		my $name = $path eq '.' ? '.' : escaped(substr $path, 2);
		my $link = $type ne 'd' && $nlink > 1 ?
			$first{"$dev:$ino"} ||= $name : '-';
		my $extents = $blocks && ($blocks->{$ino} || []);
		my $content = content($type, $path, $size, $limit, $extents);
		print join("\t", $type, sprintf('%04o', S_IMODE($mode)),
			   $uid, $gid, $nlink, $size, $nblocks, $mtime, $ctime,
			   $device, $ino, $content, $link, $name), "\n";
	}
}

sub drop {
	my ($names) = @_;
	my %drop;

	$names =~ s/\bportable\b/dirsize,dirnlink,blocks,ctime,ino/;
	for my $name (split /,/, $names) {
		(my $column = $name) =~ s/^dir(?=size|nlink)//;
		grep { $_ eq $column } @columns or die "no column $name\n";
		$drop{$name} = 1;
	}
	while (<STDIN>) {
		chomp;
		my @field = split /\t/, $_, -1;
		for my $i (0 .. $#columns) {
			$field[$i] = '-' if $drop{$columns[$i]} ||
				$field[0] eq 'd' && $drop{"dir$columns[$i]"};
		}
		print join("\t", @field), "\n";
	}
}

my $action = shift @ARGV;
$action eq 'list' ? list(@ARGV) : drop(@ARGV);
