# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes a directory tree that is the same each time and has in it whatever a
# volume can get wrong:
#
#     perl tree.pl rich DIR BLOCK_SIZE SEGMENT_BYTES
#     perl tree.pl flat DIR BLOCK_SIZE SEGMENT_BYTES
#     perl tree.pl layer DIR BLOCK_SIZE SEGMENT_BYTES
#
# "rich" has every type of file, odd names, modes, owners, times, holes and the
# sizes at which a block map changes its form.  "flat" is files of all lengths
# up to some segments, for looking at where they come to lie.  "layer" goes over
# "rich": it replaces each type by each, and merges directories.
#
# What needs root (devices, owners, files without permissions) is left out
# without it.

use strict;
use warnings;
use Digest::MD5 qw(md5);
use Fcntl qw(SEEK_SET);
use File::Path qw(make_path);
use File::Spec;
use POSIX qw(mkfifo);
use Socket;
use Time::HiRes qw(utime);

my ($kind, $top, $block, $segment) = @ARGV;
$top = File::Spec->rel2abs($top);
my $root = $> == 0;
# Of directories, and times that are not as any: they are set at the end.
my (%mode, %time);

# Bytes that no other place of any file has.
sub bytes {
	my ($seed, $length) = @_;
	my $count = int(($length + 15) / 16);

	return substr join('', map { md5("$seed/$_") } 1 .. $count), 0, $length;
}

sub dir {
	my ($path, $mode) = @_;

	make_path("$top/$path");
	$mode{$path} = $mode if defined $mode;
}

# file PATH, SIZE, [OFFSET, LENGTH]...: all of it is data if no range is given.
sub file {
	my ($path, $size, @ranges) = @_;

	open my $fh, '>:raw', "$top/$path" or die "$path: $!\n";
	@ranges = ([0, $size]) if !@ranges;
	for my $range (@ranges) {
		sysseek $fh, $range->[0], SEEK_SET;
		syswrite $fh, bytes("$path\@$range->[0]", $range->[1]);
	}
	truncate $fh, $size or die "$path: $!\n";
	close $fh or die "$path: $!\n";
}

sub hard {
	my ($from, $to) = @_;

	link "$top/$from", "$top/$to" or die "$to: $!\n";
}

sub soft {
	my ($target, $path) = @_;

	symlink $target, "$top/$path" or die "$path: $!\n";
}

sub socket_at {
	my ($path) = @_;

	# The address holds 108 bytes, so the name must be short.
	chdir "$top/" . ($path =~ s,/[^/]*$,,r) or die "$path: $!\n";
	socket my $sock, PF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
	bind $sock, pack_sockaddr_un($path =~ s,.*/,,r) or die "$path: $!\n";
	chdir '/';
}

sub types {
	dir 'types';
	mkfifo "$top/types/fifo", 0622;
	socket_at 'types/socket';
	soft 'x', 'types/link';
	soft '../modes/a-file-somewhere-else', 'types/link-out';
	# The kernel makes none that fill a block.
	soft 't' x $_, "types/link-$_" for 55, 56, 57, $block - 2, $block - 1;
	file 'types/file', 5;
	file 'types/empty', 0;
	dir 'types/dir';
	return if !$root;
	system('mknod', "$top/types/char", 'c', 1, 3) == 0 or die;
	system('mknod', "$top/types/block", 'b', 259, 1048575) == 0 or die;
}

sub modes {
	dir 'modes';
	for my $mode (0400, 0644, 0755, 0700, 04755, 02755, 01644, 06711, 07777,
		      $root ? (0000, 0222) : ()) {
		my $name = sprintf 'modes/f%04o', $mode;
		file $name, $mode;
		chmod $mode, "$top/$name";
	}
	dir sprintf('modes/d%04o', $_), $_ for 0700, 01777, 02775, 0555;
}

sub owners {
	return if !$root;
	dir 'owners';
	my @ids = (0, 1, 1000, 65534, 65535, 65536, 0x7fffffff, 0xfffffffe);
	for my $i (0 .. $#ids) {
		file "owners/$i", $i;
		chown $ids[$i], $ids[-1 - $i], "$top/owners/$i";
		chmod 04750, "$top/owners/$i";
	}
	dir 'owners/dir';
	chown 1000, 100, "$top/owners/dir";
	soft 'dir', 'owners/link';
	system('chown', '-h', '7:8', "$top/owners/link") == 0 or die;
}

