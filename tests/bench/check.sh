# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole checks of clean volumes that hold the same tree, beside other checkers
# and beside reading the metadata alone; from the page cache, and from the disk.
#
#	BENCH_CASES	some of real small
#	BENCH_PEERS	some of e2fsck f2fs btrfs erofs, or none
#	BENCH_DISK	a directory on the disk that is to be measured

# The blocks of a check: those of metadata files and directories, all nodes of
# block maps, summaries.
metadata_ranges() {
	{ "$dump" ls -lRi "$1" | awk '$2 ~ /^d/ { print "directory", $1 }'
	  "$dump" logs --blocks "$1"
	} | awk '
		$1 == "directory" { directory[$2]; next }
		/^First block:/ { first = $3 }
		/^Summary blocks:/ { printf "%d %d\n", first * 4096, $3 * 4096 }
		NF == 7 && ($7 == "node" || $3 in directory ||
			    $3 ~ /^[3-6]$/) {
			printf "%d %d\n", $1 * 4096, 4096
		}' | sort -n | awk -f "$here/merge.awk"
}

# fill_image PEER FILE: makes the volume of a peer; fails where it cannot.
fill_image() {
	rm -f "$2"
	truncate -s "$size" "$2"
	case $1 in
	ours) "$mkfs" -q -f -d "$tree" "$2" ;;
	snapshots) mkdir -p "$scratch/nothing"
		# shellcheck disable=SC2046
		"$mkfs" -q -f --snapshot=each -d "$tree" \
			$(yes "-d $scratch/nothing" | head -n 10) "$2" ;;
	e2fsck) have mke2fs &&
		mke2fs -q -F -t ext4 -N "$inodes" -d "$tree" "$2" ;;
	btrfs) have mkfs.btrfs && mkfs.btrfs -q -f --rootdir "$tree" "$2" ;;
	f2fs) [ "$kind" = real ] && have sload.f2fs && {
		mkfs.f2fs -q -f "$2" && sload.f2fs -f "$tree" "$2"
		} ;;
	erofs) have mkfs.erofs && mkfs.erofs --quiet "$2" "$tree" ;;
	esac >"$scratch/fill.log" 2>&1
}

check_command() {
	case $1 in
	e2fsck) echo "e2fsck -fn=e2fsck -fn $2" ;;
	btrfs) echo "btrfs check=btrfs check $2"
	       echo "btrfs check, data=btrfs check --check-data-csum $2" ;;
	f2fs) echo "fsck.f2fs=fsck.f2fs --dry-run $2" ;;
	erofs) echo "fsck.erofs=fsck.erofs $2" ;;
	esac
}

check_case() {
	local kind=$1 size=6G inodes=200000 tree peer image commands images=()

	[ "$kind" = real ] || size=12G
	[ "$kind" = real ] || inodes=1200000
	tree=$("$here/trees.sh" "$kind")
	image=$disk/$kind.ours
	fill_image ours "$image"
	fill_image snapshots "$image.snapshots"
	images=("$image" "$image.snapshots")
	metadata_ranges "$image" >"$scratch/ranges"
	commands=(
		"limit: start=$fsck --version"
		"ours=$fsck -fn $image"
		"ours, 1 thread=$fsck -fn -j 1 $image"
		"ours, --data=$fsck -fn --data $image"
		"ours, ten snapshots=$fsck -fn $image.snapshots"
		"ours, -a=$fsck -a $image"
		"limit: read metadata=$limit read $image $scratch/ranges"
	)
	for peer in ${BENCH_PEERS-e2fsck f2fs btrfs erofs}; do
		[ "$peer" != none ] || continue
		fill_image "$peer" "$disk/$kind.$peer" || continue
		images+=("$disk/$kind.$peer")
		mapfile -t -O "${#commands[@]}" commands \
			< <(check_command "$peer" "$disk/$kind.$peer")
	done
	sync "${images[@]}"
	cat "${images[@]}" >/dev/null
	title "check of $kind ($(wc -l <"$scratch/ranges") ranges," \
		"$(awk '{ n += $2 } END { printf "%.0f", n / 1e6 }' \
		"$scratch/ranges") MB of metadata), from the page cache"
	interleave 5 -s 60 -r "limit: read metadata" "${commands[@]}"
	title "check of $kind, from the disk"
	interleave 5 -s 60 -r "limit: read metadata" \
		-b "for i in ${images[*]}; do
			dd if=\$i iflag=nocache count=0 status=none; done" \
		"${commands[@]}"
	rm -f "${images[@]}"
}

bench_check() {
	local case disk fsck=$build/fsck/fsck.nilfs2

	disk=${BENCH_DISK:-$(dirname "$("$here/trees.sh" real)")}
	disk=$(mktemp -d "$disk/nilfs2-bench.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$scratch' '$disk'" EXIT
	for case in ${BENCH_CASES:-real small}; do
		check_case "$case"
	done
}
