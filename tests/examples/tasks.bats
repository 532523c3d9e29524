#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Three tasks, each done by the two commands that a man page has as its example:
# the commands are taken from there, and what they yield is compared with what the
# kernel showed of the volume.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load ../dump/corpus
load ../dump/files

setup() {
	need_guest uml
	need_root
	cd "$BATS_TEST_TMPDIR" || return 1
	export TZ=UTC0
	device=$PWD/image
}

teardown() {
	[ ! -d dir ] || ! mountpoint -q dir || fusermount3 -u -z dir
}

# example PAGE TEXT: the commands of the example that TEXT introduces, for $device
# instead of the device of the page.
example() {
	awk -v text="$2" '/^\.SH/ { on = $2 == "EXAMPLES" }
		on && index($0, text) { wanted = 1 }
		wanted && /^\.EE/ { exit }
		inside
		wanted && /^\.EX/ { inside = 1 }' "$NILFS2_SOURCE/man/$1" |
	sed -e 's/\\-/-/g' -e "s|/dev/sdb1|$device|" >commands
	cat commands
	[ "$(wc -l <commands)" -eq 2 ]
}

# follow STATUS N: its command N ends with that status; what it says is in the file
# "said".
follow() {
	local status=0

	bash -c "$(sed -n "$2p" commands)" >said 2>&1 || status=$?
	cat said
	[ "$status" -eq "$1" ]
}

# A directory with all sorts of files, others beside it, and what MORE does.
changes() {
	guest_look
	cat <<-'EOF'
	cd "$MNT"
	mkdir -p home/ann/letters/2025/empty home/ann/lettersets home/bob
	noises home/ann/letters/letter- 1 30 0 1700
	noises home/bob/f 1 30 0 1300
	noise 5 700000 >home/ann/letters/2025/large
	truncate -s 3M home/ann/letters/2025/holes
	put home/ann/letters/2025/holes 1048576 3 9000
	ln -s ../bob/f1 home/ann/letters/link
	ln home/ann/letters/letter-1 home/ann/letters/2025/same
	echo kept >home/ann/lettersets/kept
	chmod 2750 home/ann/letters/2025
	chown 1000:100 home/ann/letters home/ann/letters/letter-2
	touch -d @1500000000.123456789 home/ann/letters/letter-3
	look
	EOF
	cat
	printf '%s\n' look 'cd /' nilfs_umount
}

# make_volume <MORE: the volume, and manifest.CNO of its state before and after MORE,
# whose names are in first and last.
make_volume() {
	looked_at 64M < <(changes)
	first=$(printf '%s\n' manifest.* | sort -t. -k2n | head -n 1)
	last=$(printf '%s\n' manifest.* | sort -t. -k2n | tail -n 1)
}

letters() {
	awk -F'\t' '$14 ~ /^home\/ann\/letters(\/|$)/'
}

@test "a directory that was deleted is restored" {
	make_volume <<-'EOF'
	rm -r home/ann/letters
	for i in {1..10}; do
		filler $i $((i * 90000)) >home/bob/f$i
		sync
	done
	EOF
	example dump.nilfs2.8 "Get a deleted directory back"
	follow 0 1
	diff <(letters <"$first" | cut -f14 | sort) \
		<(sed -n 's,.* /home/,home/,p' said | sed 's/ -> .*//' | sort)
	follow 0 2
	diff <(manifest --drop portable - <"$first" | letters) \
		<(copy_manifest letters | letters)
	[ "$(find letters -type f -o -type l | wc -l)" -eq \
		"$(letters <"$first" | grep -c '^[fl]')" ]
}

# worn_device BLOCK...: makes $device a file of which these blocks cannot be read, in
# a mount of a volume that has lost them.
worn_device() {
	local block vblock

	mkdir tree dir
	mv image tree/disk
	mkfs.nilfs2 -q -b 4096 --size 192M -d tree outer
	for block; do
		vblock=$(dump.nilfs2 bmap --json outer /disk |
			jq --argjson n "$block" '.runs[] | select(.level == 0 and
				.blkoff <= $n and .last_blkoff >= $n) |
				.vblocknr + $n - .blkoff')
		dump.nilfs2 set --expert --fix-checksums outer "dat:$vblock" \
			de_blocknr=99999999 >/dev/null
	done
	dump.nilfs2 mount outer dir 3>&- 4>&-
	device=$PWD/dir/disk
	run ! dd if="$device" of=/dev/null bs=4096 skip="$1" count=1
	[[ $output == *"Input/output error"* ]]
}

