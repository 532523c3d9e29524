# SPDX-License-Identifier: GPL-2.0-or-later
# Lines "LOAD FILL SEED NAME WAF" of residual/marginal, of the same with as many clean
# segments as the others ("fair"), and of others: a line for each load and fill, with
# the other one whose mean is best.  Ratios are those of each seed, with an interval of
# 95 % by Student's distribution.

function row_of(name,    i, n, sum, squares, ratio, mean)
{
	for (i = 1; i <= seeds; i++) {
		ratio = waf[key, i, name] / waf[key, i, best]
		sum += ratio
		squares += ratio * ratio
	}
	n = seeds
	mean = sum / n
	logs[name] += log(mean)
	if (mean > worst[name])
		worst[name] = mean
	spread = "-"
	if (n > 1)
		spread = sprintf("%.3f", student[n < 7 ? n : 7] * \
			sqrt((squares - n * mean * mean > 0 ? \
			squares - n * mean * mean : 0) / (n - 1) / n))
	return sprintf("%.3f|%s", mean, spread)
}

{
	key = $1 "|" $2
	if (!(key in known))
		keys[++rows] = key
	known[key]
	waf[key, $3, $4] = $5
	sums[key, $4] += $5
	names[$4]
	if ($3 > seeds)
		seeds = $3
}

END {
	split("0 12.706 4.303 3.182 2.776 2.571 2.447", student, " ")
	ours = "residual/marginal"
	print "load|full|best of the others|written|residual|ratio|+-|" \
		"with 7 clean|+-"
	for (row = 1; row <= rows; row++) {
		key = keys[row]
		best = ""
		for (name in names)
			if (name != ours && name != "fair" && (best == "" || \
			    sums[key, name] < sums[key, best]))
				best = name
		printf "%s %%|%s|%.3f|%.3f|%s|%s\n", key, best,
			sums[key, best] / seeds, sums[key, ours] / seeds,
			row_of(ours), row_of("fair")
	}
	printf "geometric mean|||||%.3f||%.3f|\n", exp(logs[ours] / rows),
		exp(logs["fair"] / rows)
	printf "worst|||||%.3f||%.3f|\n", worst[ours], worst["fair"]
}
