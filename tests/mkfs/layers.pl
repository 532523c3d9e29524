# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes random layers, and says what must become of them:
#
#     perl layers.pl SEED DIR
#
# DIR gets the archives 1.tar, 2.tar, ... and "wanted": the names that a volume
# of these layers has, as list() of layers.bash prints them, or "refused".
#
# The definition: members are applied one after the other.  The directory of a
# member is where its path leads if the volume is the root directory: symbolic
# links are followed, also out of missing directories, which are made then.  The
# last component is not followed.  What has the name already is replaced, unless
# both are directories.  A whiteout removes a name, or all names of a directory,
# but for those that members of its own archive have made.
use strict;
use warnings;

my ($seed, $dir) = @ARGV;
srand $seed;

# A directory is a hash of names; a file ["f", content], a link ["l", target].
my $root = {};

# Paths that members of the archive have made, and those that they have mentioned.
my (%upper, %mine);

sub pick { return $_[int rand @_] }

# What is at the path of components, or undef.
sub at {
	my $node = $root;

	for (@_) {
		return undef if ref $node ne 'HASH';
		$node = $node->{$_};
		return undef if !defined $node;
	}
	return $node;
}

# Components of the directory that PATH leads to.
sub follow {
	my ($path) = @_;
	my (@done, $node);
	my @left = split m,/+,, $path;
	my $links = 0;

	while (@left) {
		my $name = shift @left;

		next if $name eq '' || $name eq '.';
		if ($name eq '..') {
			pop @done;
			next;
		}
		$node = at(@done, $name);
		if (ref $node eq 'ARRAY' && $node->[0] eq 'l') {
			die "refused\n" if ++$links > 255;
			@done = () if $node->[1] =~ m,^/,;
			unshift @left, split m,/+,, $node->[1];
			next;
		}
		push @done, $name;
	}
	return @done;
}

# The directory of these components, which is made; a file is in the way.
sub directory {
	my $node = $root;

	for (@_) {
		$node = $node->{$_} //= {};
		die "refused\n" if ref $node ne 'HASH';
	}
	return $node;
}

sub touched {
	my ($where, @path) = @_;

	for (; @path; pop @path) {
		$where->{join '/', @path} = 1;
	}
}

# Removes what this archive did not make.
sub whiten {
	my ($node, @path) = @_;

	for (keys %$node) {
		if (!$upper{join '/', @path, $_}) {
			delete $node->{$_};
		} elsif (ref $node->{$_} eq 'HASH') {
			whiten($node->{$_}, @path, $_);
		}
	}
}

