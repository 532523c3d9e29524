// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A qcow2 image in a file that has no room for a time: a failed write leaves the
 * tables as they were, so that it can be repeated.
 */
#include "dev/qcow2.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/memory.h"
#include "tap.h"

#define DISK (UINT64_C(1) << 30)
#define ROOM (8u << 20)
#define BLOCK 4096u
#define TABLE (UINT64_C(32) << 20)	/* bytes of the disk in a table of level 2 */
#define TABLES 16u			/* in memory */

/* A file in memory, of which only MOST bytes can be used. */
struct file {
	struct dev dev;
	uint64_t most;
};

static int file_write(struct dev *dev, struct context *cx, uint64_t off,
		      const void *buf, size_t len)
{
	if (off + len > ((struct file *)dev)->most)
		return fail(cx, -ENOSPC, "%s: write", dev->name);
	return dev_write(dev->under, cx, off, buf, len);
}

static int file_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	if (size > ((struct file *)dev)->most)
		return fail(cx, -ENOSPC, "%s: resize", dev->name);
	return 0;
}

static const struct dev_ops file_ops = {
	.write = file_write,
	.resize = file_resize,
};

int main(void)
{
	unsigned char block[BLOCK], got[BLOCK];
	struct dev *memory, *made, *read;
	struct context cx;
	struct file *file;
	uint64_t i, wrong = 0;

	context_init(&cx);
	file = calloc(1, sizeof(*file));
	if (!file || memory_open(&memory, &cx, NULL, ROOM))
		return 99;
	dev_init_over(&file->dev, &file_ops, memory);
	file->dev.size = 0;
	is_int(qcow2_create(&made, &cx, &file->dev, DISK), 0, "an image");
	memset(block, 1, BLOCK);
	is_int(dev_write(made, &cx, 0, block, BLOCK), -ENOSPC,
	       "no room for the first table");
	file->most = ROOM;
	is_int(dev_write(made, &cx, 0, block, BLOCK), 0, "the write is repeated");
	for (i = 1; i < TABLES; i++) {
		memset(block, (int)i + 1, BLOCK);
		wrong += dev_write(made, &cx, i * TABLE, block, BLOCK) != 0;
	}
	is_int(wrong, 0, "as many tables as fit into memory");
	/* The next one takes the place of the first, which must be written first. */
	file->most = 0;
	memset(block, (int)i + 1, BLOCK);
	is_int(dev_write(made, &cx, i * TABLE, block, BLOCK), -ENOSPC,
	       "no room for a table that leaves memory");
	file->most = ROOM;
	is_int(dev_write(made, &cx, i * TABLE, block, BLOCK), 0,
	       "that write is repeated as well");
	is_int(qcow2_finish(made, &cx), 0, "the image is complete");
	dev_close(made);
	is_int(qcow2_open(&read, &cx, &file->dev), 0, "it is opened");
	ok(read != &file->dev && read->size == DISK, "as an image of that size");
	for (i = 0; i <= TABLES; i++) {
		memset(block, (int)i + 1, BLOCK);
		wrong += dev_read(read, &cx, i * TABLE, got, BLOCK) ||
			 memcmp(got, block, BLOCK);
	}
	is_int(wrong, 0, "all blocks have their content");
	dev_close(read);
	dev_close(&file->dev);
	dev_close(memory);
	return tap_done();
}