sub old_times {
	dir 'times';
	for my $time (qw(0 0.000000001 -1 -1.5 -0.000000001 -2000000000.999999999
			 2147483647.999999999 2147483648 4294967296.5
			 1234567890.123456789)) {
		file "times/t$time", 1;
		$time{"times/t$time"} = $time;
	}
	dir 'times/dir';
	$time{'times/dir'} = '-86400.25';
	soft 'nowhere', 'times/link';
	$time{'times/link'} = '86400.75';
}

sub links {
	dir 'links/one/two/three';
	dir 'links/other';
	file 'links/z', 3 * $block;
	hard 'links/z', 'links/one/a';
	hard 'links/z', 'links/one/two/three/z';
	hard 'links/z', 'links/other/zz';
	mkfifo "$top/links/fifo", 0600;
	hard 'links/fifo', 'links/other/fifo';
	soft 'z', 'links/soft';
	hard 'links/soft', 'links/other/soft';
	file 'links/none', 0;
	hard 'links/none', 'links/one/none';
}

# Holes are multiples of 4 KiB, what most file systems know.
sub holes {
	my $k = 4096;

	dir 'holes';
	file 'holes/all', 3 * $k, [0, 0];
	file 'holes/all-large', 1200 * $k + 1, [0, 0];
	file 'holes/first', 4 * $k + 9, [3 * $k, $k + 9];
	file 'holes/last', 9 * $k + 77, [0, $k + 1];
	file 'holes/middle', 40 * $k, [0, 2 * $k], [38 * $k, 2 * $k];
	file 'holes/direct', 6 * $block, [0, $block], [5 * $block, $block];
	file 'holes/tree', 7 * $k, [0, 1], [6 * $k, $k];
	file 'holes/tail-byte', 300 * $k + 1, [300 * $k, 1];
	# Every second block: as many keys as a dense file, wide apart.
	file 'holes/comb', 1600 * $k, map { [2 * $_ * $k, $k] } 0 .. 799;
	file 'holes/far', 1 << 23, map { [$_ * 65536, $k] } 1, 7, 8, 100, 127;
}

# Too large to be read by a kernel that finds no holes: its data is where
# huge_ranges() of populate.bash says.
my @huge = ([0, 4096], [1 << 30, 8192], [1 << 38, 4096], [(1 << 40) - 4096, 999]);

sub huge {
	file 'holes/huge', (1 << 40) + 12345, @huge;
}

sub names {
	dir 'names';
	my $i = 0;
	for my $name ('-rf', '--', ' ', 'two  words ', "new\nline", "tab\there",
		      "\\back\\slash", '*', '?[a]', '...', '.hidden', '#', '~',
		      '%s%n', "'", '"', "\x01\x7f", "caf\xc3\xa9", "\xff\xfe\x80",
		      "\xed\xa0\x80", "\xe2\x82", 'X' x 255, "\xc3\xa9" x 127,
		      'CASE', 'case', 'Case', 'n' x 8, 'n' x 7, 'n' x 9) {
		file "names/$name", ++$i;
	}
	dir "names/-dir \n";
	soft "\xff\n ", "names/-link";
	file "names/-dir \n/-f", 3;
}

sub many {
	dir 'empty/empty/empty';
	dir 'many';
	file "many/name-of-entry-number-$_", $_ % 97 for 1 .. 120;
	dir 'many-links';
	file 'many-links/0', 10;
	hard 'many-links/0', sprintf 'many-links/%s-%d', 'name' x 48, $_
		for 1 .. 150;
	dir 'many-dirs';
	dir "many-dirs/$_" for 1 .. 40;
	my $deep = 'deep';
	for my $i (1 .. 40) {
		$deep .= sprintf '/%s-%d', 'level' x 8, $i;
		dir $deep;
		file "$deep/f", $i if $i % 8 == 0;
	}
	soft '../..', "$deep/up";
}

sub each_side {
	my ($path, $size) = @_;

	file "$path-$_", $size + $_ for -1, 0, 1;
}

