# SPDX-License-Identifier: GPL-2.0-or-later
# From the registry of rules to the rows of a table: number, slug and text in
# one cell, severity, danger, repair.  A row of the registry may go over several lines and its text be in
# several pieces.

function put(row,    part, n, i, text)
{
	n = split(row, part, "\"")
	slug = part[2]
	gsub(/-/, "\\-", slug)
	split(part[1], before, /[(,] */)
	split(part[3], after, /,[ \t]*/)
	for (i = 4; i <= n; i += 2)
		text = text part[i]
	printf "%s\tT{\n%s:\n%s\nT}\t%s\t%s\t%s\n", before[3], slug, text,
		tolower(after[2]), tolower(after[3]), tolower(after[4])
}

/^RULE\(/ { row = "" ; open = 1 }
open { row = row $0 }
open && /\)$/ { put(row); open = 0 }
