# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the checker must say of the damage of a .case file, and what a repair must do
# with it; cases/README says what the lines about it mean.  A bats file of such cases needs to load nothing
# else.
#
# The oracle is the volume before the damage: what the damage does not concern
# must be what it was, in the latest state and in every snapshot.

load ../kernel/lab
load damage
load cases
load repairs_kernel

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# trees IMAGE DIR [CNO]: the archives of its states in DIR: of the latest one,
# or of checkpoint CNO in its place, as "latest", of snapshots by their number.
trees() {
	local cno

	mkdir -p "$2"
	# A socket that an archive cannot hold is a status too.
	dump.nilfs2 export -q ${3:+-c "$3"} "$1" - >"$2/latest" 2>"$2/said"
	for cno in $(snapshots_of "$1"); do
		dump.nilfs2 export -q -c "$cno" "$1" - >"$2/$cno" 2>>"$2/said"
	done
	grep -v 'sockets left out' "$2/said" | head -n 3
	return 0
}

snapshots_of() {
	dump.nilfs2 checkpoints -s "$1" | awk '$1 ~ /^[0-9]+$/ { print $1 }'
}

# sound_trees: the directory with those of the case's volume before the damage.
sound_trees() {
	local dir=$case_sound.${case_latest:-latest}

	dir=$BATS_FILE_TMPDIR/trees.${dir//\//.}
	[ -d "$dir" ] || trees "$case_sound" "$dir" $case_latest >&2
	echo "$dir"
}

# tree_lines DIR STATE: of an archive; paths of a snapshot begin with "CNO:".
tree_lines() {
	local prefix=$2:

	[ "$2" != latest ] || prefix=
	perl "$BATS_TEST_DIRNAME/tarlist.pl" "$prefix" <"$1/$2" | sort
}

# differing A B STATE: the paths that are not the same in both.
differing() {
	cmp -s "$1/$3" "$2/$3" && return
	diff <(tree_lines "$1" "$3") <(tree_lines "$2" "$3") |
		sed -n 's/^[<>] \([^\t]*\)\t.*/\1/p' | sort -u
}

# Every path that differs is one that the case names, and each that it names
# differs somewhere.
compare_touched() {
	local path pattern bad=0
	local -A met=()

	while IFS= read -r path; do
		for pattern in "${case_touched[@]}"; do
			# shellcheck disable=SC2053
			[[ $path == $pattern ]] || continue
			met[$pattern]=1
			continue 2
		done
		bad=$((bad + 1))
		[ "$bad" -gt 3 ] || echo "was changed: $path"
	done
	[ "$bad" -lt 4 ] || echo "were changed, besides: $((bad - 3))"
	for pattern in "${case_touched[@]}"; do
		[ "${met[$pattern]-}" ] || {
			echo "is what it was: $pattern"
			bad=1
		}
	done
	[ "$bad" -eq 0 ]
}

wanted_snapshots() {
	if [ ${#case_snapshots[@]} -eq 0 ]; then
		snapshots_of "$case_sound"
	else
		printf '%s\n' "${case_snapshots[@]:1}"
	fi
}

# The states after the repair are those before the damage.
case_trees() {
	local sound state bad=0

	sound=$(sound_trees)
	rm -rf trees
	trees "$image" trees || bad=1
	diff <(wanted_snapshots) <(snapshots_of "$image") |
		sed -n 's/^>/not a snapshot before:/p; s/^</lost snapshot:/p'
	[ "${PIPESTATUS[0]}" -eq 0 ] || bad=1
	compare_touched < <(
		for state in latest $(wanted_snapshots); do
			differing "$sound" trees "$state"
		done) || bad=1
	return "$bad"
}

# A whole check is what a repair costs: the first one, one of derived blocks or
# of what other findings hid, and one of the result.  One more where no derivation
# was better before another repair, or more was to be derived after it, and for what was
# synced.
case_four_checks=" bmap-vblock-free.cpfile bmap-vblock-free.sufile
	inode-free.synced inode-symlink-target log-numbers.cleaned
	palloc-entry-missing.older su-active-clean.hole su-unreadable "

case_checks() {
	local most=3 n

	[[ $case_four_checks != *[[:space:]]"$case_name"[[:space:]]* ]] || most=4
	n=$(grep -c ': segments: checking segments$' said)
	[ "$n" -le "$most" ] && return
	echo "the repair: $n whole checks instead of $most"
	return 1
}

# repair [OPTION...]: repairs the image; what it says is in "said".
repair() {
	status=0
	rm -f undo
	timeout 120 "$NILFS2_BUILD/fsck/fsck.nilfs2" -fyv \
		"${case_options[@]}" "$@" --undo-file undo "$image" \
		>said 2>&1 || status=$?
}

wanted_status() {
	[ "$status" = "$1" ] && return
	echo "the repair: exit status $status instead of $1"
	grep -v '^ ' said | tail -n 5
	return 1
}

# Nothing repairs it, so nothing is changed.
case_none() {
	repair "${case_repair[@]}"
	[ "$status" = "$case_exit" ] || wanted_status "$case_exit" || return
	[ "$(image_sum "$image")" = "$before" ] || {
		echo "the image was changed, though nothing repairs it"
		return 1
	}
}

# What was written over can be brought back, to the last byte.
case_undo() {
	[[ " $case_undone " == *" $case_name "* ]] || return 0
	cp --sparse=always "$image" undone
	"$NILFS2_BUILD/fsck/fsck.nilfs2" --undo undo undone >said 2>&1 &&
		[ "$(image_sum undone)" = "$before" ] && return
	echo "cannot be undone: $(tail -n 1 said)"
	return 1
}

# status_of SLUG...: of a check that finds these.
status_of() {
	local slug

	for slug; do
		grep -q "\"$slug\", WARNING," \
			"$NILFS2_SOURCE/lib/disk/rules.def" || {
			echo 4
			return
		}
	done
	echo 0
}

# What the checker says after the repair is what is left, no more and no less;
# what was wrong still is in a plain checkpoint, and is not asked for.
case_again() {
	local bad=0 case_expected=("${case_left[@]}")

	case_check
	case_compare | sed 's/^not expected/is left/; s/^not found/is repaired/'
	[ "${PIPESTATUS[0]}" -eq 0 ] || bad=1
	[ "$status" = "$(status_of "${case_left[@]%% *}")" ] || {
		echo "checked again: exit status $status"
		bad=1
	}
	return "$bad"
}

# A case that has been made is repaired; says what is wrong.
case_repair() {
	local before status bad=0

	before=$(image_sum "$image")
	[ -z "$case_unrepaired" ] || { case_none; return; }
	repair "${case_repair[@]}"
	wanted_status "$case_repaired" || bad=1
	case_checks || bad=1
	case_undo || bad=1
	case_again || bad=1
	case_trees || bad=1
	return "$bad"
}

# In a table, a line for each case: what became of it.
note_case() {
	local state=repaired

	[ -z "$case_unrepaired" ] || state=unrepaired
	[ ${#case_left[@]} -eq 0 ] || state=left
	[ "$2" -eq 0 ] || state=FAILS
	printf '%-9s %-32s %s\n' "$state" "$1" \
		"$(cut -c 1-60 <why | head -n 5 | paste -sd ';')" \
		>>"$REPAIRS_TABLE"
}

# keep_repaired NAME: for a kernel to look at.
keep_repaired() {
	local repaired=$BATS_FILE_TMPDIR/repaired

	[ -n "$case_unrepaired" ] || [ ${#case_left[@]} -gt 0 ] || {
		mkdir -p "$repaired" && mv "$image" "$repaired/$1"
	}
}

# repair_cases PATTERN...: all of them, a third of the repairs undone as well; fails
# where one does, and shows why.
repair_cases() {
	local name bad=0 failed -

	set +T
	cd "$BATS_TEST_TMPDIR" || return 1
	case_undone=$(sample 1/3 $(case_names "$@") | paste -sd ' ')
	for name in $(case_names "$@"); do
		failed=0 case_name=$name
		{ make_case "$name" && case_findings && case_repair; } \
			>why 2>&1 || failed=1
		[ -z "${REPAIRS_TABLE-}" ] || note_case "$name" "$failed"
		[ "$failed" -eq 0 ] || {
			echo "case $name:"
			cat why
			bad=1
			continue
		}
		keep_repaired "$name"
	done
	[ "$bad" -eq 0 ]
}

# A sample of the volumes that all the tests of a file have repaired, under the
# kernel.
kernel_takes_repaired() {
	local sampled=$BATS_FILE_TMPDIR/sampled name

	need_guest uml
	mkdir "$sampled"
	cd "$BATS_FILE_TMPDIR/repaired" || return 1
	for name in $(sample 8 *); do
		mv "$name" "$sampled"
	done
	kernel_takes "$sampled"
}
