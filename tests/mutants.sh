#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Deliberate faults, and whether a test finds them.
#
#	mutants.sh [--list] [--only N] [--tests LIST]
#
#	--list		prints the plan, changes nothing
#	--only N	one mutant, again if it was judged
#	--tests LIST	instead of all tests: "unit", or names
#
# COUNT (30) mutants, each with an edit of one line, are chosen by mutants.pl from
# SEED (1) and the source.  They are made and built in $NILFS2_BUILD/mutants; the
# source is not changed.  Tests run in stages, up to the first that fails: unit
# tests of the module, all unit tests, the folder of the tool, the rest without
# lints.  A stage that exceeds its time limit has found the mutant.  A test counts
# only if it passes in $NILFS2_BUILD.
#
# Results are appended to $NILFS2_BUILD/mutants-SEED.txt.  What all tests have judged
# is not judged again.  A mutant that is not found is a missing test, or the same
# program in other words.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/.." && pwd)
build=$(cd "${NILFS2_BUILD:?}" && pwd)
seed=${SEED:-1} count=${COUNT:-30}
at=$build/mutants
results=$build/mutants-$seed.txt
make=${MAKE:-make}
limits=(300 900 3600 14400)
list= only= tests=
while [ $# -gt 0 ]; do
	case $1 in
	--list) list=1 ;;
	--only) only=$2; shift ;;
	--tests) tests=$2; shift ;;
	*) sed -n '3,21s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	esac
	shift
done
export LC_ALL=C

# copy_source: the source as it is, without builds, and a plain build of it.
copy_source()
{
	rm -rf "$at"
	mkdir -p "$at/source" || return
	# A build is known by its config.status.
	(cd "$source" && find . -name .git -prune -o -type d \
		-exec test -e '{}/config.status' \; -prune -o -type f -print0 | tar -c --null --no-recursion -T -) |
		tar -x -C "$at/source" || return
	"$at/source/scripts/build.sh" "$at/build" CFLAGS=-O2
}

