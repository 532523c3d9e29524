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

#include "base/context.h"
#include "dev/dev.h"

/*
 * Two devices combined into one.
 *
 * It is for a batch that moves a whole volume.  Such a batch reads only old
 * blocks at their old positions, since blocks that it made itself stay in
 * memory until it writes them.  So old and new positions may overlap.
 */
struct dualdev {
	struct dev dev;		/* over the target, of the same size; no zones */
	struct dev *source;	/* all reads go to it, regardless of writes */
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

int copy_run(struct copy *c, struct context *cx, struct dev *source,
	     struct dev *target, const struct collector_options *options)
{
	struct batch_options batch = options->batch;
	char boot[NILFS_SB_OFFSET_BYTES];
	struct dualdev dual = { .source = source };
	const struct policy_segment *s;
	struct collector k;
	size_t i;
	int ret, moved;

	*c = (struct copy){ 0 };
	dev_init_over(&dual.dev, &dualdev_ops, target);
	dual.dev.name = source->name;
	dual.dev.zones = NULL;
	ret = compact_measure(&c->before, cx, source);
	if (!ret)
		ret = dev_read(source, cx, 0, boot, sizeof(boot));
	if (!ret)
		ret = dev_write(target, cx, 0, boot, sizeof(boot));
	if (ret)
		return ret;
	batch.front = batch.fresh = batch.next_taken = batch.elsewhere = true;
	collector_init(&k, &dual.dev, options);
	k.whole = true;
	/* Move all segments in one batch, again as long as none was written. */
	do {
		ret = collector_open(&k, cx);
		k.unbounded = true;
		for (i = 0, moved = 1; !ret && i < k.facts.n && moved > 0; i++) {
			s = &k.facts.segments[i];
			moved = collector_add(&k, cx, s, UINT64_MAX);
			if (moved < 0)
				ret = moved;
			else if (!moved && s->live)
				ret = fail(cx, -EUCLEAN, "segment %" PRIu64
					   " cannot be moved; run fsck.nilfs2",
					   s->segnum);
		}
		if (!ret)
			ret = collector_move(&k, cx, &batch);
		if (!ret && k.nbad)
			ret = fail(cx, -EUCLEAN, "segment %" PRIu64 " cannot be "
				   "copied; run fsck.nilfs2 -y --data",
				   k.bad[0]);
		collector_close(&k);
	} while (!ret && !k.totals.batches);
	c->totals = k.totals;
	collector_fini(&k);
	return ret ? ret : compact_measure(&c->after, cx, target);
}
