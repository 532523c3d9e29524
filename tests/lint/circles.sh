#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# No calls in a circle between the files of a folder: a file is understood, and
# changed, with those that it calls.  (layers.sh looks at calls between folders.)
# A circle is repaired by moving a function to the file where it belongs, by a
# file for the lower step, or by one file instead of two.
# shellcheck source=tests/lint/lint.sh
. "$(dirname "$0")/lint.sh"

# Circles that stay, one a line, as they are printed, without functions.  No line
# may be added, and one whose circle is gone must be removed.  Maps of files lead
# to blocks through the DAT, which is a file with a map.
known='lib/vol/blockmap.c -> translate.c -> file.c -> blockmap.c'

# Prints "FOLDER/a.c -> b.c (functions that a.c calls) -> a.c (functions)", the
# shortest circle through each file, once.
lint_run_on_objects nm -A
awk -v known="$known" '
	# Prints the shortest path from START back to it, beginning with the file
	# whose name is the first.
	function find_circle(start,    queue, head, tail, from, i, n, to, path, k,
			     first, name, text, circle) {
		queue[tail = 1] = start
		for (head = 1; head <= tail; head++) {
			n = split(callees[queue[head]], to)
			for (i = 1; i <= n && to[i] != start; i++)
				if (!(to[i] in from)) {
					from[to[i]] = queue[head]
					queue[++tail] = to[i]
				}
			if (i <= n)
				break
		}
		if (head > tail)
			return
		# From its end on.
		path[k = 1] = start
		for (name = queue[head]; name != start; name = from[name])
			path[++k] = name
		first = 1
		for (i = 2; i <= k; i++)
			if (path[i] < path[first])
				first = i
		text = path[first]
		for (i = first - 1; i >= first - k; i--) {
			name = path[i > 0 ? i : i + k]
			text = text " -> " substr(name, length(folder_of(name)) + 1) \
				" (" functions[path[i >= 0 ? i + 1 : i + k + 1], name] ")"
		}
		gsub(/\.o/, ".c", text)
		circle = text
		gsub(/ \([^)]*\)/, "", circle)
		found[circle] = 1
		if (!(circle in is_known))
			print text
	}
	{
		object = $1
		sub(/:.*/, "", object)
	}
	# Programs may have functions of the same name, in folders of their own.
	$(NF - 1) == "T" { object_of[folder_of(object), $NF] = object }
	$(NF - 1) == "U" { uses[++nuses] = object " " $NF }
	function folder_of(path) {
		sub(/[^\/]*$/, "", path)
		return path
	}
	END {
		for (i = 1; i <= nuses; i++) {
			split(uses[i], use)
			callee = object_of[folder_of(use[1]), use[2]]
			if (callee == "")
				continue
			if (!((use[1], callee) in functions))
				callees[use[1]] = callees[use[1]] " " callee
			# Two functions are enough to find the calls.
			if (++count[use[1], callee] <= 2)
				functions[use[1], callee] = use[2] \
					(count[use[1], callee] > 1 ? " " \
					functions[use[1], callee] : "")
		}
		n = split(known, circles, "\n")
		for (i = 1; i <= n; i++)
			is_known[circles[i]] = 1
		for (object in callees)
			find_circle(object)
		for (circle in is_known) {
			object = circle
			sub(/\.c .*/, ".o", object)
			if (object in callees && !(circle in found))
				print circle ": known, but gone"
		}
	}' "$lint_found" | sort -u >"$lint_list"
lint_none_of_modules "has no calls in a circle between files of one folder"
lint_done
