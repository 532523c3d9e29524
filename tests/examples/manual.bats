#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of the man pages, of README.md and of doc/tour.md run.  Devices are files
# with their names, the numbers of the text that a volume may lack are replaced; what
# the examples of man pages do is compared elsewhere.

bats_require_minimum_version 1.5.0

setup_file() {
	export SOURCE_DATE_EPOCH=1700000000 TMPDIR=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p tree/etc tree/var/log tree/var/db tree/vm overlay/etc archive app
	echo device >tree/etc/hostname
	seq 700000 >tree/vm/disk
	seq 1000 >tree/var/db/table
	seq 2000 >tree/var/log/syslog
	echo other >overlay/etc/hostname
	cp -r tree/var app/
	cp tree/vm/disk archive/
	tar -C tree -c . | zstd -q >rootfs.tar.zst
	tar -C tree -czf base.tar.gz .
	tar -C app -czf app.tar.gz .
	printf '%s\n' 'fio version 2 iolog' 'file add' 'file open' \
		'file write 0 8192' 'file write 65536 4096' 'file close' >trace.log
	awk 'BEGIN { for (i = 0; i < 4000; i++) printf "%d,W,%d,4096,%.0f\n", \
		i % 2, i % 399 * 4096, i + 1577808000000626 }' |
		gzip >volumes.csv.gz
	mkfs.nilfs2 -q -B 64 --size 128M -d tree -d overlay -d app disk.img
	mkfs.nilfs2 -q -B 64 --size 128M -d tree -d overlay --snapshot root.img
	mkfs.nilfs2 -q --size 128M --zone-size 1M -d tree smr.img
	truncate -s 300M empty.img
	mkfs.nilfs2 -q --size 300M --zone-size 1M zones.img
	cp disk.img bad.img
	dump.nilfs2 set --expert --fix-checksums bad.img super:1 \
		s_free_blocks_count=5 >/dev/null
	dump.nilfs2 set --expert bad.img inode:/etc/hostname i_links_count=9 \
		>/dev/null
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cp -r "$BATS_FILE_TMPDIR"/{tree,overlay,archive} .
	cp --sparse=always "$BATS_FILE_TMPDIR"/*.{zst,gz,log} .
}

# blocks PAGE: its examples, each ended by a line "--".
blocks() {
	local page=$NILFS2_SOURCE/man/$1.8

	[ -f "$page" ] || page=$page.in
	awk '/^\.SH/ { on = $2 == "EXAMPLES" }
		on && /^\.EX/ { inside = 1; next }
		on && /^\.EE/ { inside = 0; print "--"; next }
		inside' "$page" |
	sed -e 's/\\e/\\/g' -e 's/\\-/-/g'
}

# volumes KIND: fresh ones, as the page expects them.
volumes() {
	local from=$BATS_FILE_TMPDIR

	rm -rf ./*.img* latest
	[ "$1" = new ] || {
		cp --sparse=always "$from/$1.img" disk.img
		cp --sparse=always "$from/root.img" root.img
		cp --sparse=always "$from/root.img" copy.img
		cp --sparse=always "$from/$1.img" sdb1.img
		truncate -s 200M sdb1.img
		cp --sparse=always "$from/smr.img" smr.img
		cp --sparse=always "$from/smr.img" sdc.img
		cp "$from/smr.img.zones" smr.img.zones
		cp "$from/smr.img.zones" sdc.img.zones
		return
	}
	cp --sparse=always "$from/empty.img" sdb1.img
	cp --sparse=always "$from/zones.img" sdc.img
	cp "$from/zones.img.zones" sdc.img.zones
	truncate -s 0 sdc.img
	truncate -s 300M sdc.img
}

# What the examples call: a mount, a disk that keeps its size, volumes that are
# quick to simulate, and the status of each that is not 0.
prologue='
	mount() { :; }
	dd() { command dd conv=notrunc status=none "$@"; }
	gcsim.nilfs2() {
		case $* in
		*.img) command gcsim.nilfs2 -q "$@" ;;
		*-t\ *) command gcsim.nilfs2 -q -n 50 --segment-size 64K "$@" ;;
		*) command gcsim.nilfs2 -q -n 100 --segment-size 64K "$@" ;;
		esac
	}
	expect() {
		local status=0 expected=$1

		shift
		command "$@" || status=$?
		[[ $expected == *$status* ]]
	}
	fsck.nilfs2() {
		case $* in
		*--state*) expect 01 fsck.nilfs2 "$@" ;;
		-n*) expect 04 fsck.nilfs2 "$@" ;;
		-[ay]* | --rollback*) expect 1 fsck.nilfs2 "$@" ;;
		*) command fsck.nilfs2 "$@" ;;
		esac
	}
	ddrescue() {
		if type -P ddrescue >/dev/null; then
			command ddrescue -q "$@"
		else
			cp "$2" "$3"
			printf "0x0 + 1\n0x0 %d +\n" "$(stat -c %s "$2")" >"$4"
		fi
	}
	umoci() { ! type -P umoci >/dev/null || command umoci "$@" >/dev/null; }
	can_mount() {
		[ -w /dev/fuse ] && type -P fusermount3 >/dev/null &&
			grep -q "^#define HAVE_LIBFUSE 1" "$NILFS2_BUILD/config.h"
	}
	fusermount3() { ! can_mount || command fusermount3 "$@"; }
	dump.nilfs2() {
		case $* in
		diff*) expect 3 dump.nilfs2 "$@" ;;
		mount*)
			if can_mount; then
				command dump.nilfs2 "$@" 3>&- 4>&-
			else
				mkdir old/etc
			fi ;;
		*) command dump.nilfs2 "$@" ;;
		esac
	}
	# Mounted volumes are in tests/live.
	lvreduce() { :; }
	gc.nilfs2() {
		case $* in
		*\ /mnt) expect 1 gc.nilfs2 "$@" ;;
		*--free*) expect 01 gc.nilfs2 "$@" ;;
		*) command gc.nilfs2 "$@" ;;
		esac
	}
	# As they do it, on this machine and one after the other.
	parallel() { xargs -d "\n" -n 1 sh -c; }
	sbatch() {
		[[ "$*" == "--wait --array=1-8 --output=result-%a --wrap="* ]]
		for SLURM_ARRAY_TASK_ID in 1 2 3 4 5 6 7 8; do
			export SLURM_ARRAY_TASK_ID
			sh -c "${4#--wrap=}" >"result-$SLURM_ARRAY_TASK_ID"
		done
	}
	set -eo pipefail
'

# follow PAGE KIND: runs each example on volumes of its own.
follow() {
	local block='' line kind count=0

	while IFS= read -r line; do
		if [ "$line" != -- ]; then
			block+=$line$'\n'
			continue
		fi
		kind=$2
		[[ $block != *--rollback* && $block != *counters* &&
		   $block != *'cat -c 2 disk'* ]] || kind=disk
		volumes "$kind"
		block=$(sed -E -e 's|/dev/(sd[a-z]1?)|\1.img|g' -e 's/4711/2/g' \
			<<<"$block")
		rm -rf old.img copy.undo disk.undo [0-9].tar.gz delta.tar
		[[ $block != *'--output copy.img'* && $block != *ddrescue* &&
		   $block != *'cp --sparse'* ]] || rm -f copy.img
		if ! bash -c "$prologue$block" >out 2>&1; then
			echo "of $1 fails:"
			echo "$block"
			tail -n 20 out
			return 1
		fi
		count=$((count + 1))
		block=
	done < <(blocks "$1")
	[ "$count" -ge 5 ]
}

@test "mkfs.nilfs2(8)" {
	follow mkfs.nilfs2 new
}

@test "dump.nilfs2(8)" {
	follow dump.nilfs2 disk
}

@test "fsck.nilfs2(8)" {
	follow fsck.nilfs2 bad
}

@test "gc.nilfs2(8)" {
	follow gc.nilfs2 disk
}

@test "gcsim.nilfs2(8)" {
	follow gcsim.nilfs2 disk
}

# demo: a volume with what scripts/demo.sh makes: a snapshot of a directory that was
# deleted later.
demo() {
	mkdir -p build layer/lib layer/mkfs gone
	cp -r "$NILFS2_SOURCE"/{doc,examples,man} .
	cp tree/etc/hostname layer/lib/README.md
	cp tree/var/log/syslog layer/mkfs/README.md
	seq 200000 >layer/mkfs/numbers
	touch gone/.wh.mkfs
	tar -C gone -cf gone.tar .
	mkfs.nilfs2 -q -B 64 -L demo --size 64M --oci -d tree -d layer -d gone.tar \
		-d overlay build/demo.img
	gc.nilfs2 -q --to-snapshot 2 build/demo.img
}

# plain: lines without what differs between two volumes.
plain() {
	sed -E -e 's/[-dl][-r][-w][-x]([-r][-w][-xst]){2}/MODE/' \
		-e 's/[#sA.0-9]{20,}/MAP/' -e 's/[0-9.]+ [KMG]?i?B\>/SIZE/g' \
		-e 's/[0-9]+/N/g' \
		-e 's/entries/entry/g' \
		-e 's/\<(block|error|warning|file|segment)s\>/\1/g' \
		-e 's/[[:blank:]]+/ /g' -e 's/^ | $//g'
}

# follow_document FILE: runs its commands, one after the other on the same volume, and
# finds the output that it shows, in that order; a line "..." stands for more.
follow_document() {
	local block

	demo
	block=$(dump.nilfs2 bmap --json build/demo.img dat |
		jq '.runs[] | select(.blkoff <= 2 and .last_blkoff >= 2) |
			.blocknr + 2 - .blkoff')
	: >shown
	awk '
		/^    [$] / { print "echo ---"; print "---" >"shown" }
		/^    [$] / || more {
			print substr($0, more ? 5 : 7)
			more = /\\$/
			command = 1
			next
		}
		/^[^ ]/ || /^    # / { command = 0 }
		/^    / && command && !/^ *[.][.][.]$/ { print >"shown" }
		' "$NILFS2_SOURCE/$1" | sed "s/3602/$block/g" >commands
	[ "$(grep -cx 'echo ---' commands)" -ge 10 ]
	bash -c "$prologue$(cat commands)" >out 2>&1 || {
		echo "of $1 fails:"
		tail -n 20 out
		return 1
	}
	awk 'NR == FNR { shown[++n] = $0; next }
		$0 == shown[k + 1] { k++; next }
		$0 == "---" { exit }
		END { if (k < n) { print "not printed: " shown[k + 1]; exit 1 } }
		' <(plain <shown) <(plain <out)
}

@test "README.md" {
	follow_document README.md
	[ "$(dump.nilfs2 info --json volume.img | jq .geometry.device_bytes)" -eq \
		$((1 << 30)) ]
	fsck.nilfs2 -n volume.img
	fsck.nilfs2 -n bad.img
	cmp restored/mkfs/README.md layer/mkfs/README.md
}

@test "doc/tour.md" {
	follow_document doc/tour.md
	[ "$(dump.nilfs2 info --json volume.img | jq .geometry.device_bytes)" -eq \
		$((1 << 30)) ]
	fsck.nilfs2 -n volume.img
	fsck.nilfs2 -n bad.img
}

@test "every document with commands is run, here or by tests/boot" {
	cd "$NILFS2_SOURCE"
	[ "$(grep -l '^    [$] ' ./*.md doc/*.md examples/*.md | sed 's|^\./||' |
		sort | xargs)" = "README.md doc/boot.md doc/tour.md" ]
	grep -q doc/boot.md tests/boot/boot.bats
}
