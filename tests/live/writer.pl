# SPDX-License-Identifier: GPL-2.0-or-later
#
# writer.pl DIRECTORY SEED MODEL: a writer that checks itself, until the file MODEL.end
# exists.
#
# Writes, overwrites, truncates, renames, synchronizes, links and removes files below
# DIRECTORY, and reads them back; dies at the first difference.  After 200, 400, 600
# and 800 operations a snapshot is made: MODEL.CNO has the sums of all files then, in
# the form of sha256sum, and MODEL those of the end.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Fcntl;
use IO::Handle;

my ($dir, $seed, $model) = @ARGV;
my %files;
my $next = 0;

srand $seed;

sub noise {
	my ($n) = @_;
	my $word = pack 'L*', map { int rand 2 ** 32 } 1 .. 16;
	return substr $word x ($n / 64 + 1), 0, $n;
}

sub content {
	my ($name) = @_;
	open my $fh, '<:raw', "$dir/$name" or die "$name: $!\n";
	local $/;
	my $is = <$fh>;
	return defined $is ? $is : '';
}

sub check {
	my ($name) = @_;
	content($name) eq $files{$name} or die "$name: differs\n";
}

# The sums of all files, without a read.
sub sums {
	my ($file) = @_;
	open my $fh, '>', $file or die "$file: $!\n";
	print $fh sha256_hex($files{$_}), "  ./$_\n" for sort keys %files;
	close $fh or die "$file: $!\n";
}

sub snapshot {
	open my $volume, '<', $dir or die "$!\n";
	ioctl $volume, 0x80086e8a, my $cno = "\0" x 8 or die "checkpoint: $!\n";
	$cno = unpack 'Q', $cno;
	ioctl $volume, 0x40106e80, pack 'QLL', $cno, 1, 0 or die "snapshot: $!\n";
	sums("$model.$cno");
}

# The kernel panics when it unmounts a volume on which a file has the virtual number
# 2^64 - 1 (kernel/farnumbers.bats).  Only inodes that are multiples of 8 get it: these
# are taken.
if (mkdir "$dir/.taken") {
	for (1 .. 400) {
		open my $fh, '>', "$dir/.taken/$_" or die "$!\n";
	}
	for (glob "$dir/.taken/*") {
		unlink if (stat)[1] % 8;
	}
}

for (my $i = 1; $i < 850 || !-e "$model.end"; $i++) {
	my @names = sort keys %files;
	my $name = @names ? $names[rand @names] : '';
	my $what = int rand 10;

	snapshot() if $i % 200 == 0 && $i <= 800;
	# The guest has one processor.
	select undef, undef, undef, 0.002;
	if (@names < 40 || $what == 0) {
		$name = 'f' . $next++;
		open my $fh, '>:raw', "$dir/$name" or die "$name: $!\n";
		$files{$name} = noise(int rand 60000);
		print $fh $files{$name} or die "$!\n";
		close $fh or die "$!\n";
	} elsif ($what == 1) {
		unlink "$dir/$name" or die "$name: $!\n";
		delete $files{$name};
		next;
	} elsif ($what == 2) {
		my $to = 'f' . $next++;
		rename "$dir/$name", "$dir/$to" or die "$name: $!\n";
		$files{$to} = delete $files{$name};
		$name = $to;
	} elsif ($what == 3) {
		my $size = int rand 60000;
		truncate "$dir/$name", $size or die "$name: $!\n";
		$files{$name} .= "\0" x ($size - length $files{$name})
			if $size > length $files{$name};
		$files{$name} = substr $files{$name}, 0, $size;
	} else {
		my $at = int rand 50000;
		my $data = noise(1 + int rand 9000);

		$files{$name} .= "\0" x ($at - length $files{$name})
			if $at > length $files{$name};
		substr($files{$name}, $at, length $data) = $data;
		sysopen my $fh, "$dir/$name", O_RDWR or die "$name: $!\n";
		sysseek $fh, $at, 0;
		syswrite($fh, $data) == length $data or die "$name: $!\n";
		$fh->sync or die "$name: $!\n" if $what > 7;
		close $fh or die "$!\n";
	}
	check($name);
}
check($_) for keys %files;
sums($model);
