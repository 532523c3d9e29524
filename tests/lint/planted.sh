#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The lints of objects see a violation in any folder of any module: in a small
# tree like this one, each folder has an object with all of them.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

lints=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$lint_list" "$tree"' EXIT

if ! command -v "${CC:-cc}" >/dev/null; then
	echo "1..0 # SKIP there is no compiler"
	exit 0
fi

# All folders of sources.  The objects have one name in all of them.
folders=$(cd "$lint_top" && find lib mkfs dump fsck gc -name '*.c' |
	sed 's|/[^/]*$||' | sort -u)
cd "$tree" || exit 99
cat >sound.c <<'SOUND'
static const char *const names[] = { "one", "two" };
const char *planted_name(int i);
const char *planted_name(int i)
{
	return names[i];
}
SOUND
cat >bad.c <<'BAD'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int kept_data = 1;
int kept_zero;
int badly_named(void);
int badly_named(void)
{
	static int kept_local;
	static __thread int kept_thread = 1;

	printf("%d", kept_local++ + kept_thread++);
	return getenv("HOME") && time(NULL) > 0;
}
BAD
"${CC:-cc}" -O0 -c sound.c bad.c || exit 99
printf '#define HAVE_LIBARCHIVE 1\n' >config.h
: >config.status
for folder in $folders; do
	mkdir -p "$folder"
	cp sound.c "$folder/planted.c"
	cp sound.o "$folder/planted.o"
	# The objects of tests, and of sources that are gone, are not looked at.
	cp bad.o "$folder/tests_planted-planted.o"
	cp bad.o "$folder/gone.o"
done

# Runs a lint on the small tree: 0 where it passes.
run_lint()
{
	NILFS2_BUILD=$tree NILFS2_SOURCE=$tree sh "$lints/$1.sh" >result
}

# Lists what a lint has not seen: each of the names, in each folder but those of
# lib/cli, which is not silent.
unseen_by()
{
	lint=$1
	shift
	! run_lint "$lint" || echo "$lint.sh passes"
	sed -nE 's|^# (.*)/planted\.o ([a-z_]*).*|\1: \2|p' result | sort >seen
	for folder in $folders; do
		[ "$lint $folder" = "silence lib/cli" ] ||
			printf "$folder: %s\n" "$@"
	done | sort | comm -23 - seen
}

for lint in symbols state silence; do
	run_lint "$lint" || cat result
done >"$lint_list"
lint_none "the lints of objects pass without a violation"

for folder in $folders; do
	# One with the name of its archive, as automake gives it, is no other.
	rm "$folder/planted.o"
	cp bad.o "$folder/libplanted_a-planted.o"
done
unseen_by symbols badly_named kept_data kept_zero >"$lint_list"
lint_none "symbols.sh sees a badly named export in each folder"
unseen_by state kept_data kept_zero kept_local kept_thread >"$lint_list"
lint_none "state.sh sees each kind of variable in each folder"
unseen_by silence printf getenv time >"$lint_list"
lint_none "silence.sh sees calls that are not silent in each folder"

find . -name '*.o' -exec rm {} +
for lint in symbols state silence; do
	run_lint "$lint" && echo "$lint.sh passes"
	sed -n 's/^# no object of //p' result | sort >seen
	echo "$lint_modules" | tr ' ' '\n' | sort | comm -23 - seen |
		grep -vx "$([ $lint != silence ] || echo lib/cli)"
done >"$lint_list"
lint_none "a module without an object fails"
lint_done
