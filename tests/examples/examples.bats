#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The worked examples do what they say: what they make is compared with the trees
# that it was made of, by tar and diff, or under the kernel.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	examples=$NILFS2_SOURCE/examples
	export SOURCE_DATE_EPOCH=1700000000
	mkdir -p rootfs/etc rootfs/bin rootfs/var/lib
	echo device >rootfs/etc/hostname
	seq 20000 >rootfs/bin/program
	ln rootfs/bin/program rootfs/bin/other-name
	ln -s ../bin/program rootfs/etc/link
	chmod 750 rootfs/var/lib
	find rootfs -exec touch -hd @1600000000 {} +
	tar -C rootfs -cf rootfs.tar .
}

# tree DIR: names, types, modes, owners, times, links, targets, content.
tree() {
	(cd "$1" && find . -mindepth 1 \( -type d -printf '%P %y %m %U %G\n' -o \
		-printf '%P %y %m %U %G %s %T@ %n %l\n' \) | LC_ALL=C sort &&
		find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# holds IMAGE DIR [CNO]: the checkpoint has the files of the directory.
holds() {
	rm -rf held
	dump.nilfs2 export ${3+-c "$3"} "$1" held
	diff <(tree "$2") <(tree held)
}

@test "factory image: the same bytes again, its state a snapshot" {
	run -0 "$examples/factory-image.sh" rootfs.tar one.img 16M
	[[ $output == *"one.img: clean, "* ]]
	touch rootfs.tar
	"$examples/factory-image.sh" rootfs.tar two.img 16M
	cmp one.img two.img
	holds one.img rootfs 1
	[ "$(dump.nilfs2 checkpoints -s --json one.img |
		jq -c '[.checkpoints[].checkpoint]')" = "[1]" ]
	# Without the variable: the time of the archive.
	unset SOURCE_DATE_EPOCH
	touch -d @1650000000 rootfs.tar
	"$examples/factory-image.sh" rootfs.tar three.img 16M
	[ "$(dump.nilfs2 info --json three.img |
		jq '.superblocks[0].s_ctime')" -eq 1650000000 ]
}

@test "factory reset: after the kernel changed all, and crashed" {
	need_guest uml
	"$examples/factory-image.sh" rootfs.tar device.img 64M
	guest --kill-on changed device.img <<-'SCRIPT'
	nilfs_mount "$DEV1"
	rm -r "$MNT/etc"
	filler 1 3000000 >"$MNT/bin/program"
	filler 2 3000000 >"$MNT/new"
	mkdir "$MNT/var/more"
	sync
	echo changed
	sleep 60
	SCRIPT
	[ "$status" -eq 137 ]
	unset SOURCE_DATE_EPOCH
	run -0 "$examples/factory-reset.sh" device.img
	echo "$output"
	[[ ${lines[-1]} == "device.img: factory state of checkpoint 1, "* ]]
	before=${output##* }
	holds device.img rootfs
	holds device.img rootfs 1
	dump.nilfs2 ls -c "$before" device.img /var | grep -qx more
	mkdir share
	guest --share "$PWD/share" device.img <<-'SCRIPT'
	nilfs_mount "$DEV1"
	tar -C "$MNT" -cf "$SHARE/now.tar" .
	nilfs_umount
	SCRIPT
	[ "$status" -eq 0 ]
	kernel_content
	mkdir now
	tar -C now -xpf share/now.tar --numeric-owner
	diff <(tree rootfs) <(tree now)
	# Once more, and nothing that is kept is lost.
	"$examples/factory-reset.sh" device.img
	holds device.img rootfs
	dump.nilfs2 ls -c "$before" device.img /var | grep -qx more
}

# The layers of a container image below "layers", and what each shows in "want1",
# "want2", "want3", written down by the specification of layers (OCI image-spec,
# layer.md).
make_layers() {
	mkdir -p layer2/etc layer2/var/lib layer3/opt layers
	cp -a rootfs want1
	touch layer2/etc/.wh.hostname layer2/var/lib/.wh..wh..opq
	echo 2 >layer2/etc/added
	echo state >layer2/var/lib/state
	chmod 700 layer2/var/lib
	touch layer3/.wh.bin
	echo 3 >layer3/opt/tool
	find layer2 layer3 -exec touch -hd @1650000000 {} +
	cp -a want1 want2
	rm -r want2/etc/hostname
	cp -a layer2/. want2
	rm want2/etc/.wh.hostname want2/var/lib/.wh..wh..opq
	cp -a want2 want3
	rm -r want3/bin
	cp -a layer3/. want3
	rm want3/.wh.bin
	gzip -nc rootfs.tar >layers/1.tar.gz
	tar -C layer2 -czf layers/2.tar.gz .
	tar -C layer3 -cf layers/3.tar .
}

# blob FILE: puts it into the layout, prints its digest.
blob() {
	local sum

	sum=$(sha256sum <"$1")
	sum=${sum%% *}
	cp "$1" "layout/blobs/sha256/$sum"
	echo "sha256:$sum"
}

# An image layout whose index leads to another one, as for several machines.
make_layout() {
	local list=

	mkdir -p layout/blobs/sha256
	echo '{"imageLayoutVersion":"1.0.0"}' >layout/oci-layout
	for layer in layers/*; do
		list="$list${list:+,}{\"digest\":\"$(blob "$layer")\"}"
	done
	echo "{\"schemaVersion\":2,\"layers\":[$list]}" >manifest
	echo "{\"manifests\":[{\"digest\":\"$(blob manifest)\"}]}" >inner
	echo "{\"manifests\":[{\"digest\":\"$(blob inner)\"}]}" >layout/index.json
}

each_layer_is() {
	for n in 1 2 3; do
		holds "$1" "want$n" "$n"
	done
	holds "$1" want3
	[ "$(dump.nilfs2 checkpoints -s --json "$1" |
		jq -c '[.checkpoints[].checkpoint]')" = "[1,2,3]" ]
}

@test "container images: a layout, a directory, layers; a snapshot each" {
	make_layers
	make_layout
	"$examples/oci-image.sh" layout layout.img 8M
	each_layer_is layout.img
	"$examples/oci-image.sh" layers layers.img 8M
	cmp layout.img layers.img
	mkdir dir
	cp manifest dir/manifest.json
	for file in layout/blobs/sha256/*; do
		cp "$file" dir
	done
	"$examples/oci-image.sh" dir dir.img 8M
	cmp layout.img dir.img
}

@test "container images: a layer that is not what its digest says" {
	make_layers
	make_layout
	layer=layout/blobs/sha256/$(sha256sum <layers/2.tar.gz | cut -d ' ' -f 1)
	printf x >>"$layer"
	run ! "$examples/oci-image.sh" layout layout.img
	[[ $output == *"$layer: is not sha256:"* ]]
	[ ! -e layout.img ]
	mkdir empty
	run -1 "$examples/oci-image.sh" empty empty.img
	[[ $output == *"empty: has no layers"* ]]
}

@test "shrink before flashing, grow on the device" {
	need_corpus
	image=$(copy_image cleaned)
	dump.nilfs2 export "$image" want
	before=$(stat -c %s "$image")
	run -0 "$examples/shrink-for-flashing.sh" "$image"
	echo "$output"
	after=$(stat -c %s "$image")
	[ "${lines[-1]}" = "$image: $before bytes before, $after now" ]
	[ "$after" -lt $((before / 2)) ]
	holds "$image" want
	# What the comment says for the device.
	truncate -s 128M device
	dd if="$image" of=device bs=4M conv=notrunc status=none
	gc.nilfs2 -q --grow device
	fsck.nilfs2 -n device
	holds device want
	[ "$(dump.nilfs2 info --json device |
		jq '.superblocks[0].s_dev_size')" -eq $((128 << 20)) ]
}

@test "a delta between two checkpoints turns the one into the other" {
	make_layers
	"$examples/oci-image.sh" layers here.img 8M
	dump.nilfs2 export -c 1 here.img base.tar
	run -0 "$examples/delta-export.sh" here.img 1 3 delta.tar.gz
	[[ $output == *"D /bin/program"* ]]
	[ "$(stat -c %s delta.tar.gz)" -lt 1000 ]
	"$examples/delta-apply.sh" base.tar delta.tar.gz there.img 8M
	holds there.img want1 1
	holds there.img want3
	# The other side has a volume instead of an archive.
	"$examples/factory-image.sh" rootfs.tar device.img 8M
	"$examples/delta-apply.sh" device.img delta.tar.gz new.img 8M
	cmp there.img new.img
	mkfs.nilfs2 -q --add -d delta.tar.gz device.img
	holds device.img want3
	run -1 mkfs.nilfs2 -q --add -d delta.tar.gz device.img
	# And back.
	"$examples/delta-export.sh" here.img 3 1 back.tar
	"$examples/delta-apply.sh" there.img back.tar again.img 8M
	holds again.img want1
}

# script_lines KEY: the commands of the recipe below a key.
script_lines() {
	sed -n "/^  $1:/,/^  [^ ]/s/^    - //p" "$examples/ci.yml"
}

@test "continuous integration: the lines of the recipe" {
	ln -s "$examples" examples
	script_lines script >lines
	[ -s lines ]
	run -0 sh -eux lines
	holds out/root.img rootfs
	(cd out && sha256sum -c root.img.sha256)
	jq -e .summary.clean out/check.json
	for file in $(script_lines '  paths'); do
		[ -s "$file" ]
	done
	# Too large, and the reports are there nevertheless.
	rm -r out
	run -1 "$examples/ci-image.sh" rootfs out 100000
	[[ $output == *"more than 100000"* ]]
	[ -s out/report.html ]
	# The time of the commit.
	unset SOURCE_DATE_EPOCH
	git init -q repository
	cd repository
	cp -a ../rootfs .
	git add . && GIT_COMMITTER_DATE=@1680000000 git -c user.name=n \
		-c user.email=e commit -qm rootfs
	"$examples/ci-image.sh" rootfs out 1000000000
	[ "$(dump.nilfs2 info --json out/root.img |
		jq '.superblocks[0].s_ctime')" -eq 1680000000 ]
}

@test "every example is in the list, and is tested" {
	for file in "$examples"/*; do
		name=${file##*/}
		[ "$name" != README.md ] || continue
		grep -q "($name)" "$examples/README.md"
		grep -q "examples/$name" "$BATS_TEST_DIRNAME"/*.bats \
			"$BATS_TEST_DIRNAME"/../boot/*.bats
	done
}
