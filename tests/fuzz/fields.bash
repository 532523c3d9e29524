# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which fields of which structures are set to what they should not be.  Load it
# after ../kernel/lab.

# A prime, so that each kind of change has its turn.
: "${EVERY:=97}" "${SEED:=1}"

# numbers COUNT COLUMN: as many of a column's numbers, first and last ones; WIDE (1)
# times as many.
numbers() {
	awk -v c="$2" '$c ~ /^[0-9]+$/ { print $c }' |
		awk -v n="$(($1 * ${WIDE-1}))" '{ at[NR] = $1 }
			END {
				for (i = 1; i <= NR; i++)
					if (i <= n / 2 || i > NR - n / 2)
						print at[i]
			}'
}

# Structures of the image $image: of each kind some.
structures() {
	local log

	printf '%s\n' super:1 super:2 superroot cpheader suheader \
		inode:{dat,cpfile,sufile,ifile,/} group:{dat,ifile}/0 \
		bitmap:{dat,ifile}/{0,5,11,13}
	for log in $(dump.nilfs2 logs -s "$image" | numbers 4 2); do
		printf '%s\n' "log:$log" "finfo:$log/0" "binfo:$log/1"
	done
	dump.nilfs2 ls -iR "$image" | numbers 8 1 | sed 's/^/inode:/'
	for file in dat ifile cpfile "$@"; do
		dump.nilfs2 bmap --nodes "$image" "$file" |
			awk '$NF == "node" { print "node:" $5 }' | head -n 2
	done
	dump.nilfs2 dat -a "$image" | numbers 8 1 | sed 's/^/dat:/'
	dump.nilfs2 checkpoints -a "$image" | numbers 6 1 |
		sed 's/^/checkpoint:/'
	dump.nilfs2 segments -a "$image" | numbers 4 1 | sed 's/^/segment:/'
	dump.nilfs2 ls -a "$image" | grep -v '^dirent' |
		awk '/^[a-z.0-9-]+$/ { print "dirent:2/" $0 }' | head -n 6
}

# program MODE: of fields.c, the one that has it.
program() {
	case $1 in
	check | repair) echo fields ;;
	read | read-all) echo fields_dump ;;
	add) echo fields_mkfs ;;
	*) echo fields_gc ;;
	esac
}

# damage MODE IMAGE [FILE...]: MODE is one of fields.c.
damage() {
	local image=$corpus/$2/image

	structures "${@:3}" >"$BATS_TEST_TMPDIR/structures"
	damage_all "$1" "$EVERY"
}

# damage_nodes MODE IMAGE: few, so one change in seven.
damage_nodes() {
	local image=$corpus/$2/image file

	for file in dat ifile; do
		dump.nilfs2 bmap --nodes -b "$image" "$file" |
			awk '$NF == "node" { print "node:" $5 }'
	done >"$BATS_TEST_TMPDIR/structures"
	damage_all "$1" $(((EVERY + 13) / 14))
}

# damage_all MODE EVERY: of $image, what is listed.
damage_all() {
	cd "$BATS_TEST_TMPDIR" || return 1
	run timeout 20000 "$NILFS2_BUILD/tests/fuzz/$(program "$1")" "$1" "$image" \
		"$2" "$SEED" <structures
	# A line for each case, and after it what is wrong with it.
	[ "$status" -eq 0 ] || awk '/^fields / { last = $0; next }
		{ if (last) print last; last = ""; print }' <<<"$output" | head -n 200
	[ "$status" -eq 0 ]
	echo "${lines[-1]}"
	[[ ${lines[-1]} == *changes ]]
}
