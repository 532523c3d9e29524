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
trap 'rm -f "$lint_list"' EXIT

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

# The archives of some modules: those that are built.
lint_archives()
{
	for module in "$@"; do
		if [ -f "$lint_build/lib/$module/lib$module.a" ]; then
			echo "$lint_build/lib/$module/lib$module.a"
		fi
	done
}
