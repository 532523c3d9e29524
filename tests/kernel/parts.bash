# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files whose tests share an emulated guest: its boot takes longer than
# what most of them do there.  Load it after lab.

# parts [GUEST.SH-OPTION...] PART... [-- ARGUMENT...]: for setup_file.  A part is a
# function of the bats file that the guest runs with these arguments, errexit set,
# and a $MNT of its own; it can call those that the array guest_side names.  $SHARE
# is $BATS_FILE_TMPDIR/parts.
parts() {
	local options=() names=()

	while [ "${1#--}" != "$1" ]; do
		options+=("$1" "$2")
		shift 2
	done
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		names+=("$1")
		shift
	done
	mkdir -p "$BATS_FILE_TMPDIR/parts" || return
	{
		declare -f small_programs run_part "${guest_side[@]}" \
			"${names[@]}"
		echo small_programs
		printf 'run_part %s "$@"\n' "${names[@]}"
	} | "$lab_dir/guest.sh" --backend qemu "${options[@]}" \
		--share "$BATS_FILE_TMPDIR/parts" \
		--dmesg "$BATS_FILE_TMPDIR/parts/dmesg" - "$@"
}

# In the guest, whose initramfs has busybox, too: a program that is not linked to
# others is begun in 20 ms, not in 100.
small_programs() {
	local name

	for name in awk cat dd grep mkdir mount rm sed sleep sync umount; do
		eval "$name() { busybox $name \"\$@\"; }"
	done
}

# In the guest.  A part that failed is in no other's way.
run_part() {
	echo "guest: part $1" >/dev/kmsg
	(
		set -e
		MNT=/mnt/$1
		"$@"
	) >"$SHARE/$1" 2>&1
	echo $? >"$SHARE/$1.status"
	umount -i "/mnt/$1" 2>/dev/null || :
}

# part NAME: what it printed, also as $output, and its status; sets dmesg to what
# the kernel said meanwhile.
# shellcheck disable=SC2034
part() {
	local at=$BATS_FILE_TMPDIR/parts

	output=$(cat "$at/$1")
	dmesg=$(awk -v name="$1" '/guest: part / { on = $NF == name; next }
		on' "$at/dmesg")
	echo "$output"
	return "$(cat "$at/$1.status")"
}

# fill DIRECTORY FROM TO BYTES: in the guest, files of these numbers, each on the
# device before the next is begun, until one does not fit, which is removed; prints
# how many there are.
fill() {
	perl -e '
		my ($dir, $from, $to, $bytes) = @ARGV;
		srand $from;
		my $first = pack "L*", map { int rand 2 ** 32 } 1 .. 1024;
		my $blocks = int(($bytes + 4095) / 4096);
		# syncfs(2), as "sync -f" does.
		sub on_device { syscall(306, fileno shift) == 0 }
		my $i = $from;
		for (; $i <= $to; $i++) {
			my $data = "";
			$data .= $first ^
				pack("L", $_ * 2654435761 & 0xffffffff) x 1024
				for $i * $blocks .. ($i + 1) * $blocks - 1;
			open my $file, ">:raw", "$dir/$i" or last;
			last if (syswrite($file, $data, $bytes) // 0) < $bytes ||
				!on_device($file);
		}
		if ($i <= $to) {
			unlink "$dir/$i";
			open my $directory, "<", $dir or die "$dir: $!\n";
			on_device($directory) or die "$dir: $!\n";
		}
		print $i - $from, " files\n"' "$@"
}