sub apply {
	my ($path, $type, $text) = @_;
	my ($up, $name) = $path =~ m,^(?:(.*)/)?([^/]+)$,;
	my @up = follow($up // '');
	my ($node, $old, $new);

	if ($name =~ s/^\.wh\.//) {
		$node = at(@up);
		return if ref $node ne 'HASH';
		touched(\%mine, @up);
		if ($name eq '.wh..opq') {
			whiten($node, @up);
		} elsif (exists $node->{$name}) {
			my %only = ($name => $node->{$name});

			whiten(\%only, @up);
			delete $node->{$name} if !%only;
		}
		return;
	}
	if ($type eq 'h') {
		my ($dir, $last) = $text =~ m,^(?:(.*)/)?([^/]+)$,;

		$new = at(follow($dir // ''), $last);
		die "refused\n" if ref $new ne 'ARRAY';
	}
	$node = directory(@up);
	$old = $node->{$name};
	# A hard link to itself changes nothing here and with tar, and one may lead
	# below what it replaces; others fail.
	die "not comparable\n" if $new && $old && ($new == $old || ref $old eq 'HASH');
	if ($type eq 'd') {
		$node->{$name} = {} if ref $old ne 'HASH';
	} else {
		# mkfs.nilfs2 refuses a directory of an archive that becomes a
		# file in the same one, as tar does; others replace it.
		die "not comparable\n" if $mine{join '/', @up, $name} &&
			ref $old ne 'ARRAY';
		$node->{$name} = $new // [$type, $text];
	}
	touched($_, @up, $name) for \%upper, \%mine;
}

sub random_name { return pick(qw(a b c lib)) }

sub random_path {
	return join '/', map { random_name() } 1 .. 1 + int rand 3;
}

# Any, of up to two directories; few are out of missing directories.
sub random_target {
	return pick('', '', '/', '../', './', '../../') . random_path() .
	       pick('', '', '', '/', '/..', '/../' . random_name());
}

sub header {
	my ($name, $type, $link, $size) = @_;
	my $h = pack 'a100a8a8a8a12a12A8aa100a6a2a32a32a8a8a155x12',
		$name, $type eq '5' ? '0000755' : '0000644', '0000000', '0000000',
		sprintf('%011o', $size), '00000000000', '', $type, $link,
		'ustar', '00', '', '', '0000000', '0000000', '';

	substr($h, 148, 8) = sprintf "%06o\0 ", unpack '%32C*', $h;
	return $h;
}

my $files = 0;

sub member {
	my ($kind) = @_;
	my $path = random_path();

	if ($kind < 30) {
		my $text = sprintf 'file %d', $files++;

		return ([$path, 'f', $text], header($path, '0', '', length $text) .
			pack 'a512', $text);
	} elsif ($kind < 45) {
		return ([$path, 'd'], header("$path/", '5', '', 0));
	} elsif ($kind < 70) {
		my $target = random_target();

		return ([$path, 'l', $target], header($path, '2', $target, 0));
	} elsif ($kind < 80) {
		my $target = random_path();

		return ([$path, 'h', $target], header($path, '1', $target, 0));
	}
	$path = $kind < 95 ? $path =~ s,[^/]+$,.wh.$&,r : "$path/.wh..wh..opq";
	return ([$path, 'f', ''], header($path, '0', '', 0));
}

sub list {
	my ($node, $path, $names) = @_;
	my @lines;

	for my $name (sort keys %$node) {
		my $n = $node->{$name};
		my $full = "$path/$name";

		if (ref $n eq 'HASH') {
			push @lines, "$full d ", list($n, $full, $names);
		} else {
			# The first of its names says which file it is.
			push @lines, "$full $n->[0] $n->[1]";
			push @{$names->{$n}}, $full;
		}
	}
	return @lines;
}

# An archive that is refused in the model is one with a member less, mostly.
my $refused = 0;

for my $layer (1 .. 2 + int rand 2) {
	my $bytes = '';

	%upper = %mine = ();
	for (1 .. 3 + int rand 6) {
		my ($what, $raw) = member($layer == 1 ? rand 75 : rand 100);
		my ($saved, %saved) = (clone($root), %upper);
		my $ok = eval { apply(@$what); 1 };

		die $@ if !$ok && $@ !~ /^(refused|not comparable)$/;
		if (!$ok && ($@ ne "refused\n" || rand() < 0.95)) {
			$root = $saved;
			%upper = %saved;
			next;
		}
		$bytes .= $raw;
		$refused = 1 if !$ok;
		last if $refused;
	}
	open my $out, '>:raw', "$dir/$layer.tar" or die "$dir: $!\n";
	print $out $bytes, "\0" x 1024;
	close $out or die "$dir: $!\n";
	last if $refused;
}

# A copy of a tree in which names of the same file still are.
sub clone {
	my ($node, $seen) = (@_, {});

	return { map { $_ => clone($node->{$_}, $seen) } keys %$node }
		if ref $node eq 'HASH';
	return $seen->{$node} //= [@$node];
}

my %names;
my @lines = list($root, '', \%names);

open my $out, '>', "$dir/wanted" or die "$dir: $!\n";
if ($refused) {
	print $out "refused\n";
} else {
	print $out "$_\n" for sort @lines;
	print $out join(' = ', sort @$_), "\n"
		for sort { $a->[0] cmp $b->[0] } grep { @$_ > 1 } values %names;
}
