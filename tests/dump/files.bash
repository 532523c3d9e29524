# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For bats files about files: copies of a checkpoint, and their manifests
# beside the kernel's.  Load it after corpus.

# make_room: set room to an empty directory for what is exported.  A tmpfs, if
# there is one, because it holds any size and any time.
make_room() {
	room=$(mktemp -d /dev/shm/nilfs2-test.XXXXXX 2>/dev/null) ||
		room=$(mktemp -d "$BATS_TEST_TMPDIR/room.XXXXXX")
}

drop_room() {
	[ -z "${room-}" ] || rm -rf "$room"
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# checkpoints_of NAME: "CNO MANIFEST" of the latest state (CNO 0) and of every
# snapshot of an image.
checkpoints_of() {
	local file

	echo "0 $corpus/$1/manifest"
	for file in "$corpus/$1"/manifest.[0-9]*; do
		[ ! -e "$file" ] || echo "${file##*.} $file"
	done
}

# data_blocks DIR: for manifest --blocks, where the data of large files is.  A
# tmpfs cannot say it of the last page that a file can have.
data_blocks() {
	find "$1" -type f -size +65536k -print0 | perl -0 -ne '
		chomp;
		open my $f, "<:raw", $_ or die "$_: $!\n";
		my ($ino, $size) = (stat $f)[1, 7];
		my $at = 0;
		while (my $data = sysseek $f, $at, 3) {
			$at = sysseek $f, $data, 4 or last;
			printf "%d %d %d\n", $ino, $data, $at - $data;
		}
		printf "%d %d %d\n", $ino, $size - 4095, 4095
			if $size == 9223372036854775807;'
}

# copy_manifest DIR: of an exported tree, without what a copy cannot keep.
copy_manifest() {
	data_blocks "$1" >"$BATS_TEST_TMPDIR/blocks"
	manifest --drop portable --blocks "$BATS_TEST_TMPDIR/blocks" "$1"
}

# equals_kernel DIR MANIFEST [FILTER...]: an exported tree is what the kernel
# saw, as far as FILTER lets it through.
equals_kernel() {
	diff <(manifest --drop portable - <"$2" | "${@:3}" cat) \
		<(copy_manifest "$1")
}

# guest_look: lines of a guest's script that mount $DEV1 and define look, which
# makes a checkpoint and prints its number and the manifest of the files.
guest_look() {
	cat <<-'EOF'
	nilfs_mount "$DEV1"
	exec 3>&1
	coproc manifest --ask "$MNT" 4>&1 >&3
	look() {
		echo checkpoint >&"${COPROC[1]}" && read -r -u "${COPROC[0]}" || exit
	}
	EOF
}

# looked_at SIZE <SCRIPT: make image of SIZE, run a script that begins with
# guest_look on it, and put each manifest in manifest.CNO.
looked_at() {
	mkfs.nilfs2 -q --size "$1" -B 64 image
	guest image
	[ "$status" -eq 0 ] || { echo "$errors"; return 1; }
	kernel_content
	awk '/^CHECKPOINT/ { file = "manifest." $2; next } { print >file }' \
		<<<"$output"
}

# edit IMAGE CODE: change by perl CODE what blocks hold, which is in $_, many of them
# at a time; $done stays from one time to the next.  Holes are left out.
edit() {
	perl -e 'open my $file, "+<:raw", shift or die "$!\n";
		my ($at, $piece, $done) = (0, 1 << 16);
		while (defined($at = sysseek $file, $at, 3)) {
			$at -= $at % $piece;
			sysseek $file, $at, 0;
			sysread $file, $_, $piece;
			my $before = $_;
			'"$2"';
			sysseek $file, $at, 0;
			syswrite $file, $_ if $_ ne $before;
			$at += $piece;
		}' "$1"
}
