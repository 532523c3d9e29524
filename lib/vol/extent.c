// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files as runs of blocks.
 *
 * Two sorted streams are merged: the blocks of the map and, in a preview of
 * a roll-forward, the salvaged blocks, which win.  Neighbours on the disk
 * become one extent.
 */
#include "vol/extent.h"


#include "vol/volume.h"

static const struct salvaged_block *salvaged_from(const struct file *file,
						  uint64_t blkoff)
{
	return rollforward_find(file->vol->rollforward, file->ino, blkoff);
}

/* The file has extents of its own: AHEAD is the rest of the one at the place. */
static int open_given(struct extent_cursor *cur, uint64_t blkoff)
{
	const struct extent *from = cur->file->extents;
	size_t i = 0;

	cur->map.map = NULL;
	while (i < cur->file->nextents &&
	       from[i].blkoff + from[i].count <= blkoff)
		i++;
	cur->given = i;
	if (i < cur->file->nextents && from[i].blkoff < blkoff) {
		cur->ahead.blkoff = blkoff;
		cur->ahead.blocknr =
			from[i].blocknr + (blkoff - from[i].blkoff);
		cur->ahead.count =
			from[i].count - (blkoff - from[i].blkoff);
		cur->given++;
	}
	return 0;
}

static int next_given(struct extent_cursor *cur, uint64_t max,
		      struct extent *extent)
{
	if (!cur->ahead.count) {
		if (cur->given == cur->file->nextents)
			return 0;
		cur->ahead = cur->file->extents[cur->given++];
	}
	*extent = cur->ahead;
	if (extent->count > max)
		extent->count = max;
	cur->ahead.blkoff += extent->count;
	cur->ahead.blocknr += extent->count;
	cur->ahead.count -= extent->count;
	return 1;
}

int extent_cursor_open(struct extent_cursor *cur, struct context *cx,
		       struct file *file, uint64_t blkoff)
{
	cur->file = file;
	cur->have_item = false;
	cur->ahead.count = 0;
	if (file->extents)
		return open_given(cur, blkoff);
	cur->salvaged = salvaged_from(file, blkoff);
	return blockmap_cursor_open(&cur->map, cx, &file->map, blkoff, false);
}

static int fill_item(struct extent_cursor *cur, struct context *cx)
{
	int ret;

	if (cur->have_item)
		return 1;
	ret = blockmap_cursor_next(&cur->map, cx, &cur->item);
	cur->have_item = ret > 0;
	return ret;
}

static int take_salvaged(struct extent_cursor *cur, struct extent *one)
{
	one->blkoff = cur->salvaged->blkoff;
	one->blocknr = cur->salvaged->blocknr;
	one->count = 1;
	cur->salvaged = salvaged_from(cur->file, one->blkoff + 1);
	return 1;
}

/* The next single block of the file, from whichever stream has it. */
static int next_block(struct extent_cursor *cur, struct context *cx,
		      struct extent *one)
{
	int ret = fill_item(cur, cx);

	if (ret < 0)
		return ret;
	if (cur->salvaged && ret && cur->item.key == cur->salvaged->blkoff)
		cur->have_item = false;
	if (cur->salvaged && (!ret || cur->salvaged->blkoff <= cur->item.key))
		return take_salvaged(cur, one);
	if (!ret)
		return 0;
	cur->have_item = false;
	one->blkoff = cur->item.key;
	ret = blockmap_resolve(&cur->file->map, cx, cur->item.ptr,
			       &one->blocknr);
	if (ret)
		return ret;
	one->count = 1;
	return 1;
}

int extent_cursor_next(struct extent_cursor *cur, struct context *cx,
		       uint64_t max, struct extent *extent)
{
	struct extent one;
	int ret;

	if (cur->file->extents)
		return next_given(cur, max, extent);
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
