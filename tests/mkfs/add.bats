#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# mkfs.nilfs2 --add: layers on a volume that exists.  All of them are there, or the
# volume is as it was.

bats_require_minimum_version 1.5.0

load mkfs
load ../kernel/lab
load populate
load layers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export SOURCE_DATE_EPOCH=1700000000
}

# Three directories, of which each replaces something of those before it.
trees() {
	mkdir -p a/dir a/gone b/dir c/dir/deep
	seq 30000 >a/large
	echo 1 >a/one
	echo 2 >a/dir/two
	ln a/one a/dir/one
	echo 3 >a/gone/three
	ln -s dir a/link
	mkfifo a/fifo
	chmod 4755 a/dir/two
	echo new >b/one
	echo 4 >b/dir/four
	echo file >b/gone
	seq 9000 >c/large
	mkdir c/one
	echo 5 >c/dir/deep/five
	find a b c -exec touch -h -d @1600000000 {} +
}

# sound [IMAGE]: no finding.
sound() {
	run fsck.nilfs2 -fn "${1-image}"
	echo "$output"
	[ "$status" -eq 0 ] && [ "${#lines[@]}" -eq 1 ]
}

# shown [IMAGE [CNO]]: all names, attributes and contents.
shown() {
	(
		set -o pipefail
		dump.nilfs2 export -q ${2:+-c "$2"} "${1-image}" - | cksum
	)
}

@test "a volume with layers added is one made of all of them" {
	trees
	mkfs -q -B 16 --size 4M -d a image
	old=$(shown)
	mkfs -q --add -d b --snapshot image
	sound
	middle=$(shown)
	[ "$middle" != "$old" ]
	mkfs -q --add -d c image
	sound
	mkfs -q -B 16 --size 4M -d a -d b -d c fresh
	[ "$(shown)" = "$(shown fresh)" ]
	[ "$(dump.nilfs2 ls -lR image /)" = "$(dump.nilfs2 ls -lR fresh /)" ]
	[ "$(shown image 1)" = "$old" ]
	[ "$(shown image 2)" = "$middle" ]
	[ "$(dump.nilfs2 checkpoints --json image |
		gojq -c '[.checkpoints[] | [.checkpoint, .mode]]')" = \
		'[[1,"cp"],[2,"ss"],[3,"cp"]]' ]
	# As if nothing had been added.
	fsck.nilfs2 -q --rollback=1 image || [ $? -eq 1 ]
	[ "$(shown)" = "$old" ]
}

@test "several layers at once, and the same bytes each time" {
	trees
	mkfs -q -B 16 --size 4M -U content -d a image
	cp image again
	mkfs -q --add -d b -d c --snapshot=last image
	mkfs -q --add -d b -d c --snapshot=last again
	cmp image again
	mkfs -q -B 16 --size 4M -d a -d b -d c fresh
	[ "$(shown)" = "$(shown fresh)" ]
	[ "$(dump.nilfs2 checkpoints --json image |
		gojq -c '[.checkpoints[].mode]')" = '["cp","cp","ss"]' ]
}

