# SPDX-License-Identifier: GPL-2.0-or-later
#
# use.pl take|clean|look|sum VOLUME...: what a user does with each of these image files
# in a guest, all in one process, because a guest takes long to start one.
#
# take: mount, read every file up to 100 MB, write new files, give each old one
# another time, move names; mount again: what was written is still there; make a
# snapshot; read it and the two oldest ones.  Prints "volume NAME: REASON" for
# each volume where something of that fails.
# clean: as take, and then nilfs_cleanerd is run over the volume.
# look: prints for each volume its name, "sound" or the reason why not, and a sum
# of all names, attributes and contents of the latest state and of each snapshot.
# A volume "after.N" or "new.N" is then written to as by take.
# sum: as look, mounted read-only and without the word.

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Find;

my ($what, @volumes) = @ARGV;
my $top = $ENV{MNT};
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
	return sha256_hex(join "\n", sort @lines);
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

sub check_written {
	for ("$top/new file", "$top/new directory/3") {
		whole($_) eq $text or die "$_: not what was written\n";
	}
}

# System calls, as Linux numbers them on x86-64, and requests to loop devices.
my ($sys_mount, $sys_umount2) = (165, 166);
my ($loop_set_fd, $loop_clr_fd, $loop_get_free) = (0x4C00, 0x4C01, 0x4C82);

# attach FILE: a loop device of it.  Nothing keeps that open: the kernel drops what
# it has read of a device when the last user closes it, and the driver writes past
# that.
sub attach {
	my ($path) = @_;

	open my $control, '+<', '/dev/loop-control' or die "loop-control: $!\n";
	my $n = ioctl $control, $loop_get_free, 0;
	defined $n or die "no loop device: $!\n";
	open my $loop, '+<', '/dev/loop' . ($n + 0) or die "loop$n: $!\n";
	open my $file, '+<', $path or die "$path: $!\n";
	ioctl $loop, $loop_set_fd, fileno $file or die "$path: loop: $!\n";
	return '/dev/loop' . ($n + 0);
}

sub detach {
	my ($dev) = @_;

	open my $loop, '+<', $dev or die "$dev: $!\n";
	ioctl $loop, $loop_clr_fd, 0 or die "$dev: $!\n";
}

sub mount {
	my ($dev, $options, $read_only) = @_;
	my ($dir, $type) = ("$top", 'nilfs2');

	-d $dir or mkdir $dir or die "$dir: $!\n";
	syscall($sys_mount, $dev, $dir, $type, $read_only ? 1 : 0,
		$options) == 0 or die "mount $options: $!\n";
}

sub unmount {
	my ($dir) = ("$top");

	syscall($sys_umount2, $dir, 0) == 0 or die "umount: $!\n";
}

sub snapshots {
	my ($dev) = @_;
	my @lines = `lscp -s $dev`;

	$? == 0 or die "lscp: status $?\n";
	return map { /^\s*(\d+)\s/ ? $1 : () } @lines;
}

sub take {
	my ($dev) = @_;

	mount($dev, '');
	each_file(\&whole);
	change();
	unmount();
	mount($dev, '');
	check_written();
	system('mkcp', '-s', $dev) == 0 or die "mkcp: status $?\n";
	my @all = snapshots($dev) or die "no snapshot\n";
	unlink "$top/new file" or die "unlink: $!\n";
	unmount();
	# The two oldest ones, and the one just made.
	for (0 .. $#all) {
		next if $_ > 1 && $_ < $#all;
		mount($dev, "cp=$all[$_]", 1);
		each_file(\&whole);
		unmount();
	}
}

# clean: one pass, of a second or so; that nothing could be cleaned is no failure.
sub clean {
	my ($dev) = @_;

	mount($dev, '');
	my $said = `bash -c '. /mnt/host/guest-lib.sh; clean $dev $top' 2>&1`;
	$? == 0 or $said eq "nothing was cleaned\n" or die "clean: $said";
	each_file(\&whole);
	unmount();
}

sub look {
	my ($dev, $read_only) = @_;

	mount($dev, '', $read_only);
	my @sums = sum();
	my @all = snapshots($dev);
	unmount();
	for (@all) {
		mount($dev, "cp=$_", 1);
		push @sums, $_, sum();
		unmount();
	}
	return @sums;
}

sub work {
	my ($dev) = @_;

	mount($dev, '');
	change();
	unmount();
	mount($dev, '');
	check_written();
	unmount();
}

# tried CODE: why it failed, nothing if it did not; what is mounted is unmounted.
sub tried {
	my ($code) = @_;

	eval { $code->(); 1 } and return '';
	my $why = $@;
	eval { unmount() };
	chomp $why;
	return $why;
}

$| = 1;
for my $path (@volumes) {
	my ($name) = $path =~ m,([^/]*)$,;
	my @sums;

	open my $log, '>', '/dev/kmsg' or die "kmsg: $!\n";
	print $log "volume $name\n";
	close $log;
	my $dev = attach($path);
	if ($what eq 'take' || $what eq 'clean') {
		my $why = tried(sub { take($dev) });
		$why = tried(sub { clean($dev) })
			if $why eq '' && $what eq 'clean';
		print "volume $name: $why\n" if $why ne '';
	} elsif ($what eq 'sum') {
		my $why = tried(sub { @sums = look($dev, 1) });
		@sums = ("refused: $why") if $why ne '';
		print join(' ', $name =~ s/\.img$//r, @sums), "\n";
	} else {
		my $why = tried(sub { @sums = look($dev, 0) });
		$why = tried(sub { work($dev) })
			if $why eq '' && $name =~ /^(after|new)\./;
		print join(' ', $name, $why eq '' ? 'sound' : $why, @sums), "\n";
	}
	detach($dev);
}
