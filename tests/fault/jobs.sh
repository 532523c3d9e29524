#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# jobs.sh [-m MOST] [-t TAIL] [-k KINDS] [-p JOBS] [JOB...]: every job that
# writes, on a small volume, with every call failing in turn and the power cut at
# every write (faults.c), as a table.  MOST limits the runs of each kind, which are
# then spread evenly; TAIL leaves only so many of the last calls; JOBS are worked
# on at once.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
faults=$NILFS2_BUILD/tests/fault
export SOURCE_DATE_EPOCH=1700000000 TMPDIR=${TMPDIR:-/tmp}

most='' tail='' kinds='' parallel=1
while getopts m:t:k:p: option; do
	case $option in
	m) most=$OPTARG ;;
	t) tail=$OPTARG ;;
	k) kinds=$OPTARG ;;
	p) parallel=$OPTARG ;;
	*) exit 99 ;;
	esac
done
shift $((OPTIND - 1))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# noise SEED BYTES: always the same.
noise()
{
	openssl enc -aes-128-ctr -K "$(printf '%032x' "$1")" -iv 0 \
		-in /dev/zero 2>/dev/null | head -c "$2" || true
}

trees()
{
	mkdir -p a/dir b/dir c
	noise 1 70000 >a/large
	noise 2 70000 >b/large
	noise 3 20000 >c/large
	for n in 1 2 3 4 5; do
		noise 1$n $((n * 1500)) >a/dir/$n
	done
	noise 4 5000 >b/dir/1
	ln -s dir/1 a/link
	touch -d @1600000000 a/* a/dir/* b/* b/dir/* c/*
	tar -C a -cf a.tar .
}

# volume [OPTION...]: dead blocks, a snapshot, checkpoints, a latest state that
# is an older one.
volume()
{
	rm -f image image.zones
	mkfs.nilfs2 -q -b 1K -B 16 --size 2M "$@" -d a -d b -d c \
		--snapshot=last image
	fsck.nilfs2 -q --rollback=1 image >/dev/null || [ $? -eq 1 ]
}

# Snapshot 4 is one of the rule of --keep, 3 and 6 are by hand, and 7 is next.
keepable()
{
	volume
	gc.nilfs2 -q --keep last=1 --keep-state record image >report
	gc.nilfs2 -q --take-snapshot image >report
	fsck.nilfs2 -q --rollback=1 image >report || [ $? -eq 1 ]
}

zoned()
{
	volume -B 64 --size 4M --zone-size 64K
}

# damaged FIELD=VALUE of a structure.
damaged()
{
	volume
	dump.nilfs2 set -q --expert --fix-checksums image "$@" >/dev/null
}

# As a crash leaves it: a mount follows the chain of logs.
dirty()
{
	volume
	dump.nilfs2 set -q --expert --fix-checksums image super:1 \
		s_state=0 >/dev/null
	dump.nilfs2 set -q --expert --fix-checksums image super:2 \
		s_state=0 >/dev/null
}

# With counters of live blocks, which are wrong.
miscounted()
{
	volume -O sufile_live_blks_ext
	dump.nilfs2 set -q --expert --fix-checksums image \
		suheader sh_ncleansegs=1 >/dev/null
	dump.nilfs2 set -q --expert --fix-checksums image \
		segment:3 su_nlive_blks=1 >/dev/null
}

# With commands for a shell.
scripted()
{
	volume
	printf '%s\n' 'set --fix-checksums super:1 s_volume_name=x' commit >changes
}

# With an undo file of what repaired it.
repaired()
{
	damaged inode:/large i_links_count=5
	fsck.nilfs2 -fyq --undo-file undo image >/dev/null || [ $? -eq 1 ]
}

# With a copy, to which an undo file is to lead back.
undoable()
{
	damaged inode:/large i_links_count=5
	cp image before
}

# A file in pieces takes a kernel to write.  What has no segment in use is cut off.
fragmented()
{
	local corpus

	corpus=$("$here/../kernel/corpus.sh" --cached) &&
		cp "$corpus/cleaned/image" image &&
		gc.nilfs2 -q --protect 0 --shrink=24M image
}

# run JOB SETUP TOOL ARGUMENT...: with the judge $judge, or judge.sh, of $files;
# with $last, a job that is not done may leave a volume of any size.  Its rows
# go to one file, and success makes another.
run()
{
	local name=$1 setup=$2 tool=$3
	shift 3
	[ -z "$wanted" ] || case " $wanted " in *" $name "*) ;; *) return 0 ;; esac
	while [ "$(jobs -pr | wc -l)" -ge "$parallel" ]; do
		wait -n || :
	done
	started+=("$name")
	mkdir "$name"
	(
		cp -a a b c a.tar "$name"
		cd "$name"
		$setup
		# shellcheck disable=SC2086
		"$faults/faults" ${most:+-m $most} ${tail:+-t $tail} ${kinds:+-k $kinds} \
			${last:+-l} ${none:+-n "no volume
"} -j "${judge:-$here/judge.sh ${none:+-w} image}" "$name" ${files:-image} -- \
			timeout 60 "$faults/$tool.nilfs2" -j 1 "$@"
		touch ../"$name.passed"
	) >"$name.rows" 2>&1 &
}

# The rows of all jobs, in their order.
finish()
{
	local name result=0

	wait
	printf '%-14s %-14s %6s %6s\n' JOB KIND RUNS FAILED
	for name in "${started[@]}"; do
		cat "$name.rows"
		[ -e "$name.passed" ] || result=1
	done
	return $result
}

started=()
wanted=$*
for tool in mkfs fsck dump gc; do
	PATH=$NILFS2_BUILD/$tool:$PATH
done
uuid='-U 7b9d2a40-53c1-4e8f-8a16-0c2d4e6f8091'
gc='--protect 0 --min-reclaimable 0'
whole=read,reads,read-short,write,writes,write-full,write-short,flush,open,memory,cut
whole+=,cut-lost,cut-reordered
trees
# shellcheck disable=SC2086
{
	none=1 run mkfs volume mkfs $uuid -q -f -b 1K -B 32 image
	none=1 run mkfs-root volume \
		mkfs $uuid -q -f -b 1K -B 16 -d b -d c image
	none=1 run mkfs-new true \
		mkfs $uuid -q -b 1K -B 16 --size 1M -d b image
	none=1 run mkfs-tar volume \
		mkfs $uuid -q -f -b 1K -B 16 --sparse -d a.tar image
	none=1 files='image image.zones' run mkfs-zoned true \
		mkfs $uuid -q -b 1K -B 64 --size 2M --zone-size 64K -d b image
	run mkfs-add volume mkfs -q --add -d c -d a.tar -d b image
	run mkfs-add-dirty dirty mkfs -q --add -d c -d a.tar -d b image
	run clean volume gc $gc image
	run compact volume gc $gc --compact=all image
	run purge volume gc $gc --purge image
	run punch volume gc $gc --punch image
	run defrag fragmented gc $gc --defrag all image
	run shrink volume gc $gc --shrink=1M image
	last=1 run shrink-min volume gc $gc --shrink=min image
	run grow volume gc --grow=3M image
	run features volume gc -O sufile_live_blks_ext image
	run properties volume gc -L new --uuid clear --check-interval 1 \
		--max-mounts 5 --commit-interval 7 --commit-blocks 9 image
	run to-snapshot volume gc --to-snapshot .. image
	run to-checkpoint volume gc --to-checkpoint .. image
	files='image record' judge="$here/judge_keep.sh" \
		run keep keepable gc --keep last=1 --keep-state record image
	run take volume gc --take-snapshot image
	run delete volume gc $gc -f --delete-checkpoints 3 image
	none=1 files='out image' judge="$here/judge.sh -w out" \
		run output volume gc --output out image
	files='image image.zones' run clean-zoned zoned gc $gc image
	files='image image.zones' run compact-zoned zoned \
		gc $gc --compact=all image
	run repair 'damaged inode:/large i_links_count=5' fsck -fy image
	# Its attributes are lost.
	judge="$here/judge.sh -w image" run repair-lossy \
		'damaged inode:/large i_mode=0' fsck -fy image
	files='image undo' judge="$here/judge_back.sh" run repair-undo undoable \
		fsck -fy --undo-file undo image
	run rebuild 'damaged suheader sh_ncleansegs=1' \
		fsck -fy --rebuild image
	run counters miscounted fsck --rebuild-counters image
	run rollback volume fsck --rollback=2 image
	files='image undo' judge="$here/judge_undo.sh" \
		run undo repaired fsck --undo undo image
	run set volume dump set --expert --fix-checksums image super:1 \
		s_volume_name=x
	run shell scripted dump shell --expert -f changes image
	# A field and a checksum are written at once, but a disk may write half.
	kinds=${kinds:-$whole} run set-log volume dump set --expert \
		--fix-checksums image inode:/large i_mtime=1
}
finish
