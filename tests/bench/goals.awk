# SPDX-License-Identifier: GPL-2.0-or-later
# goals.awk GOALS RESULTS: the goals beside what "interleave -o" measured, as one
# table.  A goal that no result belongs to is left out.

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

# The figure MEASURE of LABEL in the first table whose title matches TITLE, or "".
function figure(title, label, measure,   i) {
	for (i = 1; i <= nresults; i++)
		if (tables[i] ~ title && labels[i] == label)
			return figures[i, measure]
	return ""
}

function row(i,   ours, base, reached) {
	ours = figure(title[i], mine[i], measure[i])
	base = other[i] == "-" ? 1 : figure(title[i], other[i], measure[i])
	if (ours == "" || base == "" || base == 0)
		return
	reached = ours / base
	if (!header++) {
		print "| work | measured | beside | beside | ours | ratio | goal | |"
		print "|---|---|---|---|---|---|---|---|"
	}
	printf "| %s | %s | %s | %s | %.2f | %.2f | %s | %s |\n", work[i],
		names[measure[i]], other[i] == "-" ? "" : other[i],
		other[i] == "-" ? "" : sprintf("%.2f", base), ours, reached,
		goal[i], reached <= goal[i] * 1.005 ? "met" : "not met"
}

BEGIN {
	names["wall"] = "ms"
	names["least"] = "ms, least"
	names["cpu"] = "ms of CPU"
	names["leastcpu"] = "ms of CPU, least"
	names["rss"] = "MiB resident"
	names["read"] = "MiB read"
	names["device"] = "blocks written to the device for one of the user"
	split("wall least cpu leastcpu rss read device", columns, " ")
}

NR == FNR && /^[^#]/ {
	split($0, f, "|")
	n++
	work[n] = trim(f[1]); title[n] = trim(f[2]); mine[n] = trim(f[3])
	other[n] = trim(f[4]); measure[n] = trim(f[5]); goal[n] = trim(f[6])
}

NR != FNR {
	split($0, f, "\t")
	nresults++
	tables[nresults] = f[1]
	labels[nresults] = f[2]
	for (c = 1; c in columns; c++)
		figures[nresults, columns[c]] = f[c + 2]
}

END {
	for (i = 1; i <= n; i++)
		row(i)
}
