// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files as runs of blocks.
 *
 * Two sorted streams are merged: the blocks of the map and, in a preview of a
 * roll-forward, the salvaged blocks, which take precedence.  Blocks that are
 * adjacent on the disk become one extent.
 */
#include "vol/extent.h"

#include "vol/volume.h"

int extent_cursor_open(struct extent_cursor *cur, struct context *cx,
		       struct file *file, uint64_t blkoff)
{
	const struct extent *from = file->extents;
	size_t i = 0;

	cur->file = file;
	cur->have_item = false;
	cur->ahead.count = 0;
	if (!from) {
		cur->salvaged = rollforward_find(file->vol->rollforward,
						 file->ino, blkoff);
		return blockmap_cursor_open(&cur->map, cx, &file->map, blkoff,
					    false);
	}
	/* Extents of the file itself: AHEAD is the rest of the current one. */
	cur->map.map = NULL;
	while (i < file->nextents && from[i].blkoff + from[i].count <= blkoff)
		i++;
	if (i < file->nextents && from[i].blkoff < blkoff) {
		uint64_t skip = blkoff - from[i].blkoff;

		cur->ahead = (struct extent){ blkoff, from[i].blocknr + skip,
					      from[i].count - skip };
		i++;
	}
	cur->given = i;
	return 0;
}

/* The next single block of the file, from either stream. */
static int next_block(struct extent_cursor *cur, struct context *cx,
		      struct extent *one)
{
	const struct salvaged_block *salvaged = cur->salvaged;
	const struct file *file = cur->file;
	int ret = 1;

	if (!cur->have_item)
		ret = blockmap_cursor_next(&cur->map, cx, &cur->item);
	if (ret < 0)
		return ret;
	cur->have_item = ret > 0;
	if (salvaged && (!ret || salvaged->blkoff <= cur->item.key)) {
		if (ret && salvaged->blkoff == cur->item.key)
			cur->have_item = false;
		*one = (struct extent){ salvaged->blkoff, salvaged->blocknr, 1 };
		cur->salvaged = rollforward_find(file->vol->rollforward,
						 file->ino, one->blkoff + 1);
		return 1;
	}
	if (!ret)
		return 0;
	cur->have_item = false;
	one->blkoff = cur->item.key;
	one->count = 1;
	ret = blockmap_resolve(&file->map, cx, cur->item.ptr, &one->blocknr);
	return ret ? ret : 1;
}

int extent_cursor_next(struct extent_cursor *cur, struct context *cx,
		       uint64_t max, struct extent *extent)
{
	struct extent one;
	int ret;

	if (cur->file->extents) {
		if (!cur->ahead.count && cur->given == cur->file->nextents)
			return 0;
		if (!cur->ahead.count)
			cur->ahead = cur->file->extents[cur->given++];
		*extent = cur->ahead;
		if (extent->count > max)
			extent->count = max;
		cur->ahead.blkoff += extent->count;
		cur->ahead.blocknr += extent->count;
		cur->ahead.count -= extent->count;
		return 1;
	}
	if (!cur->ahead.count) {
		ret = next_block(cur, cx, &cur->ahead);
		if (ret <= 0)
			return ret;
	}
	*extent = cur->ahead;
	cur->ahead.count = 0;
	while (extent->count < max) {
		ret = next_block(cur, cx, &one);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		if (one.blkoff != extent->blkoff + extent->count ||
		    one.blocknr != extent->blocknr + extent->count) {
			cur->ahead = one;
			break;
		}
		extent->count++;
	}
	return 1;
}

void extent_cursor_close(struct extent_cursor *cur)
{
	blockmap_cursor_close(&cur->map);
}
