# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a script finds in the guest besides $DEV1..., $SHARE and $MNT.

# guest_module NAME [PARAMETER...]: load a module of the guest's kernel.
guest_module() {
	local file

	case $guest_backend in
	uml)
		file=$modules/$1.ko
		[ -e "$file" ] ||
			file=$(find "${modules%/kernel/*}" -name "$1.ko" -print -quit)
		shift
		insmod "$file" "$@" ;;
	qemu|ppc64)
		modprobe -d "$guest_modules" "$@" ;;
	esac
}

# nilfs_mount [-o OPTIONS] DEVICE [DIRECTORY]: mount without the helper that
# would start a cleaner; DIRECTORY ($MNT if not given) is made.
nilfs_mount() {
	local options=defaults

	[ "$1" != -o ] || { options=$2; shift 2; }
	mkdir -p "${2-$MNT}"
	mount -i -t nilfs2 -o "$options" "$1" "${2-$MNT}"
}

nilfs_umount() {
	umount -i "${1-$MNT}"
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
	# Whatever is not older than the last log, in whole seconds, is left
	# alone: so one more log, in a later second.  A checkpoint of an
	# unchanged volume would write none.
	sleep 1.1
	: >"$2/.clean" && rm "$2/.clean" && sync || return
	# Segments that recovery would read, those since the log that the
	# superblock points to, are left alone too: freezing updates it.
	fsfreeze -f "$2" && fsfreeze -u "$2" || return
	sleep 1.1
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

# filler SEED BYTES: the same for much data, ten times as fast: random numbers are
# drawn for one block, and the others differ from it by one word each.
filler() {
	perl -e 'my ($seed, $left) = @ARGV;
		 srand $seed;
		 my $first = pack "L*", map { int rand 2 ** 32 } 1 .. 1024;
		 for (my $i = 0; $left > 0; $i++, $left -= 4096) {
			 my $word = pack "L", $i * 2654435761 & 0xffffffff;
			 print substr $first ^ ($word x 1024), 0, $left
				or die "$!\n";
		 }
		 close STDOUT or die "$!\n"' "$1" "$2"
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