@test "random layers of container images, added to the lowest" {
	local seed layers names

	for seed in 1 2 3 4 5 6 7 8; do
		make_layers $seed
		names=(layers/*.tar)
		read -r first <layers/wanted
		[ "$first" != refused ] || continue
		need_archives "${names[0]}"
		rm -rf image exported
		mkfs -q -B 16 --size 2M --oci -d "${names[0]}" image
		layers=("${names[@]:1}")
		[ ${#layers[@]} -eq 0 ] ||
			mkfs -q --add --oci "${layers[@]/#/-d}" image
		sound
		mkdir exported
		dump.nilfs2 export -q image exported
		list exported >shown
		diff layers/wanted shown
	done
}

@test "a whiteout removes what the volume has" {
	trees
	mkdir -p w/dir
	touch w/.wh.large w/dir/.wh..wh..opq w/dir/new
	tar cf w.tar -C w .
	need_archives w.tar
	mkfs -q -B 16 --size 4M -d a image
	mkfs -q --add --oci -d w.tar image
	sound
	[ "$(dump.nilfs2 ls -R image / | sort | tr '\n' ' ')" = \
		"/ /dir /dir/new /fifo /gone /gone/three /link /one " ]
	# The other name of a file in the directory.
	dump.nilfs2 ls -l image /one | grep -q '^-[rwx-]* *1 '
}

@test "volumes that the kernel wrote" {
	local name cno

	need_corpus
	for name in $(sample 4 cleaned crash-sr many-snapshots-2k plain-checkpoints \
		small-files snapshots crash-torn cleaned-1k); do
		image=$(copy_image "$name")
		cno=$(dump.nilfs2 info --json "$image" | gojq .latest.checkpoint)
		before=$(shown "$image" "$cno")
		rm -rf old new layer want
		mkdir old new layer
		dump.nilfs2 export -q "$image" old
		# Some files are replaced, one becomes a directory.
		(cd old && find . -type f | sort | awk 'NR % 5 == 1' | head -n 20) |
			while read -r file; do
				mkdir -p "layer/$(dirname "$file")"
				echo "new $file" >"layer/$file"
			done
		file=$(cd old && find . -type f | sort | sed -n 2p)
		mkdir -p "layer/${file:-more}"
		seq 20000 >"layer/${file:-more}/seq"
		mkfs -q --add -d layer "$image"
		sound "$image"
		merge_layers old layer want
		dump.nilfs2 export -q "$image" new
		diff -r want new
		[ "$(shown "$image" "$cno")" = "$before" ]
	done
}

# contents DIR: type, mode, content or target of every name.
contents() {
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort | while read -r name; do
		if [ -L "$name" ]; then
			echo "$name $(readlink "$name")"
		elif [ -f "$name" ]; then
			echo "$name $(stat -c '%a %h' "$name") $(cksum <"$name")"
		else
			echo "$name $(stat -c '%F %a' "$name")"
		fi
	done)
}

# super FROM TO PLACE: the superblock there, in units of 4 KiB.
super() {
	dd if="$1" of="$2" bs=4K count=1 skip="$3" seek="$3" conv=notrunc \
		status=none
}

@test "the kernel goes on with what it wrote, and with what was added" {
	need_guest uml
	need_corpus
	image=$(copy_image snapshots)
	mkdir old layer share
	dump.nilfs2 export -q "$image" old
	file=$(cd old && find . -type f | sort | head -n 1)
	mkdir -p "layer/$(dirname "$file")" layer/new
	echo new >"layer/$file"
	seq 300000 >layer/new/seq
	mkdir later
	echo later >later/last
	cp --sparse=always "$image" before
	contents old >unchanged
	mkfs -q --add --snapshot -d layer -d later "$image"
	# What power cuts leave: all logs and no superblock, or the first one.
	cp --sparse=always "$image" first.cut
	super before first.cut $(($(stat -c %s before) / 4096 - 1))
	cp --sparse=always first.cut logs.cut
	super before logs.cut 0
	cno=$(dump.nilfs2 info --json "$image" | gojq .latest.checkpoint)
	merge_layers old layer merged
	merge_layers merged later want
	contents want >wanted
	guest --share "$PWD/share" "$image" logs.cut first.cut <<-EOF
		set -e
		$(declare -f contents)
		cut() {
			nilfs_mount "\$1"
			contents "\$MNT" >"\$SHARE/\$2"
			echo more >"\$MNT/more"
			nilfs_umount
		}
		cut "\$DEV2" logs
		cut "\$DEV3" first
		nilfs_mount "\$DEV1"
		contents "\$MNT" >"\$SHARE/mounted"
		rm -r "\$MNT/new"
		seq 200000 >"\$MNT/more"
		sync
		clean "\$DEV1" "\$MNT"
		nilfs_umount
		nilfs_mount -o ro,cp=$cno "\$DEV1"
		contents "\$MNT" >"\$SHARE/snapshot"
		nilfs_umount
	EOF
	echo "$output$errors$dmesg" | tail -n 20
	[ "$status" -eq 0 ]
	kernel_content
	diff wanted share/mounted
	diff wanted share/snapshot
	diff unchanged share/logs
	diff wanted share/first
	sound logs.cut
	sound first.cut
	sound "$image"
	[ "$(dump.nilfs2 cat "$image" /more | cksum)" = "$(seq 200000 | cksum)" ]
	mkfs -q --add -d layer "$image"
	sound "$image"
}

@test "many times in a row, with a cleaner, and counts of live blocks" {
	local i

	mkdir layer
	seq 20000 >layer/large
	mkfs -q -B 16 --size 4M -O sufile_live_blks_ext -d layer image
	for i in $(seq 20); do
		seq "$i" 20000 >layer/large
		echo "$i" >layer/"$i"
		mkfs -q --add -d layer image
		[ $((i % 5)) -ne 0 ] || gc.nilfs2 -q --protect 0 image
	done
	sound
	# An older kernel has written, which keeps no such counts.
	dump.nilfs2 set -q --expert --fix-checksums image \
		suheader sh_exact_cno=0 >said
	dump.nilfs2 set -q --expert --fix-checksums image \
		segment:0 su_nlive_blks=1 >said
	[ "$(dump.nilfs2 info --json image | gojq .live_counts.exact)" = false ]
	mkfs -q --add -d layer image
	sound
	[ "$(dump.nilfs2 info --json image | gojq .live_counts.exact)" = true ]
	dump.nilfs2 cat image /large | cmp - layer/large
}

@test "a full volume is refused, and the remedy is one" {
	mkdir layer more
	head -c 600000 /dev/urandom >layer/file
	head -c 600000 /dev/urandom >more/file
	mkfs -q -B 16 -b 1K --size 2M -d layer image
	mkfs -q --add -d more image
	refused 1 'bytes are needed' --add -d layer image
	[[ $output == *'the volume is unchanged'* ]]
	remedy=${output#*unchanged; }
	remedy=${remedy% frees them*}
	[[ $remedy == gc.nilfs2\ --free=*\ image ]]
	refused 1 "$remedy" --add -n -d layer image
	$remedy --protect 0 -q
	mkfs -q --add -d layer image
	sound
	dump.nilfs2 cat image /file | cmp - layer/file
}

@test "what comes from a pipe and does not fit changes nothing" {
	trees
	tar cf a.tar -C a .
	need_archives a.tar
	mkfs -q -B 16 -b 1K --size 1M -d b image
	old=$(shown)
	tar c -C a . | mkfs -q --add -d - image
	sound
	[ "$(dump.nilfs2 cat image /one)" = 1 ]
	old=$(shown)
	mkdir more
	head -c 1000000 /dev/urandom >more/file
	run mkfs -q --add -d - image < <(tar c -C more .)
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *'the volume is unchanged'* ]]
	sound
	[ "$(shown)" = "$old" ]
	mkfs -q --add -d c image
	sound
}

@test "a dry run reports the same, and writes nothing" {
	trees
	mkfs -q -B 16 --size 4M -d a image
	before=$(sum)
	mkfs --add -n --json -d b -d c image | gojq . >dry
	[ "$(sum)" = "$before" ]
	mkfs --add --json -d b -d c image | gojq . >wet
	diff dry wet
}

@test "options for new volumes are refused" {
	local option

	trees
	mkfs -q -B 16 --size 4M -d a image
	for option in --block-size=4096 --blocks-per-segment=16 --check --force \
		--conventional-zones=1 --features=none --keep --label=x \
		--reserved=5 --size=auto --uuid=content --zone-capacity=64K \
		--zone-size=64K --zoned=off; do
		refused 1 'exclude each other: the volume exists' \
			--add "$option" -d b image
	done
	refused 1 '--add: needs a source' --add image
	refused 1 'is before 1970' --add -P -2 -d b image
	refused 1 'No such file' --add -d missing image
	refused 1 'is also a source' --add -d image image
}

@test "volumes that a mount would not accept, and other devices" {
	trees
	mkfs -q -B 16 --size 4M -d a image
	cp image sound.image
	dump.nilfs2 set -q --expert --fix-checksums image super:1 \
		s_feature_compat_ro=2 >said
	dump.nilfs2 set -q --expert --fix-checksums image super:2 \
		s_feature_compat_ro=2 >said
	refused 1 'feature' --add -d b image
	cp sound.image image
	dump.nilfs2 set -q --expert --fix-checksums image super:1 s_state=3 >said
	dump.nilfs2 set -q --expert --fix-checksums image super:2 s_state=3 >said
	refused 1 'run fsck.nilfs2' --add -d b image
	cp sound.image image
	dump.nilfs2 set -q --expert --fix-checksums image inode:/one \
		i_links_count=5 >said
	refused 1 'is damaged; nothing was written' --add -d b image
	# A mount accepts it, but a merge relies on it.
	cp sound.image image
	dump.nilfs2 set -q --expert --fix-checksums image dirent:2/one \
		file_type=2 >said
	run -0 fsck.nilfs2 -fn image
	[[ $output == *dir-type-differs* ]]
	refused 1 'is damaged; nothing was written' --add -d b image
	truncate -s 0 image
	truncate -s 1M image
	refused 1 'no NILFS2 superblock' --add -d b image
	rm image
	refused 1 'No such file' --add -d b image
	mkfs -q -B 64 -b 1K --size 4M --zone-size 64K -d a image
	refused 1 'volume on zones' --add -d b image
}

@test "a volume that needs recovery is refused" {
	need_corpus
	cp --sparse=always "$corpus/crash-dsync/image" image
	mkdir layer
	refused 1 'has to be recovered first' --add -d layer image
}

@test "a volume that was not unmounted is added to as it is found" {
	trees
	mkfs -q -B 16 --size 4M -d a image
	dump.nilfs2 set -q --expert --fix-checksums image super:1 s_state=0 >said
	dump.nilfs2 set -q --expert --fix-checksums image super:2 s_state=0 >said
	mkfs -q --add -d b -d c image
	sound
	mkfs -q -B 16 --size 4M -d a -d b -d c fresh
	[ "$(shown)" = "$(shown fresh)" ]
}

@test "an attribute that is lost, with --strict" {
	mkdir layer
	echo x >layer/file
	tar --format=pax --pax-option='SCHILY.xattr.user.x:=1' -cf layer.tar \
		-C layer ./file
	need_archives layer.tar
	mkfs -q -B 16 --size 4M image
	refused 1 'cannot store' --add --strict -d layer.tar image
	mkfs -q --add -d layer.tar image
	sound
}

@test "more files than a group of inodes has" {
	mkdir layer
	(cd layer && seq -f 'file-%g' 9000 | xargs touch)
	mkfs -q -B 64 -b 1K --size 16M -d layer image
	mkdir more
	(cd more && seq -f 'more-%g' 9000 | xargs touch)
	mkfs -q --add -d more image
	sound
	[ "$(dump.nilfs2 ls image / | wc -l)" -eq 18000 ]
}
