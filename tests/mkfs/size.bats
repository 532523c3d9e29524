#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --size auto and --size +SLACK: a volume as large as it must be, no larger.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate

setup() {
	need_guest uml
	cd "$BATS_TEST_TMPDIR" || return 1
}

# tree BYTES: some hundred files.
tree() {
	perl -e '
		my ($left, $i) = @ARGV;
		mkdir "tree" or die;
		srand 5;
		while ($left > 0) {
			my $n = int exp rand 14;
			$n = $left if $n > $left;
			open my $f, ">", sprintf("tree/%04d", $i++) or die;
			print $f pack "L*", map { rand 2 ** 32 } 1 .. $n / 4 + 1;
			$left -= $n;
		}' "$1" 0
}

# one_file SIZE-OF-IMAGE...: each volume, of options $options, is mounted, and a
# small file is written to it; sets status to how many could not be.
one_file() {
	local size images=()

	for size; do
		rm -f "image.$size"
		mkfs -q $options --size "$size" -d tree "image.$size"
		images+=("image.$size")
	done
	guest "${images[@]}" <<-EOF
	failed=0
	for ((i = 1; i <= $#; i++)); do
		device=DEV\$i
		nilfs_mount "\${!device}" || exit 99
		echo one >"\$MNT/file" && sync && grep -q one "\$MNT/file" ||
			failed=\$((failed + 1))
		diff -r "\$MNT" "$PWD/tree" | grep -v '^Only in .*: file\$'
		nilfs_umount
	done
	exit \$failed
	EOF
	echo "$output$errors"
}

@test "auto is the least size to which the kernel writes a small file" {
	tree 12000000
	for options in '-b 1024 -B 256' '-b 4096 -B 64 -m 30' '-b 2048 -B 32'; do
		echo "options $options"
		one_file auto
		[ "$status" -eq 0 ]
		[ -z "$output" ]
		kernel_content
		least=$(stat -c %s image.auto)
		# shellcheck disable=SC2086
		set -- $options
		one_file $((least - $2 * $4))
		[ "$status" -eq 1 ]
		[[ $errors == *"No space left on device"* ]]
	done
}

# 8 segments at least are kept for the cleaner.
@test "what is kept for the cleaner takes no space in an image" {
	tree 3000000
	mkfs -q -B 16 --size auto -d tree image
	[ $(($(stat -c %b image) * 512)) -lt \
		$(($(stat -c %s image) - 8 * 65536)) ]
	[ "$(blkid -p -o value -s TYPE image)" = nilfs2 ]
}

@test "+SLACK leaves that much to the user, and not much more" {
	tree 3000000
	for options in '-b 1024 -B 256' '-b 4096 -B 64'; do
		mkfs -q $options --size auto -d tree image.auto
		mkfs -q $options --size auto+32M -d tree image
		[ "$(stat -c %s image)" -le \
			$(($(stat -c %s image.auto) + 32 * 1048576 * 112 / 100)) ]
		guest image <<-EOF
		set -e
		nilfs_mount "\$DEV1"
		dd if=/dev/zero of="\$MNT/slack" bs=1M count=32 status=none
		sync
		nilfs_umount
		nilfs_mount "\$DEV1"
		cmp -n 33554432 "\$MNT/slack" /dev/zero
		[ "\$(stat -c %s "\$MNT/slack")" = 33554432 ]
		EOF
		echo "$output$errors"
		[ "$status" -eq 0 ]
		kernel_content
		rm image image.auto
	done
}

@test "the size follows from the content" {
	tree 1000000
	mkfs -q -B 16 --size auto -d tree one
	rm -r tree
	tree 9000000
	mkfs -q -B 16 --size auto -d tree two
	[ $(($(stat -c %s two) - $(stat -c %s one))) -gt 8000000 ]
	[ $(($(stat -c %s two) - $(stat -c %s one))) -lt 10000000 ]
}

@test "an existing image becomes as small as a new one" {
	tree 100000
	mkfs -q -B 16 --size auto -d tree new
	image 64M
	mkfs -q -B 16 --size auto -d tree image
	[ "$(stat -c %s image)" -eq "$(stat -c %s new)" ]
}

@test "without a source auto is the least volume there can be" {
	refused 1 'are needed; shorter segments' --size 134221823 image
	refused 1 'are needed' -b 1024 -B 16 --size 266239 image
	[[ $output != *"shorter segments"* ]]
	mkfs -q --size auto image
	[ "$(stat -c %s image)" -eq 134221824 ]
}

@test "auto names shorter segments where these make the image much smaller" {
	mkdir few
	for i in 1 2 3 4; do echo $i >few/$i; done
	run -0 --separate-stderr mkfs.nilfs2 --size auto -d few image
	said=$stderr
	mkfs.nilfs2 -q -B 64 --size auto -d few shorter
	[ "$said" = "mkfs.nilfs2: image: shorter segments (-B 64) make it about \
$(($(stat -c %s shorter) >> 20)).0 MiB instead of 128.0 MiB" ]
	for options in -q '-B 64' '--size 200M'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr mkfs.nilfs2 --size auto -d few $options new
		[ -z "$stderr" ]
		rm new
	done
}
