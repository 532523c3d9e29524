# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lists a tar stream of dump.nilfs2 with all that it holds, sorted by path:
#
#     perl tarlist.pl <TREE.tar
#
# Path, type, mode, owner, group, time with its fraction, target, device, size, map of
# holes, a digest of the content, and the first of the names that are one file.
# The order in which a walk finds names does not count.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);

binmode STDIN;

sub take {
	my ($n) = @_;
	my $bytes = '';

	while (length $bytes < $n) {
		read(STDIN, $bytes, $n - length $bytes, length $bytes)
			or die "the stream is cut\n";
	}
	return $bytes;
}

# The records of an extended header.
sub records {
	my ($bytes) = @_;
	my %record;

	while ($bytes =~ /\G(\d+) /gc) {
		my $start = $-[0];
		my $text = substr $bytes, $start, $1;

		$text =~ /^\d+ ([^=]*)=(.*)\n\z/s or die "a record\n";
		$record{$1} = $2;
		pos($bytes) = $start + length $text;
	}
	return %record;
}

my (%file, %names, %is, %record);
while (1) {
	my $header = take(512);
	my %h;

	last if $header !~ /[^\0]/;
	@h{qw(name mode uid gid size mtime sum type link magic version uname gname
		major minor prefix)} =
		unpack 'a100a8a8a8a12a12a8a1a100a6a2a32a32a8a8a155', $header;
	$h{$_} =~ s/\0.*//s for qw(name link mode uid gid size mtime prefix);
	$h{$_} = oct $h{$_} for qw(mode uid gid size mtime);
	$h{size} = $record{size} if defined $record{size};
	my $bytes = take($h{size});
	take(-$h{size} % 512);
	next if $h{type} eq 'g';
	if ($h{type} eq 'x') {
		%record = records($bytes);
		next;
	}
	my $path = $record{'GNU.sparse.name'} // $record{path} // $h{name};
	$path =~ s,/$,,;
	my $link = $record{linkpath} // $h{link};
	if ($h{type} eq '1') {
		$is{$path} = $link;
		push @{$names{$link}}, $path;
		%record = ();
		next;
	}
	die "$path: twice\n" if $file{$path};
	my $map = '';
	if (defined $record{'GNU.sparse.realsize'}) {
		$bytes =~ /\A(\d+)\n/ or die "a map\n";
		my $n = 2 * $1;
		$bytes =~ /\A(\d+\n(?:\d+\n){$n})/ or die "a map\n";
		$map = $1;
		$bytes = substr $bytes, (length($map) + 511 & ~511);
		$map =~ tr/\n/,/;
	}
	$file{$path} = sprintf '%s %o %s %s %s %s %s %s %s %s', $h{type}, $h{mode},
		$record{uid} // $h{uid}, $record{gid} // $h{gid},
		$record{mtime} // $h{mtime}, $link, unpack('H*', $h{major}) .
		unpack('H*', $h{minor}), $record{'GNU.sparse.realsize'} //
		$h{size}, $map, sha256_hex($bytes);
	push @{$names{$path}}, $path;
	%record = ();
}
my %lines;
for my $first (keys %names) {
	my @all = sort @{$names{$first}};

	die "$first: no such file\n" if !$file{$first};
	$lines{$_} = "$file{$first} = $all[0] " . @all for @all;
}
print "$_ $lines{$_}\n" for sort keys %lines;
