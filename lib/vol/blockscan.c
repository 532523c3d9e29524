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

static int next_extent(struct blockscan *scan, struct context *cx)
{
	int ret = extent_cursor_next(&scan->extents, cx, READAHEAD_BLOCKS,
				     &scan->extent);

	if (ret > 0 && scan->extent.count > 1)
		cache_readahead(scan->file->vol->cache, cx,
				scan->extent.blocknr,
				(unsigned int)scan->extent.count);
	return ret;
}

int blockscan_next(struct blockscan *scan, struct context *cx)
{
	int ret;

	blockscan_put(scan);
	if (!scan->extent.count) {
		ret = next_extent(scan, cx);
		if (ret <= 0)
			return ret;
	}
	ret = cache_get(scan->file->vol->cache, cx, scan->extent.blocknr,
			&scan->block);
	if (ret)
		return ret;
	scan->blkoff = scan->extent.blkoff++;
	scan->extent.blocknr++;
	scan->extent.count--;
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
	if (scan->block)
		cache_put(scan->file->vol->cache, scan->block);
	extent_cursor_close(&scan->extents);
	scan->file = NULL;
}
