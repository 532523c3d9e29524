#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# odd.sh [NAME...]: volumes that the kernel has made by workloads that the corpus
# does not have (workloads.bash), in one guest, and what fsck.nilfs2 makes of them.
#
# Each is sound: a check finds nothing, a repair with --rebuild changes not one byte,
# and so it is once an older checkpoint was rolled back to; counters that were rebuilt
# are not changed by another rebuild.  A volume whose power was cut may have what a
# crash leaves: files without names; once they are repaired it is sound as well.
# With --keep DIR images and output stay there.
# NILFS2_BUILD and NILFS2_SOURCE say where programs and tests are.
set -eu -o pipefail

lab=$NILFS2_SOURCE/tests/kernel
kernel_mkfs=$(PATH=/usr/sbin:/sbin:$PATH command -v mkfs.nilfs2)
PATH=$NILFS2_BUILD/dump:$NILFS2_BUILD/fsck:$PATH
. "$lab/lab.bash"
. "$NILFS2_SOURCE/tests/fsck/repairs_kernel.bash"
. "$NILFS2_SOURCE/tests/odd/workloads.bash"

# make_image NAME: before the kernel uses it.
make_image()
{
	if [ -n "${corpus_image[$1]-}" ]; then
		cp --sparse=always "$corpus/${corpus_image[$1]}/image" "$1.img"
		[ -z "${rolled_back[$1]-}" ] ||
			fsck.nilfs2 --rollback="${rolled_back[$1]}" "$1.img" \
				>"$1.made" || [ $? -eq 1 ]
		return
	fi
	truncate -s "${sizes[$1]}M" "$1.img"
	# Words of options.
	# shellcheck disable=SC2086
	"$kernel_mkfs" -q ${formats[$1]} "$1.img"
	[ -z "${grown[$1]-}" ] || truncate -s "${grown[$1]}M" "$1.img"
}

# guest_script NAME...: runs each workload, and says which were done.
guest_script()
{
	local i=0 name

	cat "$NILFS2_SOURCE/tests/odd/workloads.bash"
	for name; do
		i=$((i + 1))
		cat <<-END
		MNT=/mnt/$name DEV=\$DEV$i
		echo "volume $name" >/dev/kmsg
		nilfs_mount "\$DEV" "\$MNT"
		(set -e; odd_$name)
		[ \$? -ne 0 ] || ! nilfs_umount "\$MNT" || echo "done $name"
		END
	done
}

# ok WHAT COMMAND...: a case of the volume; what it printed is shown if it fails.
ok()
{
	local what=$1
	shift
	cases=$((cases + 1))
	! "$@" >case.out 2>&1 || return 0
	failed=$((failed + 1))
	{
		echo "$name: not ok: $what"
		head -n 20 case.out
	} >>complaints
}

# silent IMAGE: a check prints nothing.
silent()
{
	fsck.nilfs2 -fnq "$@" >silent.out 2>&1 && [ ! -s silent.out ] ||
		{ cat silent.out; return 1; }
}

# unchanged IMAGE OPTION...: fsck.nilfs2 changes nothing of a copy of it.
unchanged()
{
	cp --sparse=always "$1" other.img
	fsck.nilfs2 "${@:2}" other.img || { echo "status $?"; return 1; }
	cmp other.img "$1"
}

# status_1 COMMAND...
status_1()
{
	local status=0

	"$@" || status=$?
	[ "$status" -eq 1 ] || { echo "status $status"; return 1; }
}

# counted: the second rebuild of counters finds what the first has left.
counted()
{
	cp --sparse=always "$image" copy.img
	fsck.nilfs2 --rebuild-counters copy.img || [ $? -eq 1 ] || return
	unchanged copy.img --rebuild-counters && silent copy.img
}

# back CNO: the same of a volume rolled back, for which files that were open and had
# no name at that checkpoint are repaired.
back()
{
	cp --sparse=always "$image" copy.img
	status_1 fsck.nilfs2 --rollback="$1" copy.img || return
	[[ $name != open && $name != cut ]] || silent copy.img >/dev/null ||
		left_open copy.img || return
	silent copy.img && unchanged copy.img -fy --rebuild
}

# left_open IMAGE: a check finds files without names and nothing else; it is repaired.
left_open()
{
	local status=0

	fsck.nilfs2 -fn "$1" >found 2>notes || status=$?
	[ "$status" -eq 0 ] || { cat found; return 1; }
	! grep -vE "^inode-orphan: |^$1: .* warnings?, " found || return 1
	status_1 fsck.nilfs2 -fy --rebuild "$1"
}

# sound: $image of volume $name.
sound()
{
	local cno all

	ok "a check finds nothing" silent "$image"
	ok "a check of all data finds nothing" silent --data "$image"
	ok "a repair changes nothing" unchanged "$image" -fy
	ok "a rebuild changes nothing" unchanged "$image" -fy --rebuild
	ok "a second rebuild of counters changes nothing" counted
	mapfile -t all < <(dump.nilfs2 checkpoints "$image" |
		awk '$1 ~ /^[0-9]+$/ { print $1 }')
	checkpoints=${#all[@]}
	for cno in $(printf '%s\n' "${all[0]}" "${all[checkpoints / 2]}" \
		"${all[checkpoints - 1]}" | sort -un); do
		ok "rolled back to $cno" back "$cno"
	done
}

# row NAME IMAGE
row()
{
	local cases=0 failed=0 checkpoints=0 name=$1 image=$2

	if [ "$name" = cut ]; then
		ok "files without names" left_open "$image"
	else
		ok "the workload ends" grep -qx "done $name" said
		[ -z "${cut_to[$name]-}" ] ||
			truncate -s "${cut_to[$name]}M" "$image"
		[ "$(type -t "meant_$name")" != function ] ||
			ok "as it is meant" "meant_$name"
	fi
	sound
	printf '%-10s %12d %6d %6d\n' "$name" "$checkpoints" "$cases" "$failed"
	all_failed=$((all_failed + failed))
}

keep=
if [ "${1-}" = --keep ]; then
	keep=$2
	shift 2
fi
reason=$("$lab/guest.sh" --available uml) || { echo "1..0 # SKIP $reason"; exit 0; }
[ $# -gt 0 ] || set -- deep wrapped full links mapped direct open synced synced-1k \
	resized rolled marks
for name; do
	[ -z "${corpus_image[$name]-}" ] || corpus=$("$lab/corpus.sh" --cached)
done
work=${keep:-$(mktemp -d)}
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
cd "$work"
all_failed=0
: >complaints
for name; do
	make_image "$name"
done
guest_script "$@" | "$lab/guest.sh" --timeout 1500 --share . --dmesg dmesg - \
	"${@/%/.img}" >said 2>errors || echo "status $?" >>errors
printf '%-10s %12s %6s %6s\n' VOLUME CHECKPOINTS CASES FAILED
for name; do
	row "$name" "$name.img"
	[ "$name" != open ] || row cut cut.img
done
# The second superblock is not at the end of a device that has grown.
cases=1 failed=0
dmesg=$(cat dmesg)
! kernel_blames | grep -v '^resized: .*retrying with spare superblock' \
	>>complaints || failed=1
printf '%-10s %12s %6d %6d\n' "kernel log" - "$cases" "$failed"
all_failed=$((all_failed + failed))
[ "$all_failed" -eq 0 ] || cat complaints errors
[ "$all_failed" -eq 0 ]
