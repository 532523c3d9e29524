# SPDX-License-Identifier: GPL-2.0-or-later
# For the lints to source: TAP with one result per question, and the offenders
# as comments under it.
#
#	. "$(dirname "$0")/lint.sh"
#	find . -empty >"$lint_list"
#	lint_none "no file is empty"
#	lint_done
#
# shellcheck shell=sh

set -u
export LC_ALL=C

lint_top=${NILFS2_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
lint_build=${NILFS2_BUILD:-$lint_top}
lint_count=0
lint_failed=0
lint_list=$(mktemp)
lint_objects=
trap 'rm -f "$lint_list" ${lint_objects:+"$lint_objects" "$lint_found"}' EXIT

# One result: passes where the list of offenders is empty; else shows it.
lint_none()
{
	lint_count=$((lint_count + 1))
	if [ -s "$lint_list" ]; then
		lint_failed=1
		echo "not ok $lint_count - $1"
		sed 's/^/# /' "$lint_list"
	else
		echo "ok $lint_count - $1"
	fi
}

lint_done()
{
	echo "1..$lint_count"
	exit "$lint_failed"
}

# The files of the tree whose names match the patterns given to find, by
# their paths from the top; never those of a build inside it.
lint_files()
{
	(cd "$lint_top" && for folder in lib mkfs dump fsck gc man tests examples; do
		if [ -d "$folder" ]; then
			find "$folder" -type f \( "$@" \) -print
		fi
	done | sort)
}

# The modules, by the folders of their objects.
lint_modules='lib/base lib/arc lib/dev lib/disk lib/out lib/vol lib/live lib/log lib/find
lib/check lib/cli mkfs dump fsck gc gc/sim'

# Prints the objects of all modules and their subfolders, by their paths from the
# top of the build.  Tests compile some sources once more, "tests_..."; objects
# whose source is gone were left by an older build.
lint_each_object()
{
	(cd "$lint_build" && find lib mkfs dump fsck gc -name '*.o' \
		! -name 'tests_*' 2>/dev/null | sort) |
	while IFS= read -r lint_path; do
		lint_stem=${lint_path##*/}
		lint_stem=${lint_stem##*-}
		if [ -f "$lint_top/${lint_path%/*}/${lint_stem%.o}.c" ]; then
			echo "$lint_path"
		fi
	done
}

# Runs a program once, on all objects: $lint_objects is their list, $lint_found
# what it prints, in which libdev_a-cache.o of lib/dev is lib/dev/cache.o.
#
#	lint_run_on_objects nm -A -u
#	grep ' U printf$' "$lint_found" >"$lint_list"
#	lint_none_of_modules "does not print"
lint_run_on_objects()
{
	if [ ! -f "$lint_build/config.status" ]; then
		echo "1..0 # SKIP there is no build in $lint_build"
		exit 0
	fi
	lint_objects=$(mktemp)
	lint_found=$(mktemp)
	lint_each_object >"$lint_objects"
	if ! (cd "$lint_build" && xargs -r "$@" 2>/dev/null) \
		<"$lint_objects" >"$lint_list"; then
		echo "Bail out! $1 fails"
		exit 99
	fi
	sed 's|^\([^ :]*/\)[^ :/]*-\([^ :/]*\.o:\)|\1\2|' "$lint_list" \
		>"$lint_found"
}

# Puts before each line, which begins with an object, the module of that.
lint_with_module()
{
	sed -E 's,^(lib/[^/]*|gc/sim|[^/]*)/,\1 &,'
}

# As lint_none() for each module, with the offenders in its objects, whose paths
# the lines begin with; a module without an object fails.
lint_none_of_modules()
{
	lint_with_module <"$lint_list" >"$lint_found"
	lint_bad=" $(sed 's/ .*//' "$lint_found" | sort -u | tr '\n' ' ')"
	lint_built=" $(lint_with_module <"$lint_objects" | sed 's/ .*//' |
		sort -u | tr '\n' ' ')"
	for lint_module in $lint_modules; do
		: >"$lint_list"
		case $lint_bad in
		*" $lint_module "*)
			sed -n "s,^$lint_module ,,p" "$lint_found" >"$lint_list"
			;;
		esac
		case $lint_built in
		*" $lint_module "*) ;;
		*)
			! lint_is_configured "$lint_module" ||
				echo "no object of $lint_module" >>"$lint_list"
			;;
		esac
		lint_none "$lint_module $1"
	done
}

# lib/arc is empty where libarchive is missing.
lint_is_configured()
{
	[ "$1" != lib/arc ] ||
		grep -q '^#define HAVE_LIBARCHIVE 1' "$lint_build/config.h"
}
