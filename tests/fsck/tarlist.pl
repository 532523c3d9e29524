# SPDX-License-Identifier: GPL-2.0-or-later
#
# tarlist.pl [PREFIX] <TAR: a line for each entry of a pax archive, "path", tab,
# and all that the archive has of it: what two archives differ in can then be
# named.  The content stands there as its checksum.

use strict;
use warnings;
use Digest::SHA;

my $prefix = shift // '';
my %extended;
binmode STDIN;

sub text { my ($field) = @_; $field =~ s/\0.*//s; return $field }

sub bytes {
	my ($n) = @_;
	my $data = '';

	while (length $data < $n) {
		read(STDIN, $data, $n - length $data, length $data)
			or die "the archive is cut off\n";
	}
	return $data;
}

# "LENGTH KEY=VALUE\n", one behind the other.
sub records {
	my ($data) = @_;
	my %records;

	while ($data =~ s/^(\d+) //) {
		my $record = substr $data, 0, $1 - 1 - length $1, '';

		$records{$1} = $2 if $record =~ /^([^=]*)=(.*)\n\z/s;
	}
	return %records;
}

sub content {
	my ($size) = @_;
	my $sum = Digest::SHA->new(256);

	for (my $left = $size; $left > 0; ) {
		my $n = $left < 65536 ? $left : 65536;

		$sum->add(bytes($n));
		$left -= $n;
	}
	bytes(-$size % 512);
	return $sum->hexdigest;
}

# What cannot be printed is \ooo, so that an entry is a line.
sub line {
	my $line = join ' ', @_;

	$line =~ s/([^\x21-\x7e ]|\\)/sprintf '\\%03o', ord $1/ge;
	return $line;
}

while (my $header = bytes(512)) {
	last if $header !~ /[^\0]/;
	my ($name, $mode, $uid, $gid, $size, $mtime, undef, $type, $link,
	    undef, undef, undef, undef, $major, $minor, $parent) =
		unpack 'a100 a8 a8 a8 a12 a12 a8 a1 a100 a6 a2 a32 a32 a8 a8 a155',
		$header;

	$size = $extended{size} // oct text($size);
	if ($type =~ /[xg]/) {
		%extended = records(bytes($size));
		bytes(-$size % 512);
		next;
	}
	$name = text($name);
	$parent = text($parent);
	$name = "$parent/$name" if $parent ne '';
	$name = $extended{path} if exists $extended{path};
	delete $extended{path};
	print $prefix, line($name), "\t", line($type,
		map({ text($_) } $mode, $uid, $gid, $mtime, $link, $major,
			$minor),
		map({ "$_=$extended{$_}" } sort keys %extended),
		content($size)), "\n";
	%extended = ();
}
