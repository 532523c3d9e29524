// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A piece of memory as a device, for tests and fuzzers.
 *
 * Transfers are copies, so that what is borrowed from the cache and what is
 * on the "medium" stay two things, as they are with a disk.
 */
#include "tests/testdev/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct memory {
	struct dev dev;
	const unsigned char *bytes;
	unsigned char *writable; /* the same bytes, or NULL */
	void *owned;
};

static int memory_read(struct dev *dev, struct context *cx, uint64_t off,
		       void *buf, size_t len)
{
	(void)cx;
	memcpy(buf, ((struct memory *)dev)->bytes + off, len);
	return 0;
}

static int memory_write(struct dev *dev, struct context *cx, uint64_t off,
			const void *buf, size_t len)
{
	(void)cx;
	memcpy(((struct memory *)dev)->writable + off, buf, len);
	return 0;
}

static int memory_flush(struct dev *dev, struct context *cx)
{
	(void)dev;
	(void)cx;
	return 0;
}

static int memory_clear(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len, bool zeros)
{
	(void)cx;
	if (zeros)
		return -EOPNOTSUPP;
	memset(((struct memory *)dev)->writable + off, 0, len);
	return 0;
}

static void memory_close(struct dev *dev)
{
	free(((struct memory *)dev)->owned);
	free(dev);
}

static const struct dev_ops memory_ops = {
	.read = memory_read,
	.write = memory_write,
	.flush = memory_flush,
	.clear = memory_clear,
	.close = memory_close,
};

int memory_open_const(struct dev **devp, struct context *cx, const void *buf,
		      size_t size)
{
	struct memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return fail(cx, -ENOMEM, "memory device");
	memory->dev.ops = &memory_ops;
	memory->dev.name = "memory";
	memory->dev.size = size;
	memory->dev.sector_size = 512;
	memory->bytes = buf;
	*devp = &memory->dev;
	return 0;
}

int memory_open(struct dev **devp, struct context *cx, void *buf, size_t size)
{
	void *owned = buf ? NULL : calloc(1, size ? size : 1);
	void *bytes = buf ? buf : owned;
	struct memory *memory;
	int ret;

	if (!bytes)
		return fail(cx, -ENOMEM, "memory device of %zu bytes", size);
	ret = memory_open_const(devp, cx, bytes, size);
	if (ret) {
		free(owned);
		return ret;
	}
	memory = (struct memory *)*devp;
	memory->writable = bytes;
	memory->owned = owned;
	memory->dev.writable = true;
	return 0;
}
