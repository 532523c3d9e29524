#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 image: the tools find in it what they find in the original, and
# nothing of the content of files is there.

bats_require_minimum_version 1.5.0
load ../kernel/lab
load corpus

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	# What gc.nilfs2 would do depends on the second.
	export SOURCE_DATE_EPOCH
	SOURCE_DATE_EPOCH=$(date +%s)
}

# same COMMAND...: prints the same, with the same status, of both, each of which is
# called shown.
same() {
	local one two

	ln -sf copy shown
	one=$("$@" shown 2>&1; echo "status $?")
	ln -sf meta shown
	two=$("$@" shown 2>&1; echo "status $?")
	[ "$one" = "$two" ] || {
		echo "$image: $*"
		diff <(echo "$one") <(echo "$two")
		return 1
	}
}

plan() { gc.nilfs2 -n "$@" | grep -v 'Time in milliseconds'; }

all_same() {
	rm -f meta copy
	dump.nilfs2 image "$image" meta
	cp --sparse=always "$image" copy
	same fsck.nilfs2 -f -n --all --data
	same dump.nilfs2 ls -lR
	same dump.nilfs2 segments -a
	same dump.nilfs2 checkpoints
	same dump.nilfs2 dat --all
	same plan
}

# no_content: no block of a file of the latest state is in meta, unless it is
# zeros in the image, too.
no_content() {
	local path size

	size=$(dump.nilfs2 info --json "$image" | gojq .geometry.block_bytes)
	dump.nilfs2 ls -lR "$image" / | awk '/^-/ && $5 { print $NF }' |
		head -n 40 |
	while read -r path; do
		dump.nilfs2 bmap -b "$image" "$path" |
			awk '$NF == "data" { print $5; if (++n == 5) exit }'
	done >blocks
	[ -s blocks ]
	perl -e 'my $size = shift;
		open my $meta, "<:raw", "meta" or die "meta: $!\n";
		while (<STDIN>) {
			sysseek $meta, $_ * $size, 0;
			sysread $meta, my $data, $size;
			die "content in block $_" if $data =~ /[^\0]/;
		}' "$size" <blocks
}

@test "tools find the same, and there is no content" {
	local name

	for name in snapshots cleaned-1k small-files crash-dsync; do
		image=$corpus/$name/image
		all_same
		no_content
		[ "$(du -k meta | cut -f1)" -lt "$(du -k "$image" | cut -f1)" ]
		same fsck.nilfs2 -f -y
	done
}

@test "and of damaged volumes" {
	local block

	for block in "$(dump.nilfs2 bmap -b "$corpus/cleaned/image" ifile |
			awk '$1 == 2 && $NF == "data" { print $5 }')" \
		"$(dump.nilfs2 bmap -b --nodes "$corpus/cleaned/image" /kept |
			awk '$NF == "node" { print $5; exit }')"; do
		image=$(copy_image cleaned)
		put_noise "$image" $((block * 4096)) 4096
		all_same
	done
	# A log whose summary cannot be read.
	image=$(copy_image cleaned)
	dump.nilfs2 set --expert --keep-checksums "$image" \
		log:"$(dump.nilfs2 logs -s "$image" | awk 'NR == 9 { print $2 }')" \
		ss_create=1 >/dev/null
	all_same
	no_content
	# Superblocks that lead nowhere.
	image=$(copy_image cleaned)
	dump.nilfs2 set --expert --fix-checksums "$image" super:1 s_last_seq=1 \
		>/dev/null
	dump.nilfs2 set --expert --fix-checksums "$image" super:2 s_last_seq=1 \
		>/dev/null
	rm -f meta
	run -0 dump.nilfs2 image "$image" meta
	cp --sparse=always "$image" copy
	same fsck.nilfs2 -f -n --all
}

@test "names are replaced by others of the same length" {
	image=$corpus/small-files/image
	dump.nilfs2 image --scramble-names "$image" meta
	run -0 fsck.nilfs2 -f -n meta
	dump.nilfs2 ls --json -R "$image" / >one
	dump.nilfs2 ls --json -R meta / >two
	[ "$(grep -c . one)" -eq "$(grep -c . two)" ]
	! grep -a -q 'level-1' meta
	grep -a -q 'level-1' "$image"
	image=$corpus/special/image
	dump.nilfs2 image --scramble-names "$image" links
	run -0 fsck.nilfs2 -f -n links
	! grep -a -q 'symlink-short' links
	! grep -a -q 'oddXtarget' links
}

@test "what is there is not written over, nor left after a failure" {
	image=$corpus/snapshots/image
	echo mine >there
	run -1 dump.nilfs2 image "$image" there
	[ "$(cat there)" = mine ]
	run -1 bash -c "trap '' XFSZ; ulimit -f 64
		dump.nilfs2 image '$image' meta"
	[ ! -e meta ]
	run -1 bash -c "trap '' XFSZ; ulimit -f 64
		dump.nilfs2 image '$image' meta.qcow2"
	[[ $output == *"File too large"* ]]
	[ ! -e meta.qcow2 ]
	run -1 dump.nilfs2 image /dev/null meta
	[ ! -e meta ]
}

