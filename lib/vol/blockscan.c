// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a small file in order, through the cache.
 *
 * Checkpoints and directories are read this way: block by block, holes left
 * out, with the rest of a run read ahead in one request.
 */
#include "vol/blockscan.h"

#include "vol/volume.h"

#define READAHEAD_BLOCKS 32

int blockscan_open(struct blockscan *scan, struct context *cx,
		   struct file *file, uint64_t blkoff)
{
	scan->file = file;
	scan->extent.count = 0;
	scan->block = NULL;
	return extent_cursor_open(&scan->extents, cx, file, blkoff);
}

int blockscan_next(struct blockscan *scan, struct context *cx)
{
	struct cache *cache = scan->file->vol->cache;
	struct extent *e = &scan->extent;
	int ret;

	blockscan_put(scan);
	if (!e->count) {
		ret = extent_cursor_next(&scan->extents, cx, READAHEAD_BLOCKS,
					 e);
		if (ret <= 0)
			return ret;
		if (e->count > 1)
			cache_readahead(cache, cx, e->blocknr,
					(unsigned int)e->count);
	}
	ret = cache_get(cache, cx, e->blocknr, &scan->block);
	if (ret)
		return ret;
	scan->blkoff = e->blkoff++;
	e->blocknr++;
	e->count--;
	return 1;
}

void blockscan_put(struct blockscan *scan)
{
	if (scan->block)
		cache_put_spent(scan->file->vol->cache, scan->block);
	scan->block = NULL;
}

void blockscan_close(struct blockscan *scan)
{
	if (!scan->file)
		return;
	cache_put(scan->file->vol->cache, scan->block);
	extent_cursor_close(&scan->extents);
	scan->file = NULL;
}
