# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The language of the .case files, and what runs them; cases/README says what a
# line means.  Load it after ../kernel/lab and damage.

cases_dir=$BATS_TEST_DIRNAME/cases

# case_names PATTERN...: the cases whose names match, without their suffix.
case_names() {
	local file pattern

	for pattern; do
		# shellcheck disable=SC2231
		for file in "$cases_dir"/$pattern.case; do
			[ -f "$file" ] && basename "$file" .case
		done
	done
}

# Questions about the image of the case, each answered by one number.

# A line of "dump.nilfs2 info" about the latest state.
ask_latest() {
	dump.nilfs2 info -v "$image" | awk -F ':  *' -v key="  $1" '
		/^Latest state:/ { inside = 1 }
		inside && $1 == key { print $2; exit }'
}

ask_segment() {
	case $1 in
	current) ask_latest Segment ;;
	next) ask_latest 'Next segment' ;;
	clean) dump.nilfs2 segments -a "$image" |
		awk '$2 ~ /^-*$/ { print $1; exit }' ;;
	# Neither current nor next: what was written and left.
	old) dump.nilfs2 segments "$image" |
		awk '$2 ~ /^-d/ && $7 > 0 { print $1; exit }' ;;
	esac
}

# log latest, or log N [K]: number K of segment N, from 0.
ask_log() {
	case $1 in
	latest) ask_latest 'Log at block' ;;
	*) dump.nilfs2 logs -s "$image" "$1" |
		awk -v n="${2-0}" 'NR == n + 2 { print $2 }' ;;
	esac
}

# listed BLOCK: the first block of the log that has the block.
ask_listed() {
	dump.nilfs2 logs -s "$image" |
		awk -v at="$1" 'NR > 1 && $2 <= at { from = $2 }
			END { print from }'
}

# finfo BLOCK: the number of its file in its log, from 0.
ask_finfo() {
	dump.nilfs2 logs "$image" | awk -v at="$1" '
		/^First block:/ { next_block = $3; n = -1 }
		/^Summary blocks:/ { next_block += $3 }
		$1 == "INO" { n = 0; next }
		n >= 0 && NF == 4 { next_block += $3
			if (next_block > at) { print n; exit }
			n++ }'
}

ask_superroot() { ask_latest 'Super root at block'; }
ask_checkpoint() { ask_latest Checkpoint; }

ask_created() {
	dump.nilfs2 checkpoints -a --json "$image" |
		gojq ".checkpoints[] | select(.checkpoint == $1).created"
}

# map_column COLUMN KIND FILE NUMBER: of the NUMBERth line of that kind.
map_column() {
	dump.nilfs2 bmap -b --nodes "$image" "$3" | awk -v c="$1" \
		-v kind="$2" -v n="$4" '$NF == kind && n-- == 0 { print $c }'
}

# Of a file's mapped blocks or nodes, from 0.
ask_block() { map_column 5 data "$@"; }
ask_vblock() { map_column 4 data "$@"; }
ask_node() { map_column 5 node "$1" "${2-0}"; }
ask_vnode() { map_column 4 node "$1" "${2-0}"; }

ask_inode() {
	dump.nilfs2 inode "$image" "$1" | awk '/^Inode:/ { print $2 }'
}

# entry STATE: the first entry of the DAT in that state.
ask_entry() {
	dump.nilfs2 dat -f "$image" 0..2000 |
		awk -v state="$1" '$NF == state && $2 { print $1; exit }
			$NF == state && state == "free" { print $1; exit }'
}

# at VBLOCK: where the DAT has it.
ask_at() {
	dump.nilfs2 dat "$image" "$1" | awk '/^de_blocknr:/ { print $2 }'
}

# The damage.

set_field() {
	local out

	out=$(dump.nilfs2 set --expert "$1" "$image" "${@:2}" 2>&1) || {
		echo "set ${*:2}: $out"
		return 1
	}
}

damage_zero() {
	overwrite "$1" </dev/zero
}

damage_ones() {
	tr '\0' '\377' </dev/zero | overwrite "$1"
}

damage_copy() {
	dd if="$image" bs="$(block_size)" skip="$1" count=1 \
		status=none >copied && overwrite "$2" <copied
}

# answer WORD...: a number, the name of an answer, or a question, and then what
# to add to it or take from it.
answer() {
	local value sum=()

	case ${*: -2:1} in
	[-+*]) sum=("${@: -2}") && set -- "${@:1:$# - 2}" ;;
	esac
	if [[ $1 =~ ^[0-9]+$ ]]; then
		value=$1
	elif [ "${answers[$1]+known}" ]; then
		value=${answers[$1]}
	else
		value=$("ask_$1" "${@:2}")
	fi
	[[ $value =~ ^[0-9]+$ ]] && echo $((value ${sum[*]}))
}