@test "compressed, it is the same" {
	local suffix

	image=image
	mkfs.nilfs2 -q --size 8M -B 64 -d "$BATS_TEST_DIRNAME" $image
	dump.nilfs2 image $image meta
	for suffix in zst xz gz bz2; do
		dump.nilfs2 image "$image" "one.$suffix"
		[ "$(stat -c %s "one.$suffix")" -lt 20000 ]
		case $suffix in
		zst) zstd -q -d one.zst ;;
		xz) xz -d one.xz ;;
		gz) gzip -d one.gz ;;
		bz2) bzip2 -d one.bz2 ;;
		esac
		cmp one meta
		rm -f one one.*
	done
	[ "$(du -k meta | cut -f1)" -lt 100 ]
	run -1 bash -c "trap '' XFSZ; ulimit -f 1
		dump.nilfs2 image $image one.zst"
	[ "$(ls -A)" = $'image\nmeta' ]
}

# disk NAME: says "qemu-img info" of it.
disk() {
	qemu-img info --output=json "$1" | gojq -r '."virtual-size"'
}

@test "as qcow2 it is what QEMU reads, and no larger than what is in it" {
	for name in snapshots cleaned-1k; do
		image=$corpus/$name/image
		rm -f meta meta.qcow2 back
		dump.nilfs2 image "$image" meta
		dump.nilfs2 image "$image" meta.qcow2
		qemu-img check -q meta.qcow2
		[ "$(disk meta.qcow2)" -eq "$(stat -c %s "$image")" ]
		qemu-img convert -O raw meta.qcow2 back
		cmp meta back
		[ "$(stat -c %a meta.qcow2)" = 600 ]
	done
	truncate -s 8T large
	mkfs.nilfs2 -q large
	dump.nilfs2 image large large.qcow2
	qemu-img check -q large.qcow2
	[ "$(stat -c %s large.qcow2)" -lt $((4 << 20)) ]
	run -0 fsck.nilfs2 -fn large.qcow2
}

@test "tools read a qcow2 image, of QEMU as well, and do not write to it" {
	# Others read the image of the corpus, and QEMU locks what it reads.
	image=$(copy_image snapshots)
	for options in compat=0.10 cluster_size=512 cluster_size=2M '-c'; do
		rm -f meta copy
		# shellcheck disable=SC2046
		qemu-img convert -O qcow2 \
			$([ "$options" = -c ] && echo -c || echo -o "$options") \
			"$image" meta
		qemu-img convert -O raw meta copy
		same fsck.nilfs2 -f -n --data
		same dump.nilfs2 ls -lR
		same dump.nilfs2 logs -s
		same plan
	done
	before=$(sha256sum meta)
	for tool in 'fsck.nilfs2 -y' gc.nilfs2 'fsck.nilfs2 -p'; do
		run $tool meta
		[ "$status" -eq 8 ] || [ "$status" -eq 1 ]
		[[ $output == *"meta: a qcow2 image can only be "* ]]
	done
	[ "$(sha256sum meta)" = "$before" ]
	dump.nilfs2 set --expert --fix-checksums copy cpheader ch_ncheckpoints=9 \
		>/dev/null
	qemu-img convert -O qcow2 copy meta
	run -1 fsck.nilfs2 -fy --output new meta
	run -0 fsck.nilfs2 -fn new
	dump.nilfs2 export -q "$image" - | cmp - <(dump.nilfs2 export -q new -)
}

@test "a qcow2 image that cannot be read as one is refused" {
	image=$(copy_image snapshots)
	qemu-img create -q -f qcow2 -F raw -b "$image" over.qcow2
	run -1 dump.nilfs2 info over.qcow2
	[[ $output == *"over.qcow2: a qcow2 image with a backing file"* ]]
	qemu-img convert -O qcow2 "$image" sound.qcow2
	size=$(stat -c %s sound.qcow2)
	# Its fields, the table of level 1, one of level 2, and a file that is cut.
	for at in 20 24 32 36 40 41 44 $((3 << 16)) $(((3 << 16) + 2)) \
		$(((4 << 16) + 1)) $(((4 << 16) + 6)); do
		cp sound.qcow2 bad.qcow2
		printf '\377' | dd of=bad.qcow2 bs=1 seek="$at" conv=notrunc \
			status=none
		run fsck.nilfs2 -fn bad.qcow2
		[ "$status" -lt 9 ]
		run dump.nilfs2 ls -lR bad.qcow2
		[ "$status" -lt 2 ]
	done
	for at in 100 65536 $((size / 2)); do
		truncate -s "$at" bad.qcow2
		run fsck.nilfs2 -fn bad.qcow2
		[ "$status" -eq 4 ] || [ "$status" -eq 8 ]
	done
}
