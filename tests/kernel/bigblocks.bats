#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Blocks of 8 to 64 KiB, which a kernel with pages of 4 KiB does not mount: one
# with pages of 64 KiB is asked.

bats_require_minimum_version 1.5.0

load lab

sizes=(8192 16384 32768 65536)

setup() {
	need_guest ppc64
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Small segments, so that there is something to clean.
our_volumes() {
	local size

	# The warning that this host cannot mount them is not the point.
	for size in "${sizes[@]}"; do
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q --size 48M -b "$size" \
			-B $((1 << 20 > size * 16 ? (1 << 20) / size : 16)) \
			"ours-$size" 2>/dev/null
	done
}

# The words are the block sizes of the devices, in their order.  Every second
# file goes, so the cleaner has live blocks to move.
live_on_each() {
	cat <<-'EOF'
	set -e
	entries() { manifest "$MNT" | sed '/\t\.$/d'; }

	fill() {
		nilfs_mount "$1"
		[ "$(ls -A "$MNT")" = "" ]
		[ "$(stat -f -c %S "$MNT")" -eq "$2" ]
		[ "$(stat -c %h:%a:%u:%s "$MNT")" = "2:755:0:$2" ]
		noise 1 1000000 >"$MNT/large"
		mkdir -p "$MNT/a/b"
		ln -s large "$MNT/a/link"
		ln "$MNT/large" "$MNT/a/b/hard"
		for ((i = 0; i < 60; i++)); do
			echo "$i" >"$MNT/a/b/$i"
			((i % 20)) || sync
		done
		sync
		rm "$MNT"/a/b/*[02468]
		scatter "$MNT/large" "$2" $((1000000 / $2)) 40 2
		sync
		entries >/mnt/tmp/want
		nilfs_umount
	}

	same_after_cleaning() {
		nilfs_mount "$1"
		entries | diff /mnt/tmp/want -
		clean "$1" "$MNT"
		entries | diff /mnt/tmp/want -
		nilfs_umount
		nilfs_mount -o ro "$1"
		entries | diff /mnt/tmp/want -
		nilfs_umount
	}

	for size; do
		device=DEV$((++n))
		fill "${!device}" "$size"
		same_after_cleaning "${!device}"
		echo "$size lived"
	done
	EOF
}

@test "the kernel lives on volumes of our mkfs.nilfs2, and cleans them" {
	our_volumes
	live_on_each >script
	run -0 "$lab_dir/guest.sh" --backend ppc64 --timeout 400 \
		--dmesg kernel.log script "${sizes[@]/#/ours-}" -- "${sizes[@]}"
	[ "$(grep -c lived <<<"$output")" -eq 4 ]
	dmesg=$(cat kernel.log)
	[ "$(grep -c 'segctord starting' kernel.log)" -ge 8 ]
	kernel_content
}

@test "a block larger than a page is refused, so the guest has large ones" {
	need_guest uml
	our_volumes
	guest ours-8192 <<<'nilfs_mount "$DEV1"'
	[ "$status" -ne 0 ]
	[[ $dmesg == *"bad blocksize 8192"* ]]
}

# A function for the guest, fake_directory SELF ONE TWO: what the file of a
# directory would hold, were the only entry of its second block as long as that.
fake_directory() {
	cat <<-'EOF'
	fake_directory() {
		perl -e 'my ($self, $one, $two) = @ARGV;
			 sub entry { pack "Q<vCCa*", @_ }
			 my $first = entry($self, 16, 1, 2, ".\0\0\0") .
				entry(2, 16, 2, 2, "..\0\0") .
				entry($one, 65504, 3, 1, "one");
			 print pack "a65536 a65536", $first,
				entry($two, 65535, 3, 1, "two")' "$@"
	}
	EOF
}

# make_directories IMAGE: files of two blocks become directories, on all
# places that their inodes have on the disk.
make_directories() {
	perl -0777 -i -pe 's/(\0\0\x02\0{5}.{32})\xa4\x81/$1\xed\x41/sg' "$1"
}

@test "the kernel reads an entry of 64 KiB, and so do we" {
	our_volumes
	{
		fake_directory
		cat <<-'EOF'
		set -e
		nilfs_mount "$DEV1"
		for name in self one two; do
			echo "content of $name" >"$MNT/$name"
		done
		fake_directory $(stat -c %i "$MNT"/{self,one,two}) >"$MNT/self"
		sync
		# A log without inodes: of the last one a mount sees the
		# checksum.
		chcp ss "$DEV1" 2
		nilfs_umount
		EOF
	} >script
	run -0 "$lab_dir/guest.sh" --backend ppc64 script ours-65536
	make_directories ours-65536
	cat >script <<-'EOF'
	nilfs_mount -o ro "$DEV1"
	ls "$MNT/self"
	cat "$MNT/self/two"
	EOF
	run -0 "$lab_dir/guest.sh" --backend ppc64 script ours-65536
	[ "$output" = $'one\ntwo\ncontent of two' ]
	run -0 dump.nilfs2 cat ours-65536 self/two
	[ "$output" = "content of two" ]
}

@test "a directory with blocks of 64 KiB loses names past its first" {
	our_volumes
	cat >script <<-'EOF'
	nilfs_mount "$DEV1"
	mkdir "$MNT/d"
	for ((i = 0; i < 300; i++)); do
		printf -v name '%0246d' "$i"
		: >"$MNT/d/$name" || exit
	done
	nilfs_umount
	nilfs_mount "$DEV1"
	ls "$MNT/d" | wc -l
	df --output=iused "$MNT" | tail -n 1
	nilfs_umount
	EOF
	run -0 "$lab_dir/guest.sh" --backend ppc64 script ours-65536
	[ "${lines[0]}" -eq 248 ]
	[ "${lines[1]}" -gt 300 ]
}

# A pattern for the names of the tests in a file that look at each image.
each_image_tests() {
	awk -F'"' '/^@test/ { name = $2 }
		   /^\teach_image / || /^\tfor name in .*\$\(corpus_names\)/ {
			print name }' "$1" |
		sed 's/[][().*^$?+{}|\]/\\&/g' | paste -s -d '|'
}

@test "what holds for any image holds for large blocks" {
	need_corpus big
	export NILFS2_TEST_SET=big
	for file in "$lab_dir"/../{dump,fsck}/*.bats; do
		pattern=$(each_image_tests "$file")
		[ -n "$pattern" ] || continue
		run bats --tap --filter "^($pattern)\$" "$file"
		echo "$output"
		[ "$status" -eq 0 ]
		# With nothing to run bats is content.
		[ "$(grep -c '^ok' <<<"$output")" -eq \
			"$(tr '|' '\n' <<<"$pattern" | wc -l)" ]
	done
}
