#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The lints of objects, and that of density, see a violation in any folder of any
# module: in a small tree like this one, each folder has all of them.
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

for lint in symbols state silence circles; do
	run_lint "$lint" || cat result
done >"$lint_list"
lint_none "the lints of objects pass without a violation"

# A circle of two files, and one of three; and a file of a circle that is known,
# which calls another one without being called.
for file in pair_a:pair_b pair_b:pair_a ring_a:ring_b ring_b:ring_c ring_c:ring_a \
	blockmap:planted_name; do
	printf 'int %s(void);\nint %s(void)\n{\n\treturn %s();\n}\n' \
		"${file#*:}" "${file%:*}" "${file#*:}" >"${file%:*}.c"
	"${CC:-cc}" -O0 -c "${file%:*}.c" || exit 99
done
for folder in $folders; do
	cp pair_?.[co] ring_?.[co] "$folder"
done
cp blockmap.[co] lib/vol
run_lint circles
grep '^#' result | sort >seen
{
	echo "# lib/vol/blockmap.c -> translate.c -> file.c -> blockmap.c: known, but gone"
	for folder in $folders; do
		echo "# $folder/pair_a.c -> pair_b.c (pair_b) -> pair_a.c (pair_a)"
		echo "# $folder/ring_a.c -> ring_b.c (ring_b) -> ring_c.c (ring_c)" \
			"-> ring_a.c (ring_a)"
	done
} | sort | comm -3 - seen >"$lint_list"
lint_none "circles.sh sees a circle in each folder, and one that is gone"
for folder in $folders; do
	rm "$folder"/pair_?.[co] "$folder"/ring_?.[co]
done
rm lib/vol/blockmap.[co]

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

# Density: in each folder lines of a comment, then what is too much.
plant_density()
{
	for folder in $folders; do
		yes ' * text' | sed '1s/.*/\/*/;100s/.*/ *\//;100q' >"$folder/planted.c"
		cat "$@" >>"$folder/planted.c"
	done
}

# Prints the number of lines that match the pattern if it is not that of modules.
unseen_density()
{
	! run_lint density || echo "density.sh passes"
	grep -c "$1" result | grep -vx "$(echo "$lint_modules" | wc -w)"
}

plant_density
{ run_lint density || cat result; } >"$lint_list"
lint_none "density.sh passes without a violation"
for i in 0 1 2 3 4 5 6 7 8 9; do
	printf 'static int f%d(void)\n{\n' "$i"
	printf '\t;\n\t;\n\t;\n}\n'
done >many
plant_density many
unseen_density '^# [0-9.]* functions per 1000 lines, limit' >"$lint_list"
lint_none "density.sh sees too many functions in each module"
{
	printf 'static int f(int a'
	yes ',' | sed 60q
	printf '\tint b)\n{\n}\n\n'
} >wide
plant_density wide
unseen_density '^# [0-9.]* % signatures, braces and blank lines, limit' \
	>"$lint_list"
lint_none "density.sh sees too long a signature in each module"
plant_density
yes ' * text' | sed '1s/.*/\/*/;125000s/.*/ *\//;125000q' >mkfs/planted.c
{
	! run_lint density || echo "density.sh passes"
	grep '^not ok' result | grep -v 'have at most [0-9]* lines$'
} >"$lint_list"
lint_none "density.sh sees too many lines"
lint_done
