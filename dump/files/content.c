// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of regular files.
 *
 * A run of a file may be scattered on the disk, for instance after cleaning.  The
 * buffer is filled up to the next hole, so that the caller needs few writes.
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

/* Fills AHEAD with blocks before the end of the file: 1, 0 at the end. */
static int fill_ahead(struct content *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->file->vol->geo;
	uint64_t end = div_round_up(c->size, geo->block_size);
	uint32_t max = CONTENT_BUFFER_SIZE >> geo->block_bits;
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

/* Reads COUNT blocks, one by one, to BUFFER: zeros for those that cannot be read. */
static int read_single_blocks(struct content *c, struct context *cx,
			      uint64_t count, char *buffer)
{
	const uint32_t size = c->file->vol->geo.block_size;
	uint64_t i;
	int err = 0;

	fail_clear(cx);
	for (i = 0; i < count && !err; i++, buffer += size) {
		err = volume_read_blocks(c->file->vol, cx, c->ahead.blocknr + i,
					 1, buffer);
		if (err != -EIO)
			continue;
		fail_clear(cx);
		memset(buffer, 0, size);
		c->unread += size;
		err = context_cancelled(cx);
	}
	return err;
}

int content_next(struct content *c, struct context *cx,
		 struct content_part *part)
{
	uint32_t bits = c->file->vol->geo.block_bits;
	uint64_t max = c->buffer ? CONTENT_BUFFER_SIZE >> bits : UINT64_MAX;
	uint64_t first, at, count;
	int ret = fill_ahead(c, cx), err;

	if (ret <= 0)
		return ret;
	first = at = c->ahead.blkoff;
	while (ret > 0 && c->ahead.blkoff == at && at - first < max) {
		count = c->ahead.count;
		if (count > max - (at - first))
			count = max - (at - first);
		err = !c->buffer ? 0 :
		      volume_read_blocks(c->file->vol, cx, c->ahead.blocknr,
					 (uint32_t)count,
					 c->buffer + ((at - first) << bits));
		if (err == -EIO && c->patient)
			err = read_single_blocks(c, cx, count,
						 c->buffer +
						 ((at - first) << bits));
		if (err)
			return err;
		at += count;
		c->ahead.blkoff += count;
		c->ahead.blocknr += count;
		c->ahead.count -= count;
		if (at - first < max)
			ret = fill_ahead(c, cx);
	}
	if (ret < 0)
		return ret;
	part->offset = first << bits;
	part->len = ((at << bits) < c->size ? at << bits : c->size) -
		     part->offset;
	return 1;
}
