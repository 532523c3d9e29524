# SPDX-License-Identifier: GPL-2.0-or-later
# The least size of a volume of 4 KiB blocks and 8 MiB segments with the files
# that find lists as '%y %s %n %i %p\n', the root first: full B-tree nodes, a
# DAT and an ifile without gaps, directories without space between entries, one
# log a segment.  Prints a table in blocks, then "floor BYTES".

function ceil(n, by) {
	return int((n + by - 1) / by)
}

# Nodes of a B-tree whose root, in the inode, has 3 children at most.
function nodes(blocks,    level, all) {
	for (level = blocks; level > 3 && blocks > 6; all += level)
		level = ceil(level, 255)
	return all + 0
}

# A file with so many blocks: its nodes, and what a summary says of it.
function add(what, blocks) {
	data[what] += blocks
	tree[what] += nodes(blocks)
	summary += (blocks > 0) * 24 + 16 * blocks + 8 * nodes(blocks)
	return blocks + nodes(blocks)
}

# Blocks of a file of N entries that are allocated by bitmaps.
function allocated(n, in_block,    groups) {
	groups = ceil(n, 32768)
	return ceil(n, in_block) + groups + ceil(groups, 1024)
}

{
	path = $0
	sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "", path)
	name = parent = path
	sub(/.*\//, "", name)
	sub(/\/[^\/]*$/, "", parent)
}
NR > 1 {
	entries[parent] += int((length(name) + 19) / 8) * 8
}
$1 == "d" {
	entries[path] += 32
	inodes++
	next
}
$3 > 1 && seen[$4]++ {
	next
}
{
	inodes++
}
$1 == "f" || $1 == "l" {
	virtual += add($1 == "f" ? "files" : "links", ceil($2, 4096))
}

END {
	for (path in entries)
		virtual += add("directories", ceil(entries[path], 4096))
	virtual += add("ifile", allocated(10 + inodes, 32))
	virtual += add("cpfile", 1)
	virtual += add("sufile", ceil(2 + virtual / 2000, 256))
	dat = allocated(virtual + 1, 128)
	summary += 24 + 8 * dat + 16 * nodes(dat)
	data["dat"] = dat
	tree["dat"] = nodes(dat)
	payload = virtual + dat + nodes(dat) + 1
	segments = ceil(payload, 2030)
	data["summaries"] = ceil(summary + 64 * segments, 4096)
	data["super root, superblocks"] = 3
	for (what in data) {
		printf "%-24s %9d blocks %7d nodes\n", what, data[what],
			tree[what]
		floor += 4096 * (data[what] + tree[what])
	}
	printf "floor %.0f\n", floor
}