# objects FILE: what its code compiles to, in all programs.
objects()
{
	local name=${1##*/}

	(cd "$at/build/${1%/*}" && cat ./"${name%.c}".o ./*-"${name%.c}".o) \
		2>/dev/null | cksum
}

# stage NUMBER MODULE: its tests.
stage()
{
	local unit folder

	if [ -n "$tests" ]; then
		[ "$1" -eq 1 ] || return 0
		if [ "$tests" = unit ]; then
			grep '^tests/unit/' "$at/tests"
		else
			tr ' ' '\n' <<<"$tests"
		fi
		return
	fi
	case $2 in
	lib/check | lib/find | fsck) folder=fsck ;;
	lib/log | gc | gc/sim) folder=gc ;;
	mkfs) folder=mkfs ;;
	*) folder=dump ;;
	esac
	unit=tests/unit/t_${2##*/}
	awk -v n="$1" -v unit="$unit" -v folder="tests/$folder/" '
	{
		if ($0 == unit || index($0, unit "_") == 1)
			s = 1
		else if (/^tests\/unit\//)
			s = 2
		else
			s = index($0, folder) == 1 ? 3 : 4
	}
	s == n' "$at/tests"
}

# run BUILD SECONDS TEST
run()
{
	case $3 in
	tests/unit/*)
		(cd "$1" && export NILFS2_BUILD="$1" && "$make" -s "$3" &&
			timeout -k 10 "$2" "$3" >"$at/test" && ! grep -q '^not ok' "$at/test") ;;
	*)
		timeout -k 10 "$2" "$make" -s -C "$1" check-TESTS TESTS="$3" ;;
	esac </dev/null >"$at/run.log" 2>&1
}

# sound TEST: passes without the mutant.
sound()
{
	grep -qxF "$1" "$at/sound" 2>/dev/null && return
	grep -qxF "$1" "$at/unsound" 2>/dev/null && return 1
	if run "$build" 3600 "$1"; then
		echo "$1" >>"$at/sound"
	else
		echo "$1" >>"$at/unsound"
		return 1
	fi
}

# find_it MODULE: prints what has found the mutant, or nothing.
find_it()
{
	local number test end left

	for number in 1 2 3 4; do
		end=$((SECONDS + limits[number - 1]))
		for test in $(stage "$number" "$1"); do
			left=$((end - SECONDS))
			if [ "$left" -le 0 ]; then
				echo "the time limit of stage $number"
				return
			fi
			run "$at/build" "$left" "$test" && continue
			sound "$test" || continue
			echo "$test"
			return
		done
	done
}

# restore FILE: newer than its objects.
restore()
{
	cat "$at/orig" >"$at/source/$1"
}

# mutate FILE LINE TEXT: builds it; fails if it does not compile, or is equal.
mutate()
{
	local before

	"$make" -s -C "$at/build" >"$at/make.log" 2>&1 || {
		cat "$at/make.log"
		exit 1
	}
	before=$(objects "$1")
	cp "$at/source/$1" "$at/orig" || exit
	L=$2 T=$3 awk 'NR == ENVIRON["L"] { print ENVIRON["T"]; next } 1' \
		"$at/orig" >"$at/source/$1"
	"$make" -s -C "$at/build" >"$at/make.log" 2>&1 &&
		[ "$(objects "$1")" != "$before" ] && return
	restore "$1"
	return 1
}

# table COLUMN TITLE HEADER: of the latest result of each mutant.
table()
{
	awk -v column="$1" -v title="$2" -v header="$3" '
	{ last[$2] = $0 }
	END {
		for (n in last) {
			split(last[n], word, " ")
			name = word[column]
			if (column == 4 && !sub(/^lib\/[a-z]*\//, "&", name))
				name = name ~ /^gc\/sim\// ? "gc/sim/" : name
			if (column == 4) {
				match(name, /^(lib\/[a-z]+|gc\/sim|[a-z]+)/)
				name = substr(name, 1, RLENGTH)
			}
			cases[name]++
			missed[name] += last[n] ~ /  NOT FOUND/
		}
		printf "%-12s %6s %8s\n", title, "CASES", header
		for (name in cases)
			printf "%-12s %6d %8d\n", name, cases[name],
				missed[name] | "sort"
	}' "$results"
}

plan=$(perl "$here/mutants.pl" "$source" "$seed" "$count" 20) || exit
if [ -n "$list" ]; then
	echo "SEED=$seed"
	awk -F '\t' '!seen[$1]++ {
		printf "MUTANT %d %s %s:%d %s -> %s\n", $1, $3, $4, $5, $6, $7
	}' <<<"$plan"
	exit
fi

if [ -e "$source/config.status" ]; then
	echo "mutants.sh needs a build outside of the source" >&2
	exit 2
fi
echo "SEED=$seed"
# The copy is made again if the source has changed.
sum=$(cd "$source" && find lib mkfs dump fsck gc tests Makefile.am configure.ac \
	-type f ! -name '*.log' ! -name '*.trs' ! -name '*.o' ! -name '*.a' \
	-exec cksum {} + | sort | cksum)
if [ "$(cat "$at/made" 2>/dev/null)" != "$sum" ]; then
	copy_source || exit
	echo "$sum" >"$at/made"
fi
if [ -f "$at/mutated" ]; then
	cp "$source/$(cat "$at/mutated")" "$at/orig"
	restore "$(cat "$at/mutated")"
	rm -f "$at/mutated"
fi
"$make" -s -C "$at/build" list-parsers list-others | tr ' ' '\n' |
	grep '^tests/' | grep -v '^tests/lint/' >"$at/tests"
export NILFS2_BUILD=$at/build NILFS2_SOURCE=$at/source
PATH=$at/build/dump:$at/build/fsck:$at/build/gc:$at/build/gc/sim:$at/build/mkfs:$PATH
touch "$results"

judged=
while IFS=$'\t' read -r number module kind file line old new text; do
	[ -z "$only" ] || [ "$number" = "$only" ] || continue
	[ "$number" != "$judged" ] || continue
	name="MUTANT $number $kind $file:$line $old -> $new"
	# Not what was judged by some of the tests only.
	if [ -z "$only$tests" ] &&
			grep -F "$name  " "$results" | grep -Eq '(s|NOT FOUND)$'; then
		judged=$number
		continue
	fi
	echo "$file" >"$at/mutated"
	if ! mutate "$file" "$line" "$text"; then
		rm -f "$at/mutated"
		continue
	fi
	judged=$number
	begin=$SECONDS
	found=$(find_it "$module")
	if [ -n "$found" ]; then
		verdict="found by $found in $((SECONDS - begin)) s"
	else
		verdict="NOT FOUND${tests:+ by $tests}"
	fi
	echo "$name  $verdict" | tee -a "$results"
	restore "$file"
	rm -f "$at/mutated"
done <<<"$plan"

# Only one of the tables is what tests/long.sh adds up.
table 3 KIND "NOT FOUND"
table 4 MODULE FAILED
! grep -q '  NOT FOUND' <(awk '{ last[$2] = $0 } END { for (n in last) print last[n] }' \
	"$results")