# block_of PATH: its last block on the volume.
block_of() {
	dump.nilfs2 bmap -b image "$1" |
		awk '$NF == "data" { block = $5 } END { print block }'
}

# wear_out: a block of the DAT, which follows from the logs, and one of a file.
wear_out() {
	grep -q '^#define HAVE_LIBFUSE 1' "$NILFS2_BUILD/config.h" ||
		skip "built without libfuse"
	[ -w /dev/fuse ] || skip "/dev/fuse cannot be opened"
	make_volume <<<'touch home/new'
	dump.nilfs2 cat image /home/bob/f7 >f7
	[ "$(awk -F'\t' '$14 == "home/bob/f7" { print $12 }' "$last")" = \
		"sha256:$(sha256sum <f7 | cut -d' ' -f1)" ]
	worn_device "$(block_of /home/bob/f7)" "$(block_of dat)"
}

# saved DIR: the files are those of the kernel, but for the content of the one that
# had the bad block, and that is named in the file "report".
saved() {
	grep -q "dev-unreadable: .* inode $(awk -F'\t' '$14 == "home/bob/f7" {
		print $11 }' "$last") " report
	# Both superblocks could be read.
	[ "$(grep -c 'dev-unreadable: superblock' report || true)" -eq 0 ]
	without() {
		awk -F'\t' -v OFS='\t' '$14 == "home/bob/f7" { $12 = "-" } 1'
	}
	diff <(manifest --drop portable - <"$last" | without) \
		<(copy_manifest "$1" | without)
	cmp -n 8192 "$1/home/bob/f7" f7
	tail -c +8193 "$1/home/bob/f7" | cmp - <(head -c 908 /dev/zero)
}

@test "the files of a disk with bad sectors are saved" {
	wear_out
	example fsck.nilfs2.8.in "Save the files of a disk with bad sectors"
	follow 4 1
	mv said report
	follow 0 2
	mkdir out
	tar -x -p --numeric-owner -C out -f files.tar
	saved out
}

@test "and those of a copy by ddrescue" {
	command -v ddrescue >/dev/null || skip "ddrescue not found"
	wear_out
	example fsck.nilfs2.8.in "The same with"
	follow 0 1
	follow 4 2
	mv said report
	dump.nilfs2 export copy.img out
	saved out
}

@test "a report of a bug shows it, and neither names nor content" {
	make_volume <<-'EOF'
	echo "the secret content" >home/ann/letters/the-secret-name
	ln -s the-secret-target home/ann/the-secret-link
	EOF
	dump.nilfs2 set --expert --fix-checksums image \
		inode:/home/ann/letters/letter-4 i_links_count=9 >/dev/null
	dump.nilfs2 set --expert --fix-checksums image \
		dirent:/home/ann/letters/the-secret-name file_type=7 >/dev/null
	example dump.nilfs2.8 "Report a bug"
	follow 0 1
	follow 4 2
	zstd -q -d sdb1.meta.zst
	grep -a -q secret image
	run ! grep -a -q secret sdb1.meta sdb1.txt said
	run -4 --separate-stderr fsck.nilfs2 -n sdb1.meta
	diff <(sed "s|^$device:|sdb1.meta:|" sdb1.txt) <(echo "$output")
	# Of each inode what the kernel showed, but for the links of the one.
	diff <(awk -F'\t' -v OFS='\t' '{ print $11, $1, $2, $3, $4, $6,
			$14 ~ /letter-4$/ ? 9 : $5 }' "$last" | sort -u) \
		<(dump.nilfs2 ls -lRa --json sdb1.meta | jq -r '.files[] |
			[.inode, (if .type == "symlink" then "l" else
				.type[:1] end), .mode, .uid, .gid, .size,
				.links] | @tsv' |
			awk -F'\t' -v OFS='\t' '{ $3 = sprintf("%04o", $3) } 1' |
			sort -u)
}
