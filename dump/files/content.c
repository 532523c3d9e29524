// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of regular files.
 *
 * A contiguous piece of a file may be scattered on the disk (after cleaning)
 * and the other way round.  Pieces are filled up to the size of the buffer as
 * long as there is no hole, so that the caller has few writes to do.
 */
#include "dump/files/content.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "vol/volume.h"

int content_open(struct content *c, struct context *cx, struct file *file,
		 char *buffer)
{
	memset(c, 0, sizeof(*c));
	c->file = file;
	c->buffer = buffer;
	c->size = le64_get(file->inode.i_size);
	if (c->size > INT64_MAX)
		return fail(cx, -EFBIG, "inode %llu: size %llu",
			    (unsigned long long)file->ino,
			    (unsigned long long)c->size);
	return extent_cursor_open(&c->extents, cx, file, 0);
}

void content_close(struct content *c)
{
	extent_cursor_close(&c->extents);
}

static const struct nilfs_geometry *geometry(const struct content *c)
{
	return &c->file->vol->geo;
}

/* Fills AHEAD, with blocks in front of the end of the file only. */
static int look_ahead(struct content *c, struct context *cx)
{
	uint64_t end = div_round_up(c->size, geometry(c)->block_size);
	uint32_t max = CONTENT_BUFFER_SIZE >> geometry(c)->block_bits;
	int ret;

	if (c->ahead.count)
		return 1;
	ret = extent_cursor_next(&c->extents, cx, max, &c->ahead);
	if (ret <= 0)
		return ret;
	if (c->ahead.blkoff >= end)
		c->ahead.count = 0;
	else if (c->ahead.count > end - c->ahead.blkoff)
		c->ahead.count = end - c->ahead.blkoff;
	return c->ahead.count != 0;
}

/* Takes COUNT blocks from AHEAD. */
static void advance_content(struct content *c, uint64_t count)
{
	c->ahead.blkoff += count;
	c->ahead.blocknr += count;
	c->ahead.count -= count;
}

/* Blocks [FIRST, END) of the file as bytes of it. */
static void set_piece(const struct content *c, struct content_piece *piece,
		      uint64_t first, uint64_t end)
{
	uint32_t bits = geometry(c)->block_bits;

	piece->offset = first << bits;
	piece->len = ((end << bits) < c->size ? end << bits : c->size) -
		     piece->offset;
}

int content_next(struct content *c, struct context *cx,
		 struct content_piece *piece)
{
	uint32_t bits = geometry(c)->block_bits;
	uint64_t max = CONTENT_BUFFER_SIZE >> bits, first, at;
	int ret = look_ahead(c, cx), err;

	if (ret <= 0)
		return ret;
	first = at = c->ahead.blkoff;
	while (ret > 0 && c->ahead.blkoff == at && at - first < max) {
		uint64_t count = c->ahead.count;

		if (count > max - (at - first))
			count = max - (at - first);
		err = volume_read_blocks(c->file->vol, cx, c->ahead.blocknr,
					 (uint32_t)count,
					 c->buffer + ((at - first) << bits));
		if (err)
			return err;
		at += count;
		advance_content(c, count);
		if (at - first < max)
			ret = look_ahead(c, cx);
	}
	if (ret < 0)
		return ret;
	set_piece(c, piece, first, at);
	return 1;
}

int content_next_run(struct content *c, struct context *cx,
		     struct content_piece *run)
{
	uint64_t first, at;
	int ret = look_ahead(c, cx);

	if (ret <= 0)
		return ret;
	first = at = c->ahead.blkoff;
	while (ret > 0 && c->ahead.blkoff == at) {
		at += c->ahead.count;
		advance_content(c, c->ahead.count);
		ret = look_ahead(c, cx);
	}
	if (ret < 0)
		return ret;
	set_piece(c, run, first, at);
	return 1;
}