# One line of a case: fills the variables of run_case(), or damages the image.
case_line() {
	local line=$1 value words

	while [[ $line =~ \{([^{}]*)\} ]]; do
		read -ra words <<<"${BASH_REMATCH[1]}"
		value=$(answer "${words[@]}") || {
			echo "no answer to: ${words[*]}"
			return 1
		}
		line=${line/"${BASH_REMATCH[0]}"/$value}
	done
	read -ra words <<<"$line"
	set -- "${words[@]}"
	case $1 in
	base) case_base "${@:2}" ;;
	let) answers[$2]=$4 ;;
	set) set_field --fix-checksums "${@:2}" ;;
	spoil) set_field --keep-checksums "${@:2}" ;;
	zero | ones | copy) "damage_$1" "${@:2}" ;;
	truncate) truncate -s "$2" "$image" ;;
	options) case_options=("${@:2}") ;;
	expect) case_expected+=("${*:2}") ;;
	exit) case_exit=$2 ;;
	repair) "repair_$2" "${@:3}" ;;
	left) case_left+=("${*:2}") ;;
	touched) case_touched+=("${@:2}") ;;
	latest) case_latest=$2 ;;
	snapshots) case_snapshots=(none "${@:2}") ;;
	*) echo "no such line: $*" && return 1 ;;
	esac
}

# What a repair does: nothing, it takes options, ends otherwise than with 1.
repair_none() { case_unrepaired=$*; }
repair_options() { case_repair=("$@"); }
repair_exit() { case_repaired=$1; }

case_base() {
	case_sound=$corpus/$1/image
	[ "$1" != mkfs ] || base_made "$@" || return
	cp --sparse=always "$case_sound" "$image"
}

base_made() {
	case_sound=$BATS_FILE_TMPDIR/$(cksum <<<"$*" | tr -d ' ').made
	[ ! -f "$case_sound" ] || return 0
	small_tree
	(cd "$BATS_FILE_TMPDIR" &&
		"$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q "${@:2}" "$case_sound")
}

# A tree to fill volumes from, called "tree".
small_tree() {
	local tree=$BATS_FILE_TMPDIR/tree

	[ ! -d "$tree" ] || return 0
	mkdir -p "$tree/dir/sub"
	echo small >"$tree/dir/file"
	ln "$tree/dir/file" "$tree/dir/link"
	ln -s file "$tree/dir/symlink"
	mkfifo "$tree/dir/fifo"
	# A block map of two levels with blocks of 1 KiB.
	head -c 400000 /dev/zero | tr '\0' x >"$tree/large"
}

# case_meets EXPECTATION: "SLUG" or "SLUG at PLACE" is in the lines found.
case_meets() {
	local prefix=${1/ at /: }

	awk -v prefix="$prefix: " 'index($0, prefix) == 1 { seen = 1 }
		END { exit !seen }' found
}

# Each expectation is met, and there is no line that is none of them.
case_compare() {
	local want bad=0

	for want in "${case_expected[@]}"; do
		case_meets "$want" || {
			echo "not found: $want"
			bad=1
		}
	done
	awk -F ': ' '
		NR == FNR { wanted[$1]; next }
		!($1 in wanted) { print "not expected: " $0; bad = 1 }
		END { exit bad }' \
		<(printf '%s\n' "${case_expected[@]%% *}") found || bad=1
	return "$bad"
}

# case_check [OPTION...]: the checker's findings in "found", without what they mean for
# files and the device, its exit status in status.
case_check() {
	status=0
	timeout 60 "$NILFS2_BUILD/fsck/fsck.nilfs2" -fnq "$@" \
		"${case_options[@]}" image >said 2>&1 || status=$?
	grep -vE '^(beyond|damaged|perhaps damaged|restore): ' said >found || :
}

# make_case NAME: reads it, and damages its image.
make_case() {
	local line

	image=image
	case_options=() case_expected=() case_exit=4
	case_repair=() case_repaired=1 case_unrepaired='' case_left=()
	case_touched=() case_latest='' case_snapshots=()
	declare -gA answers=()
	while IFS= read -r line <&3; do
		[ -z "${line%%#*}" ] || case_line "$line" || return 1
	done 3<"$cases_dir/$1.case"
}

# case_findings: the checker finds what the case expects, and changes nothing.
case_findings() {
	local before bad=0 status

	before=$(state_of "$image")
	case_check --all
	case_compare || bad=1
	[ "$status" = "$case_exit" ] || {
		echo "exit status $status instead of $case_exit"
		bad=1
	}
	[ "$(state_of "$image")" = "$before" ] || {
		echo "the image was changed"
		bad=1
	}
	return "$bad"
}
