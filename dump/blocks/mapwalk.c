// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of a block map, for the commands that print the map of a file.
 *
 * A pointer that the DAT cannot translate must not hide the rest of the file, so
 * it becomes a run without a position on the disk.  An extent ends where the disk
 * blocks are not contiguous, as with FIEMAP; virtual numbers need not be
 * contiguous in it.
 */
#include "dump/blocks/mapwalk.h"

#include <errno.h>
#include <string.h>

unsigned int mapwalk_levels(const struct blockmap *map)
{
	struct bmap_node root;

	if (!bmap_is_btree(map->root))
		return 0;
	bmap_root_read(map->root, &root);
	return root.level;
}

int mapwalk_last(const struct blockmap *map, struct context *cx,
		 uint64_t *key)
{
	struct blockmap_cursor cur;
	int ret;

	if (!mapwalk_levels(map)) {
		for (*key = NILFS_DIRECT_NBLOCKS; (*key)-- > 0;)
			if (bmap_direct_ptr(map->root, *key))
				return 1;
		return 0;
	}
	ret = blockmap_cursor_open(&cur, cx, map, UINT64_MAX, false);
	if (!ret && cur.level == 1 && cur.path[1].node.nchildren) {
		*key = bmap_node_key(&cur.path[1].node,
				     cur.path[1].node.nchildren - 1u);
		ret = 1;
	}
	blockmap_cursor_close(&cur);
	return ret;
}

int mapwalk_open(struct mapwalk *walk, struct context *cx,
		 const struct blockmap *map, bool nodes, bool single)
{
	memset(walk, 0, sizeof(*walk));
	walk->map = map;
	walk->single = single;
	return blockmap_cursor_open(&walk->cursor, cx, map, 0, nodes);
}

/* Steps to the next block and counts it: 1, 0 at the end. */
static int next_one(struct mapwalk *walk, struct context *cx,
		    struct maprun *one)
{
	const struct blockmap_level *l;
	struct blockmap_item item;
	int ret;

	ret = blockmap_cursor_next(&walk->cursor, cx, &item);
	if (ret <= 0)
		return ret;
	*one = (struct maprun){
		.blkoff = item.key,
		.last = item.key,
		.count = 1,
		.ptr = item.ptr,
		.level = item.level,
	};
	ret = blockmap_resolve(walk->map, cx, item.ptr, &one->blocknr);
	if (ret && ret != -EUCLEAN)
		return ret;
	if (ret) {
		fail_clear(cx);
		one->blocknr = 0;
	}
	walk->unmapped += !one->blocknr;
	if (item.level) {
		l = &walk->cursor.path[walk->cursor.level];
		one->last = (l->index + 1 < l->node.nchildren
				     ? bmap_node_key(&l->node, l->index + 1)
				     : l->end) - 1;
		walk->nodes++;
		return 1;
	}
	walk->data++;
	if (walk->data == 1 || one->blocknr != walk->disk_end ||
	    one->blkoff != walk->file_end)
		walk->extents++;
	walk->disk_end = one->blocknr + 1;
	walk->file_end = one->blkoff + 1;
	return 1;
}

int mapwalk_next(struct mapwalk *walk, struct context *cx, struct maprun *run)
{
	struct maprun one;
	int ret;

	if (!walk->ahead.count) {
		ret = next_one(walk, cx, &walk->ahead);
		if (ret <= 0)
			return ret;
	}
	*run = walk->ahead;
	walk->ahead.count = 0;
	while (!walk->single) {
		ret = next_one(walk, cx, &one);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		if (run->level || one.level || !run->blocknr || !one.blocknr ||
		    one.blkoff != run->blkoff + run->count ||
		    one.ptr != run->ptr + run->count ||
		    one.blocknr != run->blocknr + run->count) {
			walk->ahead = one;
			break;
		}
		run->last = one.blkoff;
		run->count++;
	}
	return 1;
}

void mapwalk_close(struct mapwalk *walk)
{
	blockmap_cursor_close(&walk->cursor);
}
