# SPDX-License-Identifier: GPL-2.0-or-later
# live.awk RESULTS: the runs of guest-live.sh as tables, a mean of the seeds with its
# interval of 95 % (Student), and a line for each for goals.awk, of which a run that
# comes to nothing has a thousand writes for a block.

function add(key, name, value) {
	n[key, name]++
	sum[key, name] += value
	squares[key, name] += value * value
}

function mean(key, name) {
	return n[key, name] ? sum[key, name] / n[key, name] : 0
}

function cell(key, name, format,   k, m, t, v) {
	if (stuck[key])
		return stuck[key]
	k = n[key, name]
	if (!k)
		return "-"
	m = mean(key, name)
	if (k < 2)
		return sprintf(format, m)
	split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26", t, " ")
	v = (squares[key, name] - k * m * m) / (k - 1)
	return sprintf(format " +- " format, m,
		(k - 1 in t ? t[k - 1] : 2) * sqrt((v > 0 ? v : 0) / k))
}

{
	key = $3 " | " $2 " % | " $1
	if (!(key in seen)) {
		seen[key] = ++keys
		name[keys] = key
		load[keys] = $3; fill[keys] = $2; who[keys] = $1
	}
	if ($6 == "stuck" || $6 == "slow")
		stuck[key] = $6 ($8 ? " after " $8 : "")
	else if ($3 == "freed")
		add(key, "freed", $6)
	else if (NF > 6) {
		add(key, "device", $7)
		add(key, "amplified", $8)
		if (NF > 8) {
			add(key, "blocks", $10)
			add(key, "cpu", $11)
			add(key, "took", $12)
			add(key, "median", $13)
			add(key, "p99", $14)
			add(key, "most", $15)
			add(key, "waited", $16)
		}
	}
}

END {
	print "| load | fill | collector | write amplification | predicted | device | " \
	      "predicted | blocks of a call | CPU s | median ms | p99 ms | " \
	      "greatest ms | no space, s |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= keys; i++) {
		key = name[i]
		if (load[i] == "freed" || who[i] ~ /^predicted/)
			continue
		foreseen = load[i] " | " fill[i] " % | predicted:" who[i]
		printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", key,
			cell(key, "amplified", "%.2f"),
			cell(foreseen, "amplified", "%.2f"),
			cell(key, "device", "%.2f"), cell(foreseen, "device", "%.2f"),
			cell(key, "blocks", "%.0f"), cell(key, "cpu", "%.1f"),
			cell(key, "median", "%.1f"), cell(key, "p99", "%.0f"),
			cell(key, "most", "%.0f"), cell(key, "waited", "%.1f")
		printf "live: %s, %s %%\t%s\t\t\t\t\t\t\t%.3f\n", load[i], fill[i],
			who[i], stuck[key] ? 1000 : mean(key, "device") >>results
	}
	for (i = 1; i <= keys; i++)
		if (load[i] == "freed" && who[i] !~ /^predicted/)
			printf "%s of %s, every second file deleted: a tenth is clean " \
				"after %s s\n", who[i], fill[i] " %",
				cell(name[i], "freed", "%.2f")
}
