# SPDX-License-Identifier: GPL-2.0-or-later
#
# clean.pl DEVICE DIR CONF PROTECTION SPEED: one pass of nilfs_cleanerd, in a guest;
# see clean in guest-lib.sh.  All in one program, as each takes long to start in a
# guest.  The daemon takes up a request when it likes, and only
# tells syslogd when it has done it: here this program is syslogd, and what it is
# told is in /mnt/tmp/cleaner.log.
use strict;
use warnings;
use Config;
use Socket;

my ($device, $dir, $conf, $protection, $speed) = @ARGV;
my ($cleaned, $daemon) = (0, 0);

# wait_for WORDS: until the daemon says so.
sub wait_for {
	my ($words) = @_;
	my $end = time + 600;

	while (time < $end) {
		my $ready = '';
		vec($ready, fileno LOG, 1) = 1;
		if (select $ready, undef, undef, 1) {
			defined recv LOG, my $said, 2000, 0 or die "$!\n";
			syswrite SAID, "$said\n";
			$daemon = $1 if $said =~ /cleanerd\[(\d+)\]/;
			$cleaned++ if $said =~ /segment \d+ cleaned/;
			return if $said =~ $words;
		} elsif ($daemon && !kill 0, $daemon) {
			die "nilfs_cleanerd ended by itself\n";
		}
	}
	die "nilfs_cleanerd did not say $words\n";
}

# Whatever is not older than the last log, in whole seconds, is left alone: so one
# more log, in a later second.  A checkpoint of an unchanged volume would write none.
# Segments that recovery would read, those since the log that the superblock points
# to, are left alone too: freezing updates it.
sub age {
	# _IOR() of <asm/ioctl.h> differs on powerpc.
	my $read = $Config{archname} =~ /powerpc/ ? 0x40000000 : 0x80000000;
	my ($sync, $freeze, $thaw) = ($read | 0x00086e8a, 0xc0045877, 0xc0045878);

	select undef, undef, undef, 1.1;
	open my $file, '>', "$dir/.clean" or die "$dir/.clean: $!\n";
	unlink "$dir/.clean" or die "$dir/.clean: $!\n";
	close $file;
	open my $volume, '<', $dir or die "$dir: $!\n";
	ioctl $volume, $sync, my $cno = "\0" x 8 or die "checkpoint: $!\n";
	ioctl $volume, $freeze, 0 and ioctl $volume, $thaw, 0 or
		die "freeze: $!\n";
	select undef, undef, undef, 1.1;
}

age();
open SAID, '>', '/mnt/tmp/cleaner.log' or die "$!\n";
unlink '/dev/log';
socket LOG, AF_UNIX, SOCK_DGRAM, 0 or die "$!\n";
bind LOG, sockaddr_un('/dev/log') or die "/dev/log: $!\n";
open my $output, '>&', \*STDOUT or die "$!\n";
open STDOUT, '>', '/dev/null' or die "$!\n";
system('nilfs_cleanerd', '-c', $conf, $device, $dir) == 0 or
	die "nilfs_cleanerd: status $?\n";
open STDOUT, '>&', $output or die "$!\n";
wait_for(qr/: pause/);
system('nilfs-clean', '-p', $protection, '-m', 0, '-S', $speed, $device) == 0 or
	die "nilfs-clean: status $?\n";
wait_for(qr/: manual run/);
# Not by a signal: it may come while syslog() holds its lock, which its handler wants.
system('nilfs-clean', '-q', $device) == 0 or die "nilfs-clean -q: status $?\n";
wait_for(qr/: shutdown/);
select undef, undef, undef, 0.02 while kill 0, $daemon;
$cleaned or die "nothing was cleaned\n";
