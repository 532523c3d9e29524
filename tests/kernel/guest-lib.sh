# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a script finds in the guest besides $DEV1..., $SHARE and $MNT.

# A program of busybox, where there is one, is begun in half the time of one that is
# linked to others.
light=
! command -v busybox >/dev/null || light=busybox

# guest_module NAME [PARAMETER...]: load a module of the guest's kernel.
guest_module() {
	local file

	case $guest_backend in
	uml)
		file=$modules/$1.ko
		[ -e "$file" ] ||
			file=$(find "${modules%/kernel/*}" -name "$1.ko" -print -quit)
		shift
		$light insmod "$file" "$@" ;;
	qemu|ppc64)
		modprobe -d "$guest_modules" "$@" ;;
	esac
}

# nilfs_mount [-o OPTIONS] DEVICE [DIRECTORY]: mount without the helper that
# would start a cleaner; DIRECTORY ($MNT if not given) is made.
nilfs_mount() {
	local options=defaults

	[ "$1" != -o ] || { options=$2; shift 2; }
	[ -d "${2-$MNT}" ] || mkdir -p "${2-$MNT}" || return
	$light mount -i -t nilfs2 -o "$options" "$1" "${2-$MNT}"
}

nilfs_umount() {
	$light umount -i "${1-$MNT}"
}

# snapshot DEVICE: make a snapshot of now, print its checkpoint number.
snapshot() {
	mkcp -s -p "$1"
}

# For perl: checkpoint(DIRECTORY) does what mkcp does, NILFS_IOCTL_SYNC.
perl_checkpoint='sub checkpoint {
	open my $volume, "<", shift or die $!;
	ioctl $volume, 0x80086e8a, my $cno = "\0" x 8 or die "checkpoint: $!\n";
}'

# clean DEVICE DIRECTORY [PROTECTION [SPEED]]: one pass of nilfs_cleanerd over all
# reclaimable segments, PROTECTION (0) seconds of plain checkpoints kept, at SPEED
# (32/0.05, segments and a pause in seconds); fails if no segment was cleaned.
# Changes the root directory's times.
clean() {
	local conf=/mnt/tmp/cleanerd.conf

	echo "protection_period	${3-0}
	min_clean_segments	1%
	max_clean_segments	1%
	clean_check_interval	3600
	selection_policy	timestamp
	nsegments_per_clean	8
	cleaning_interval	0.1
	min_reclaimable_blocks	0
	use_mmap
	log_priority		debug" >"$conf"
	perl /mnt/host/clean.pl "$1" "$2" "$conf" "${3-0}" "${4-32/0.05}"
}

# manifest [OPTION...] DIRECTORY: see manifest.pl.
manifest() {
	perl /mnt/host/manifest.pl "$@"
}

# noise(FILEHANDLE, SEED, BYTES)
perl_noise='sub noise {
	my ($fh, $seed, $left) = @_;
	srand $seed;
	for (; $left > 0; $left -= 4096) {
		my @words = map { int rand 2 ** 32 } 1 .. 1024;
		print $fh substr pack("L*", @words), 0, $left or die "$!\n";
	}
	close $fh or die "$!\n";
}'

# noise SEED BYTES: bytes that look random and are the same each time.
noise() {
	perl -e "$perl_noise"' noise(*STDOUT, @ARGV)' "$1" "$2"
}

# noises PREFIX FROM TO BYTES [STEP]: what "noise N BYTES" prints, or of N * STEP
# more bytes, in PREFIXN for each N, by one program: here each takes 50 ms to start.
noises() {
	perl -e "$perl_noise"' my ($prefix, $from, $to, $bytes, $step) = @ARGV;
		 for my $n ($from .. $to) {
			 open my $fh, ">:raw", "$prefix$n" or die "$prefix$n: $!\n";
			 noise($fh, $n, $bytes + $n * ($step || 0));
		 }' "$@"
}

# filler(FILEHANDLE, SEED, BYTES)
perl_filler='sub filler {
	my ($fh, $seed, $left) = @_;
	srand $seed;
	my $first = pack "L*", map { int rand 2 ** 32 } 1 .. 1024;
	for (my $i = 0; $left > 0; $i++, $left -= 4096) {
		my $word = pack "L", $i * 2654435761 & 0xffffffff;
		print $fh substr $first ^ ($word x 1024), 0, $left
			or die "$!\n";
	}
	close $fh or die "$!\n";
}'

# filler SEED BYTES: the same for much data, ten times as fast: random numbers are
# drawn for one block, and the others differ from it by one word each.
filler() {
	perl -e "$perl_filler"' filler(*STDOUT, @ARGV)' "$1" "$2"
}

# rewrite FILE FROM TO BYTES: what "filler N BYTES" prints is the content of FILE, and
# in a checkpoint, for one N after the other.
rewrite() {
	perl -e "$perl_filler $perl_checkpoint"'
		my ($file, $from, $to, $bytes) = @ARGV;
		for my $n ($from .. $to) {
			open my $fh, ">:raw", $file or die "$file: $!\n";
			filler($fh, $n, $bytes);
			checkpoint($file);
		}' "$@"
}

# put FILE OFFSET SEED BYTES: write noise into FILE at a byte offset.
put() {
	noise "$3" "$4" | dd of="$1" oflag=seek_bytes seek="$2" bs=64K \
		iflag=fullblock conv=notrunc status=none
}

# scatter FILE BLOCKSIZE RANGE COUNT SEED: write COUNT blocks, all different,
# at random places among the first RANGE blocks of FILE.
scatter() {
	perl -e 'my ($file, $size, $range, $count, $seed) = @ARGV;
		 srand $seed;
		 open my $fh, "+>>", $file or die "$file: $!\n";
		 close $fh;
		 open $fh, "+<:raw", $file or die "$file: $!\n";
		 for my $i (1 .. $count) {
			 sysseek $fh, $size * int(rand $range), 0;
			 syswrite $fh, pack("LL", $seed, $i) x ($size / 8)
				or die "$file: $!\n";
		 }' "$@"
}
