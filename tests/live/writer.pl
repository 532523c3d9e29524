# SPDX-License-Identifier: GPL-2.0-or-later
#
# writer.pl [OPTION=VALUE...] DIRECTORY SEED MODEL: a writer that checks itself, until
# the file MODEL.end exists.
#
# Writes, overwrites, truncates, renames, synchronizes, links and removes files below
# DIRECTORY, and reads them back; dies at the first difference.  After 200, 400, 600
# and 800 operations a snapshot is made: MODEL.CNO has the sums of all files then, in
# the form of sha256sum, and MODEL those of the end.
#
# files=N        about so many (40)
# size=BYTES     their size, at most (60000)
# operations=N   at least (850)
# snapshots=N    after each N operations, to the last; 0: none
# most=N         none while there are so many MODEL.CNO, which others may remove
# pause=MS       after each operation (2)
# taken=N        see below (400)
# full=1         a volume without space is no failure: what is there then is taken
# journal=FILE   what is on the disk, as "= NAME SUM" and "- NAME" (removed), and
#                "? NAME" before it is changed: a line is there before the next operation
# mark=DEVICE    a mark in the log of dm-log-writes after each synchronization
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use Errno qw(ENOENT ENOSPC);
use Fcntl;
use IO::Handle;

my %option = (files => 40, size => 60000, operations => 850, snapshots => 200,
	      last => 800, pause => 2, taken => 400);

while (@ARGV && $ARGV[0] =~ /^([a-z]+)=(.*)$/s) {
	$option{$1} = $2;
	delete $option{last} if $1 eq 'snapshots';
	shift;
}
my ($dir, $seed, $model) = @ARGV;
my %files;
my $next = 0;
my ($journal, %unsure);

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
	open my $fh, '>', "$file.new" or die "$file: $!\n";
	print $fh sha256_hex($files{$_}), "  ./$_\n" for sort keys %files;
	close $fh or die "$file: $!\n";
	rename "$file.new", $file or die "$file: $!\n";
}

# Everything written before is on the disk after it.
sub checkpoint {
	open my $volume, '<', $dir or die "$!\n";
	ioctl $volume, 0x80086e8a, my $cno = "\0" x 8 or die "checkpoint: $!\n";
	return $volume, unpack 'Q', $cno;
}

# Without the lock of the cleaner, a run that begins after the checkpoint may delete it.
sub snapshot {
	for (1 .. 20) {
		my ($volume, $cno) = checkpoint();
		sums("$model.$cno");
		return if ioctl $volume, 0x40106e80, pack 'QLL', $cno, 1, 0;
		my $error = $!;
		unlink "$model.$cno";
		die "snapshot: $error\n" if $error != ENOENT;
	}
	die "snapshot: no checkpoint stays\n";
}

# Adds lines to the journal, which are kept if the power is cut now.
sub note {
	return if !$journal;
	print $journal @_ or die "$!\n";
	$journal->flush && $journal->sync or die "$!\n";
	system 'dmsetup', 'message', $option{mark}, 0, 'mark ' . tell $journal and
		die "dmsetup\n" if $option{mark};
}

sub unsure {
	$unsure{$_} = 1 for @_;
	print $journal map { "? $_\n" } @_ or die "$!\n" if $journal;
	$journal->flush && $journal->sync or die "$!\n" if $journal;
}

# The files NAME... are on the disk.
sub sure {
	note(map { exists $files{$_} ? "= $_ " . sha256_hex($files{$_}) . "\n" :
				       "- $_\n" } @_);
	delete @unsure{@_};
}

# The kernel panics when it unmounts a volume on which a file has the virtual number
# 2^64 - 1 (kernel/farnumbers.bats).  Only inodes that are multiples of 8 get it: these
# are taken.
if ($option{taken} && mkdir "$dir/.taken") {
	for (1 .. $option{taken}) {
		open my $fh, '>', "$dir/.taken/$_" or die "$!\n";
	}
	for (glob "$dir/.taken/*") {
		unlink if (stat)[1] % 8;
	}
}
if ($option{journal}) {
	open $journal, '>>', $option{journal} or die "$option{journal}: $!\n";
}

# One operation, on the file NAME.
sub operate {
	my ($what, $name) = @_;

	if (keys %files < $option{files} || $what == 0) {
		$name = 'f' . $next++;
		unsure($name);
		$files{$name} = noise(int rand $option{size});
		open my $fh, '>:raw', "$dir/$name" or die "$name: $!\n";
		print $fh $files{$name} or die "$name: $!\n";
		close $fh or die "$name: $!\n";
	} elsif ($what == 1) {
		unsure($name);
		unlink "$dir/$name" or die "$name: $!\n";
		delete $files{$name};
		return;
	} elsif ($what == 2) {
		my $to = 'f' . $next++;
		unsure($name, $to);
		rename "$dir/$name", "$dir/$to" or die "$name: $!\n";
		$files{$to} = delete $files{$name};
		$name = $to;
	} elsif ($what == 3) {
		my $size = int rand $option{size};
		unsure($name);
		truncate "$dir/$name", $size or die "$name: $!\n";
		$files{$name} .= "\0" x ($size - length $files{$name})
			if $size > length $files{$name};
		$files{$name} = substr $files{$name}, 0, $size;
	} else {
		my $at = int rand $option{size} * 5 / 6;
		my $data = noise(1 + int rand $option{size} * 3 / 20);

		unsure($name);
		$files{$name} .= "\0" x ($at - length $files{$name})
			if $at > length $files{$name};
		substr($files{$name}, $at, length $data) = $data;
		sysopen my $fh, "$dir/$name", O_RDWR or die "$name: $!\n";
		sysseek $fh, $at, 0;
		my $n = syswrite $fh, $data;
		$! = ENOSPC if defined $n && $n < length $data;
		defined $n && $n == length $data or die "$name: $!\n";
		if ($what > 7) {
			$fh->sync or die "$name: $!\n";
			sure($name);
		}
		close $fh or die "$name: $!\n";
	}
	check($name);
}

# The segments of the volume now (NILFS_IOCTL_GET_SUSTAT).
sub usage {
	open my $volume, '<', $dir or return '';
	ioctl $volume, 0x80306e85, my $stat = "\0" x 48 or return '';
	return sprintf "%d segments, %d clean, %d dirty\n", unpack 'QQQ', $stat;
}

# Whether the last failure was one for want of space, which is permitted.
sub no_space {
	return $option{full} && $@ =~ /No space left/;
}

# After it: the files are what they are, with what the operation has done of its work.
sub adopt {
	for (keys %files) {
		-e "$dir/$_" ? ($files{$_} = content($_)) : delete $files{$_};
	}
	select undef, undef, undef, 0.2;
}

for (my $i = 1; $i < $option{operations} || !-e "$model.end"; $i++) {
	my @names = sort keys %files;
	my $name = @names ? $names[rand @names] : '';
	my $what = int rand 10;

	if ($option{snapshots} && $i % $option{snapshots} == 0 &&
	    $i <= ($option{last} || $i) &&
	    (() = glob "$model.[0-9]*") < ($option{most} || $i)) {
		eval { snapshot() };
		die $@ if $@ && !no_space();
	}
	if ($journal && $i % 20 == 0) {
		checkpoint();
		sure(sort keys %unsure);
	}
	# The guest has one processor.
	select undef, undef, undef, $option{pause} / 1000;
	eval { operate($what, $name) };
	next if !$@;
	die $@, usage() if !no_space();
	adopt();
}
check($_) for keys %files;
sums($model);
