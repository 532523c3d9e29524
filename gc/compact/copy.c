// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copying.
 *
 * A copy is one batch whose victims are all segments, including that of the
 * latest log and the next one; it is written to another device, where every
 * segment is free.
 */
#include "gc/compact/copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/context.h"
#include "dev/dev.h"

/* The boot area before the segments, without the superblock. */
#define BOOT_BYTES NILFS_SB_OFFSET_BYTES

/*
 * Two devices as one.
 *
 * For a batch that moves a whole volume: it reads only old blocks at their old
 * positions, since blocks that it made itself stay in memory until it writes
 * them.  So old and new positions may overlap.
 */

struct dualdev {
	struct dev dev;
	struct dev *source;
};

static int dualdev_read(struct dev *dev, struct context *cx, uint64_t off,
		     void *buf, size_t len)
{
	return dev_read(((struct dualdev *)dev)->source, cx, off, buf, len);
}

static void dualdev_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	dev_readahead(((struct dualdev *)dev)->source, off, len);
}

static const struct dev_ops dualdev_ops = {
	.read = dualdev_read,
	.readahead = dualdev_readahead,
};

/*
 * Reads come from SOURCE whatever was written, writes go to TARGET (both
 * borrowed), which is as large.  It has no zones.  -ENOMEM.
 */
static int dualdev_open(struct dev **devp, struct context *cx,
			struct dev *source, struct dev *target)
{
	struct dualdev *dual = calloc(1, sizeof(*dual));

	*devp = NULL;
	if (!dual)
		return fail(cx, -ENOMEM, "device that is copied");
	dev_init_over(&dual->dev, &dualdev_ops, target);
	dual->dev.name = source->name;
	dual->dev.zones = NULL;
	dual->source = source;
	*devp = &dual->dev;
	return 0;
}

static int copy_boot(struct context *cx, struct dev *source,
		     struct dev *target)
{
	char bytes[BOOT_BYTES];
	int ret = dev_read(source, cx, 0, bytes, sizeof(bytes));

	return ret ? ret : dev_write(target, cx, 0, bytes, sizeof(bytes));
}

static int add_all_segments(struct collector *k, struct context *cx)
{
	struct facts *f = &k->facts;
	size_t i;
	int ret = 1;

	k->unbounded = true;
	for (i = 0; i < f->n && ret > 0; i++)
		ret = collector_add(k, cx, &f->segments[i], UINT64_MAX);
	if (!ret && i && f->segments[i - 1].live)
		return fail(cx, -EUCLEAN, "segment %" PRIu64 " cannot be "
			    "moved; run fsck.nilfs2",
			    f->segments[i - 1].segnum);
	return ret < 0 ? ret : 0;
}

static int move_all(struct collector *k, struct context *cx)
{
	struct batch_options batch = k->o->batch;
	int ret = add_all_segments(k, cx);

	batch.front = batch.fresh = batch.next_taken = batch.elsewhere = true;
	if (!ret)
		ret = collector_move(k, cx, &batch);
	if (!ret && k->nbad)
		ret = fail(cx, -EUCLEAN, "segment %" PRIu64 " cannot be copied; "
			   "run fsck.nilfs2 -y --data", k->bad[0]);
	return ret;
}

static int copy_volume(struct copy *c, struct context *cx, struct dev *dual,
		       const struct collector_options *options)
{
	struct collector k;
	int ret;

	collector_init(&k, dual, options);
	k.whole = true;
	do {
		ret = collector_open(&k, cx);
		if (!ret)
			ret = move_all(&k, cx);
		collector_close(&k);
	} while (!ret && !k.totals.batches);
	c->totals = k.totals;
	collector_fini(&k);
	return ret;
}

int copy_run(struct copy *c, struct context *cx, struct dev *source,
	     struct dev *target, const struct collector_options *options)
{
	struct dev *dual;
	int ret = dualdev_open(&dual, cx, source, target);

	*c = (struct copy){ 0 };
	if (!ret)
		ret = usedend_measure(&c->before, cx, source);
	if (!ret)
		ret = copy_boot(cx, source, target);
	if (!ret)
		ret = copy_volume(c, cx, dual, options);
	dev_close(dual);
	return ret ? ret : usedend_measure(&c->after, cx, target);
}
