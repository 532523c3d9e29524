# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes filled from a directory, in memory and on the disk, beside other
# formatters that can do so, tar, and the mere copying of the same bytes.
#
#	BENCH_CASES	some of real-memory real-disk small-memory small-disk
#			big-disk
#	BENCH_PEERS	some of tar erofs squashfs mke2fs btrfs f2fs, or none
#	BENCH_DISK	a directory on the disk that is to be measured

squashfs='mksquashfs %t %f -noappend -noI -noD -noF -noX -no-duplicates'
squashfs="$squashfs -quiet -no-progress -processors"

# peer TOOL NAME COMMAND...: a row for it where it is wanted and installed; %t
# is the tree, %f the file.
peer() {
	local tool=$1 name=$2 row command

	shift 2
	case " ${BENCH_PEERS-tar erofs squashfs mke2fs btrfs f2fs} " in
	*" $name "*) ;;
	*) return 0 ;;
	esac
	have "$tool" || return 0
	for row; do
		command=${row#*=}
		command=${command//%t/$tree}
		commands+=("${row%%=*}=${command//%f/$file}")
	done
}

populate_peers() {
	peer tar tar "tar cf=tar cf %f -C %t ."
	peer mkfs.erofs erofs "mkfs.erofs=mkfs.erofs --quiet %f %t"
	peer mksquashfs squashfs "mksquashfs, 1 processor=$squashfs 1" \
		"mksquashfs, 2 processors=$squashfs 2"
	peer mke2fs mke2fs \
		"mke2fs -d=mke2fs -q -F -t ext4 -N $inodes -d %t %f"
	peer mkfs.btrfs btrfs \
		"mkfs.btrfs --rootdir=mkfs.btrfs -q -f --rootdir %t %f"
	if [ "$kind" = small ]; then
		echo "(sload.f2fs is left out: a run takes 20 minutes)"
	else
		peer sload.f2fs f2fs \
			"sload.f2fs=mkfs.f2fs -q -f %f && sload.f2fs -f %t %f"
	fi
}

populate_limits() {
	local copy=$build/tests/bench/treecopy buffer=$((1 << 20))

	commands+=(
		"limit: read x2=$copy -t 2 -b $buffer $tree"
		"limit: read, CRC x2=$copy -c -t 2 -b $buffer $tree"
		"limit: copy x1=$copy -t 1 -b $buffer $tree $file"
		"limit: copy x2=$copy -t 2 -b $buffer $tree $file"
	)
	[ "$place" = disk ] || return 0
	buffer=$((4 << 20))
	commands+=(
		"limit: CRC, direct x1=$copy -cd -t 1 -b $buffer $tree $file.pre"
		"limit: CRC, direct x2=$copy -cd -t 2 -b $buffer $tree $file.pre"
		"limit: CRC, direct x4=$copy -cd -t 4 -b $buffer $tree $file.pre"
	)
}

# after_script FLOOR: what a file takes, and how that compares with the floor.
after_script() {
	cat >"$scratch/after" <<-EOT
		[ ! -s $file ] || echo "\$(stat -c %b $file) $1" |
		awk '{ printf "%.0f MB, %.4f\n", \$1 * 512 / 1e6,
			\$1 * 512 / \$2 }'
	EOT
}

# populate_requests LABEL COMMAND...: how the file is written, as the kernel
# is asked.
populate_requests() {
	local label=$1

	shift
	rm -f "$file"
	truncate -s "$size" "$file"
	strace -f -qq -o "$scratch/trace" -P "$file" \
		-e trace=write,writev,pwrite64,pwritev,pwritev2 "$@" >/dev/null
	awk -v label="$label" '
		$NF ~ /^[0-9]+$/ {
			n++
			all += $NF
			small += $NF < 65536
			tiny += $NF <= 4096
		}
		END {
			printf "%-28s %8d requests, %8.1f KiB on average, ", label,
				n, n ? all / n / 1024 : 0
			printf "%d below 64 KiB, %d up to 4 KiB\n", small, tiny
		}' "$scratch/trace"
}

populate_case() {
	local kind=${1%-*} place=${1#*-} inodes=200000 size=6G before reference
	local tree file commands=() directory

	directory=$scratch
	[ "$place" = memory ] || directory=$disk
	file=$directory/volume
	reference="limit: copy x2"
	[ "$kind" = real ] || size=12G
	[ "$kind" != small ] || inodes=1200000
	before="rm -f $file $file.pre; truncate -s $size $file"
	if [ "$place" = disk ]; then
		reference="limit: CRC, direct x2"
		before="$before; fallocate -l $size $file.pre; sync"
	fi
	tree=$("$here/trees.sh" "$kind")
	title "fill from $kind ($("$build/tests/bench/treecopy" "$tree")), $place"
	find "$tree" -printf '%y %s %n %i %p\n' |
		LC_ALL=C awk -f "$here/floor.awk" | tee "$scratch/floor"
	after_script "$(sed -n 's/^floor //p' "$scratch/floor")"
	# What a round begins with finds memory that was given back: not ours.
	populate_limits
	commands+=("ours=$mkfs -q -f -d $tree $file"
		"ours, 1 thread=$mkfs -q -f -j 1 -d $tree $file")
	populate_peers
	interleave 5 -s 30 -r "$reference" -b "$before" \
		-a "sh $scratch/after" "${commands[@]}"
	if [ "$kind-$place" = real-memory ] && have strace; then
		populate_requests "ours" "$mkfs" -q -f -d "$tree" "$file"
		populate_requests "ours, --collect 1" \
			"$mkfs" -q -f --collect 1 -d "$tree" "$file"
	fi
	rm -f "$file" "$file.pre"
}

bench_populate() {
	local case disk

	disk=${BENCH_DISK:-$(dirname "$("$here/trees.sh" real)")}
	disk=$(mktemp -d "$disk/nilfs2-bench.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$scratch' '$disk'" EXIT
	for case in ${BENCH_CASES:-real-memory real-disk small-memory \
		small-disk big-disk}; do
		populate_case "$case"
	done
}
