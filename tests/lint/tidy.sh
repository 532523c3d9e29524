#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tidy.sh FLAG...: clang-tidy over all C files, which are compiled with FLAGs: the
# checks of .clang-tidy, and the analyzer, which is that of scan-build.
# tidy.txt lists what it is wrong about.  TIDY_FOLDERS has other folders than all.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

command -v clang-tidy >/dev/null || {
	echo "Bail out! clang-tidy not found: apt-get install clang-tidy"
	exit 99
}
known=$lint_top/tests/lint/tidy.txt
found=$(mktemp) all=$(mktemp)
trap 'rm -f "$lint_list" "$found" "$all"' EXIT
folders=${TIDY_FOLDERS:-lib mkfs dump fsck gc tests}

# What is found in FILEs, each once: "FILE:LINE:COLUMN: warning: TEXT [CHECK]".
reports()
{
	printf '%s\n' "$files" | sed "s,^,$lint_top/," |
		xargs -P "$(nproc)" -I FILE clang-tidy -quiet FILE -- "$@" 2>/dev/null |
		grep -E '^/[^ ]*: (warning|error): ' |
		sed "s,^$lint_top/,," | sort -u
}

# Where FLAGs that name folders are relative to.
cd "$lint_build" || exit 99
for folder in $folders; do
	files=$(lint_files -name '*.c' | grep "^$folder/")
	reports "$@" >"$found"
	cat "$found" >>"$all"
	awk -v known="$known" '
		BEGIN {
			while ((getline line <known) > 0)
				if (line !~ /^(#|$)/)
					is_known[line]
		}
		{
			file = $1
			sub(/:.*/, "", file)
			check = $NF
			gsub(/[][]/, "", check)
			if (!(check ":" file in is_known))
				print
		}' "$found" >"$lint_list"
	lint_none "clang-tidy finds nothing in $folder"
	reported=$((${reported:-0} + $(wc -l <"$lint_list")))
done

# What is listed without need hides what will be found there.
grep -v '^#' "$known" | while IFS=: read -r check file; do
	case " $folders " in
	*" ${file%%/*} "*) ;;
	*) continue ;;
	esac
	grep -q "^$file:.*\[$check\]\$" "$all" ||
		echo "tests/lint/tidy.txt: $check is not found in $file"
done >"$lint_list"
lint_none "all that is listed is found"
echo "# clang-tidy: $reported reports in $(lint_files -name '*.c' |
	grep -c -E "^($(echo "$folders" | tr ' ' '|'))/") files"
lint_done
