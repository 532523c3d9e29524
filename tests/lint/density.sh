#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Density: modules are not cut into too many functions, and the whole is not too
# long.  Prints the figures of each module as comments.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# Lines of lib, mkfs, fsck, gc and dump.
# 115,610, and what these need: mounted volumes (lib/live, gc/live), the rescue of files
# from damaged ones (dump/history), forecasts and what holds the space (dump/volume): 4,500;
# traces, placements and entries of the DAT in gc/sim: 1,300; the names of files with
# damaged data (fsck/data), and what lies beyond the end (lib/check): 1,200; layers added
# to a volume, and states that travel (mkfs, dump/export): 1,100; metadata written twice,
# and its copies as proof: 450; the shell (dump/shell): 1,500; logs of interrupted jobs,
# and states tried: 250; what a mounted volume keeps, and messages that name the next
# command: 140; checks of a repair that are used again: 320; the copies of directory
# blocks, and layouts and entries that logs prove (fsck): 375; the placement by residual
# lives (gc/sim): 300; the lock that is lent, and limits by what is in use (gc/live): 150.
most_lines=127205

# The limits of each module: functions per 1000 lines, and the share of lines, in
# per cent, that are signatures of functions, their braces in column 0, or the blank
# line after a function; both are rounded.  "*" is for modules that are not listed.
# The limits of those that are listed may only fall.  lib/base and lib/disk are leaves,
# whose functions are one formula, one comparison or one field each.
limits='
*		32	14
lib/base	42	17
lib/disk	36	15
lib/log		32	15
'

# "MODULE NAME FIGURE", the figures of a module, and "TOTAL" of all.
measure()
{
	cd "$lint_top" || exit 99
	find lib mkfs dump fsck gc -name '*.[ch]' | sort |
		xargs awk -v modules="$lint_modules" '
	# The module of a file: the longest one that its path begins with.
	function module_of(path,    i, best) {
		for (i = 1; i <= nmodules; i++)
			if (index(path, names[i] "/") == 1 &&
			    length(names[i]) > length(best))
				best = names[i]
		return best
	}
	# Counts the static functions of a file below 12 lines that one other
	# function calls, and that are used in no other way.
	function end_file(    i, j, n, words, word, caller, helpers) {
		for (i = 1; i <= nbody; i++) {
			n = split(body[i], words, /[^A-Za-z0-9_]+/)
			for (j = 1; j <= n; j++) {
				word = words[j]
				if (!(word in size_of) || word == owner[i] ||
				    caller[word] == owner[i] && owner[i] != "")
					continue
				caller[word] = caller[word] == "" &&
					index(body[i], word "(") &&
					owner[i] != "" ? owner[i] : "?"
			}
		}
		for (word in caller)
			helpers += size_of[word] < 12 && caller[word] ~ /[^?]/
		if (helpers > most[m]) {
			most[m] = helpers
			where[m] = file
		}
		split("", size_of)
		nbody = 0
	}
	BEGIN {
		nmodules = split(modules, names, " ")
	}
	FNR == 1 {
		if (file != "")
			end_file()
		file = FILENAME
		m = module_of(file)
		files[m]++
		name = signature = ""
		comment = 0
	}
	{
		lines[m]++
		total++
		after = ended
		ended = 0
		if (name != "")
			size++
	}
	# No words of comments.
	/^[ \t]*\/\*/ { comment = 1 }
	comment {
		comment = !/\*\//
		next
	}
	name != "" && $0 == "}" {
		thin[m]++
		functions[m]++
		sizes[m, functions[m]] = size
		if (size > largest[m]) {
			largest[m] = size
			largest_name[m] = name
		}
		if (signature ~ /^static /)
			size_of[name] = size
		name = signature = ""
		ended = 1
		next
	}
	name != "" || /^[ \t]/ {
		body[++nbody] = $0
		owner[nbody] = name
	}
	name != "" { next }
	# Outside of functions; a signature may have several lines.
	$0 == "" { thin[m] += after }
	$0 == "{" && match(signature, /[A-Za-z_0-9]+\(/) {
		name = substr(signature, RSTART, RLENGTH - 1)
		size = height + 1
		thin[m] += size
		next
	}
	/^$|[;{}]$|^#/ { signature = ""; next }
	{
		gsub(/__attribute__\(\(.*\)\)/, "")
		height = signature == "" ? 1 : height + 1
		signature = signature (signature == "" ? "" : " ") $0
	}
	# The median by counting, as functions are short.
	function median(m,    i, n, at, seen) {
		for (i = 1; i <= functions[m]; i++)
			at[sizes[m, i]]++
		for (n = 0; seen * 2 < functions[m]; n++)
			seen += at[n]
		return n ? n - 1 : 0
	}
	END {
		end_file()
		for (m in lines) {
			print m, "per1000", 1000 * functions[m] / lines[m]
			print m, "share", 100 * thin[m] / lines[m]
			printf "%s figures %d lines, %d files, %d functions, " \
				"median %d, largest %s() %d, single-caller " \
				"helpers %d in %s\n", m, lines[m], files[m],
				functions[m], median(m), largest_name[m],
				largest[m], most[m],
				where[m] == "" ? "any file" : where[m]
		}
		print "TOTAL lines", total + 0
	}'
}

measured=$(measure)
for module in $lint_modules; do
	echo "$measured" | awk -v module="$module" -v limits="$limits" '
	BEGIN {
		n = split(limits, words)
		for (i = 1; i < n; i += 3)
			if (words[i] == module || words[i] == "*" && !per1000) {
				per1000 = words[i + 1]
				share = words[i + 2]
			}
	}
	$1 == module && $2 == "per1000" && $3 >= per1000 + 0.5 {
		printf "%.1f functions per 1000 lines, limit %d\n", $3, per1000
	}
	$1 == module && $2 == "share" && $3 >= share + 0.5 {
		printf "%.1f %% signatures, braces and blank lines, limit %d\n",
			$3, share
	}' >"$lint_list"
	lint_none "$module is not cut too finely"
	echo "$measured" | awk -v module="$module" '
	$1 == module && $2 == "figures" { line = substr($0, index($0, $3)) }
	$1 == module && $2 == "per1000" { per1000 = $3 }
	$1 == module && $2 == "share" { share = $3 }
	END {
		printf "# %s; %.1f functions per 1000 lines, %.1f %%\n", line,
			per1000, share
	}'
done
total=$(echo "$measured" | sed -n 's/^TOTAL lines //p')
echo "# $total lines"
[ "$total" -le "$most_lines" ] && : >"$lint_list" || echo "$total lines" >"$lint_list"
lint_none "lib, mkfs, fsck, gc and dump have at most $most_lines lines"
lint_done
