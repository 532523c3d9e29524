# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A volume exported to a directory and to tar, beside cp -a and tar of the tree that it
# was filled from; and the report about it, beside a check.  All in memory.
#
#	BENCH_FILES	thousands of small files (66)
#	BENCH_CASES	some of small large

# export_case WHAT: of the volume that was filled from the tree.
export_case() {
	local v=$scratch/volume out=$scratch/out

	title "export: $1, to a directory"
	interleave 5 -b "rm -rf $out" -r "cp -a of the tree" \
		"ours=$dump export -q $v $out" \
		"ours, 1 thread=$dump export -q -j 1 $v $out" \
		"cp -a of the tree=cp -a $tree $out"
	title "export: $1, to tar"
	interleave 5 -b "rm -rf $out $out.tar" -r "tar of the tree" \
		"ours=$dump export -q $v $out.tar" \
		"ours, 1 thread=$dump export -q -j 1 $v $out.tar" \
		"tar of the tree=tar -cf $out.tar -C $tree ."
	rm -rf "$out" "$out.tar"
	title "report: $1"
	interleave 5 -r "check" \
		"ours=$dump report -q $v $out" \
		"ours, --fast=$dump report -q --fast $v $out" \
		"check=$build/fsck/fsck.nilfs2 -fnq $v"
	rm -f "$out"
}

bench_export() {
	local tree case files=${BENCH_FILES:-66}

	for case in ${BENCH_CASES:-small large}; do
		if [ "$case" = small ]; then
			tree=$(BENCH_SMALL=$files "$here/trees.sh" small)
		else
			tree=$scratch/large
			mkdir "$tree"
			head -c 1G /dev/urandom | split -b 128M - "$tree/"
		fi
		"$mkfs" -q -f --size 4G -d "$tree" "$scratch/volume"
		export_case "$([ "$case" = large ] && echo "8 files of 128 MiB" ||
			echo "$files thousand small files")"
		rm -rf "$scratch/large" "$scratch/volume"
	done
}