# A map changes its form at 6 blocks (direct), at 3 nodes (the root is full) and
# at 3 nodes of nodes; a node has (block size - 16) / 16 children.
sub sizes {
	my $node = ($block - 16) / 16;

	dir 'sizes';
	each_side "sizes/$_-blocks", $_ * $block for 1, 5, 6, 7;
	each_side "sizes/node", $node * $block;
	each_side "sizes/3-nodes", 3 * $node * $block;
	file 'sizes/9-nodes', 9 * $node * $block + 1 if $block < 4096;
	file 'sizes/nodes-of-nodes', 3 * $node ** 2 * $block + 1
		if $block == 1024;
}

sub large {
	my $s = $segment;

	dir 'large';
	each_side 'large/segment', $s;
	# A segment without one, two or three blocks for a summary.
	file "large/segment-less-$_", $s - $_ * $block for 1 .. 4;
	file 'large/segments', 5 * $s + 777;
}

sub flat {
	srand 1;
	for my $i (1 .. 250) {
		my $blocks = int exp rand log 1.2 * $segment / $block;
		my $less = int rand $block;

		dir sprintf 'd%02d', $i % 7 if $i <= 7;
		file sprintf('d%02d/f%03d', $i % 7, $i),
			$blocks * $block - $less;
	}
	each_side 'd03/segment', $segment;
	file "d04/segment-less-$_", $segment - $_ * $block for 1 .. 4;
	file "d05/segments-$_", $_ * $segment + 999 for 2, 3, 7;
	dir 'crowd';
	file 'crowd/0', 10;
	hard 'crowd/0', "crowd/$_" for 1 .. 3000;
	dir 'd06/holes';
	file "d06/holes/$_", 40 * $segment,
		map { [2 * 4096 * $_, 4096] } 1 .. 20 for 1 .. 5;
}

sub layer {
	dir 'types', 0711;
	file 'types/fifo', 3000;		# a FIFO is now a file,
	soft 'now a link', 'types/file';	# a file a link,
	file 'types/link', 7;			# a link a file,
	dir 'types/empty';			# a file a directory,
	file 'types/empty/inside', 12;
	mkfifo "$top/types/link-out", 0600;	# a link a FIFO,
	file 'types/dir', 20000;		# a directory a file,
	dir 'many';
	file "many/name-of-entry-number-$_", $_ * 10 for 3, 30, 100;
	file "many/of-the-second-layer-$_", 9 for 1 .. 80;
	dir 'links';
	file 'links/z', 100;			# one name fewer for the others
	dir 'links/other';
	hard 'links/z', 'links/other/new';
	soft 'elsewhere', 'deep';		# a whole tree goes
	file 'many-dirs', 0;
	dir 'sizes';
	file 'sizes/7-blocks-0', 6 * $block;	# a tree is direct now
	file 'sizes/6-blocks-0', 9 * $block;
	file 'sizes/node-1', 0;
	dir 'large';
	file 'large/segments', 2 * $segment;
	dir 'new/directory';
	file 'new/directory/file', 50000;
	dir 'empty';
}

# touch knows each nanosecond, times before 1970 and symbolic links; it is slow.
sub set_time {
	my ($path, $exact, $time) = @_;

	if (defined $exact || -l $path) {
		system('touch', '-hd', '@' . ($exact // $time), '--', $path) == 0
			or die;
	} else {
		utime $time, $time, $path or die "$path: $!\n";
	}
}

# Times differ, have nanoseconds and do not depend on when this runs.  Children
# come before their directories.
sub stamp {
	my $n = 0;

	open my $find, '-|', 'find', $top, '-print0' or die;
	local $/ = "\0";
	chomp(my @paths = <$find>);
	for my $path (sort { $b cmp $a } @paths) {
		my $name = $path eq $top ? '.' : substr $path, 1 + length $top;

		chmod $mode{$name}, $path if defined $mode{$name};
		set_time($path, $time{$name}, sprintf '%d.%09d',
			 1_000_000_000 + 1000 * $n, 7919 * $n % 1_000_000_000);
		$n++;
	}
}

umask 022;
make_path($top);
$mode{'.'} = 0751;
if ($kind eq 'rich') {
	types(); modes(); owners(); old_times(); links(); holes(); names();
	many(); sizes(); large(); huge();
} elsif ($kind eq 'flat') {
	flat();
} elsif ($kind eq 'layer') {
	layer();
} else {
	die "no kind of tree: $kind\n";
}
stamp();
