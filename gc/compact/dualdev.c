// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two devices as one.
 *
 * For a batch that moves a whole volume: it reads only old blocks at their old
 * positions, since blocks that it made itself stay in memory until it writes
 * them.  So old and new positions may overlap.
 */
#include "gc/compact/dualdev.h"

#include <errno.h>
#include <stdlib.h>

struct twin {
	struct dev dev;
	struct dev *source, *target;
};

static int twin_read(struct dev *dev, struct context *cx, uint64_t off,
		     void *buf, size_t len)
{
	return dev_read(((struct twin *)dev)->source, cx, off, buf, len);
}

static void twin_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	dev_readahead(((struct twin *)dev)->source, off, len);
}

static int twin_write(struct dev *dev, struct context *cx, uint64_t off,
		      const void *buf, size_t len)
{
	return dev_write(((struct twin *)dev)->target, cx, off, buf, len);
}

static int twin_flush(struct dev *dev, struct context *cx)
{
	return dev_flush(((struct twin *)dev)->target, cx);
}

static int twin_discard(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len)
{
	return dev_discard(((struct twin *)dev)->target, cx, off, len);
}

static void twin_close(struct dev *dev)
{
	free(dev);
}

static const struct dev_ops twin_ops = {
	.read = twin_read,
	.readahead = twin_readahead,
	.write = twin_write,
	.flush = twin_flush,
	.discard = twin_discard,
	.close = twin_close,
};

int dualdev_open(struct dev **devp, struct context *cx, struct dev *source,
		 struct dev *target)
{
	struct twin *twin = calloc(1, sizeof(*twin));

	*devp = NULL;
	if (!twin)
		return fail(cx, -ENOMEM, "device that is copied");
	twin->source = source;
	twin->target = target;
	twin->dev.ops = &twin_ops;
	twin->dev.name = source->name;
	twin->dev.size = source->size;
	twin->dev.sector_size = target->sector_size;
	twin->dev.writable = true;
	*devp = &twin->dev;
	return 0;
}
