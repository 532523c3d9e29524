#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints a directory tree as text that is the same wherever it is computed: one
# line per entry, sorted by the bytes of the path, fields separated by tabs.
# Works on a mounted volume in a guest and on an exported copy on the host.  In a
# guest a program takes long to start: this one starts only stat, for times in
# nanoseconds, and lists as many trees as are wanted.

use strict;
use warnings;
use Cwd;
use Digest::SHA;
use Fcntl qw(:mode SEEK_SET);
use Getopt::Long;

use constant { UNIT => 1024, CHUNK => 1 << 20, SEEK_DATA => 3, SEEK_HOLE => 4 };

my @columns = qw(type mode uid gid nlink size blocks mtime ctime rdev ino
		 content link path);
my %types = (S_IFREG, 'f', S_IFDIR, 'd', S_IFLNK, 'l', S_IFBLK, 'b',
	     S_IFCHR, 'c', S_IFIFO, 'p', S_IFSOCK, 's');

sub usage {
	print STDERR <<'EOF';
usage: manifest.pl [--drop COLUMN,...] [--blocks FILE] [--limit BYTES] DIR
       manifest.pl ... DIR FILE [DIR FILE]...
       manifest.pl ... --ask DIR
       manifest.pl [--drop COLUMN,...] -

Columns: type mode uid gid nlink size blocks mtime ctime rdev ino content
link path.  --drop puts "-" for those named; "dirsize" and "dirnlink" mean
size and nlink of directories only; "portable" means all that an exported
copy cannot keep: dirsize, dirnlink, blocks, ctime, ino.  With - a manifest
is read from standard input, and only --drop is applied.

content   sha256:HEX of the bytes of a regular file;
          runs:HEX for one larger than --limit (64 MiB): sha256 over, for each
          longest run of 1024-byte units that are not all zero, the line
          "OFFSET LENGTH\n" and the run's bytes, so that holes and written
          zeroes are the same; target:PATH of a symbolic link;
          error:TEXT if it could not be read; else -
link      the first path with the same inode, if nlink > 1 and it is no
          directory
path      relative to DIR, which is "."; bytes outside printable ASCII and
          the backslash are \ooo, in targets too

A file system that does not report holes of files (NILFS2 in the kernel)
would have us read every byte of a huge sparse file.  --blocks FILE gives lines
"INO OFFSET LENGTH" that cover all data of files past --limit.

With FILEs the manifest of each DIR goes into one.  With --ask it is printed for
each line on standard input, after a checkpoint that is made and its number if the
line is "checkpoint"; then follows a line to file descriptor 4.
EOF
	exit 2;
}

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

# names: all below the current directory.
sub names {
	my @names = '.';

	for (my $i = 0; $i < @names; $i++) {
		my $at = $names[$i];
		next if -l $at || !-d _;
		opendir my $dir, $at or complain("$at: $!");
		push @names, map "$at/$_", grep !/^\.\.?$/, readdir $dir if $dir;
	}
	return sort @names;
}

# list BLOCKS LIMIT DROP: the current directory, to the selected file.
sub list {
	my ($blocks, $limit, $drop) = @_;
	my $format = join('\t', qw(%f %u %g %h %s %b %.9Y %.9Z %t %T %d %i %n)) .
		'\0';
	my @names = names();
	my %first;

	local $/ = "\0";
	while (@names) {
		open my $stat, '-|', 'stat', '--printf', $format,
			splice @names, 0, 2000 or die "stat: $!\n";
		print line($_, \%first, $blocks, $limit, $drop) while <$stat>;
		close $stat or complain('stat failed');
	}
}

# line RECORD: of a manifest, from what stat prints.
sub line {
	my ($record, $first, $blocks, $limit, $drop) = @_;

	chomp $record;
	my ($raw, $uid, $gid, $nlink, $size, $nblocks, $mtime, $ctime,
	    $major, $minor, $dev, $ino, $path) = split /\t/, $record, 13;
	my $mode = hex $raw;
	my $type = $types{S_IFMT($mode)} || '?';
	my $device = $type =~ /[bc]/ ? hex($major) . ':' . hex($minor) : '-';
	my $name = $path eq '.' ? '.' : escaped(substr $path, 2);
	my $link = $type ne 'd' && $nlink > 1 ?
		$first->{"$dev:$ino"} ||= $name : '-';
	my $extents = $blocks && ($blocks->{$ino} || []);
	my $content = content($type, $path, $size, $limit, $extents);

	return dropped($drop, $type, sprintf('%04o', S_IMODE($mode)), $uid, $gid,
		       $nlink, $size, $nblocks, $mtime, $ctime, $device, $ino,
		       $content, $link, $name);
}

# to_drop NAMES: the numbers of the columns, of directories and of all others.
sub to_drop {
	my ($names) = @_;
	my %drop;

	$names =~ s/\bportable\b/dirsize,dirnlink,blocks,ctime,ino/;
	for my $name (split /,/, $names) {
		(my $column = $name) =~ s/^dir(?=size|nlink)//;
		my ($n) = grep $columns[$_] eq $column, 0 .. $#columns;
		defined $n or die "no column $name\n";
		push @{$drop{d}}, $n;
		push @{$drop{other}}, $n if $column eq $name;
	}
	return \%drop;
}

# dropped DROP FIELD...: the line.
sub dropped {
	my ($drop, @field) = @_;

	$field[$_] = '-' for @{$drop->{$field[0] eq 'd' ? 'd' : 'other'}};
	return join("\t", @field) . "\n";
}

sub checkpoint {
	open my $volume, '<', '.' or die "$!\n";
	ioctl $volume, 0x80086e8a, my $cno = "\0" x 8 or die "checkpoint: $!\n";
	return unpack 'Q', $cno;
}

# answer DIR LIST: see --ask.
sub answer {
	my ($dir, $list) = @_;

	open my $done, '>&=', 4 or die "$!\n";
	$| = 1;
	while (<STDIN>) {
		chdir $dir or die "$dir: $!\n";
		print 'CHECKPOINT ', checkpoint(), "\n" if /checkpoint/;
		$list->();
		chdir '/';
		syswrite $done, "\n";
	}
}

my $status = 0;

sub complain {
	warn @_, "\n";
	$status = 1;
}

my ($drop, $file, $limit, $ask) = ('', '', 64 << 20);
GetOptions('drop=s' => \$drop, 'blocks=s' => \$file, 'limit=i' => \$limit,
	   'ask' => \$ask) && @ARGV or usage();
$drop = to_drop($drop);
if ($ARGV[0] eq '-') {
	while (<STDIN>) {
		chomp;
		print dropped($drop, split /\t/, $_, -1);
	}
	exit;
}
my $blocks = read_blocks($file);
my $list = sub { list($blocks, $limit, $drop) };
my $from = getcwd();
answer($ARGV[0], $list) if $ask;
while (!$ask && @ARGV) {
	my ($dir, $to) = splice @ARGV, 0, 2;
	my $out;

	if (defined $to) {
		open $out, '>', $to or die "$to: $!\n";
		select $out;
	}
	chdir $dir or die "$dir: $!\n";
	$list->();
	chdir $from or die "$from: $!\n";
	!$out or close $out or die "$to: $!\n";
}
close STDOUT or die "$!\n";
exit $status;
