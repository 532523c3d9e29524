// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of writing.
 *
 * On a device that is not empty both superblocks are wiped first, and nothing
 * else is written before that is on the medium.  An interruption before leaves
 * the old volume intact, with one superblock, two or none; after it, the device
 * has no valid volume until all logs are on the medium and the new superblocks
 * are written.  These are equal, so that either alone is enough.
 *
 * Other signatures are wiped where libblkid looks: in the first and the last
 * MiB.  A blank device needs no wiping and takes two flushes, three writes and
 * as many pages as the volume has.
 */
#include "mkfs/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "mkfs/newsuper.h"
#include "mkfs/wipe.h"
#include "mkfs/zoneformat.h"

#define PIECE 4096u		/* what a superblock occupies, too */

/* Both places, with the boot block in front of the first one. */
static int wipe_superblocks(struct context *cx, struct dev *dev,
			    const struct plan *plan)
{
	static const uint8_t zeros[PIECE];
	int ret = dev_write(dev, cx, 0, zeros, PIECE);

	if (!ret)
		ret = dev_write(dev, cx, plan->super2, zeros, PIECE);
	return ret ? ret : dev_flush(dev, cx);
}

static int wipe_signatures(struct context *cx, struct dev *dev)
{
	uint64_t head = dev->size < WIPE_RANGE ? dev->size : WIPE_RANGE;
	uint64_t tail = (dev->size - head) & ~(uint64_t)(PIECE - 1);
	int ret = wipe_range(cx, dev, 0, head);

	return ret ? ret : wipe_range(cx, dev, tail > head ? tail : head,
				      dev->size);
}

static int prepare(struct context *cx, struct dev *dev,
		   const struct plan *plan, const struct format_how *how)
{
	bool blank = how->blank && !how->test;
	int ret = 0;

	if (plan->zoned.zones)
		return zoneformat_prepare(cx, dev, plan, how);
	if (!how->blank)
		ret = wipe_superblocks(cx, dev, plan);
	if (!ret && how->test)
		ret = how->test(how->arg, cx, dev);
	if (!ret && how->discard && !blank)
		ret = dev_discard(dev, cx, 0, dev->size);
	if (!ret && !blank)
		ret = wipe_signatures(cx, dev);
	return ret;
}

/* Deallocates the preallocated space after the last log. */
static int give_back(struct context *cx, struct dev *dev,
		     const struct plan *plan, const struct content *content)
{
	const struct writer_end *end = &content->end;
	uint64_t at = geometry_segment_start(&plan->g, end->segnum) +
		      end->offset;

	at <<= plan->g.block_bits;
	return content->allocate ? dev_discard(dev, cx, at, dev->size - at) : 0;
}

static int write_logs(struct context *cx, struct dev *dev, struct plan *plan,
		      const struct format_how *how)
{
	int ret = content_write(how->content, cx, dev, plan);

	if (how->content->digest)
		memcpy(plan->uuid, how->content->uuid, sizeof(plan->uuid));
	if (!ret)
		ret = give_back(cx, dev, plan, how->content);
	return ret ? ret : dev_flush(dev, cx);
}

static int write_superblocks(struct context *cx, struct dev *dev,
			     const struct plan *plan,
			     const struct writer_end *end)
{
	struct nilfs_super_block sb;
	uint8_t block[PIECE] = { 0 };
	int ret;

	newsuper_fill(plan, end, &sb);
	memcpy(block + NILFS_SB_OFFSET_BYTES, &sb, sizeof(sb));
	ret = dev_write(dev, cx, 0, block, sizeof(block));
	if (ret || !plan->super2)
		return ret ? ret : dev_flush(dev, cx);
	memset(block, 0, sizeof(block));
	memcpy(block, &sb, sizeof(sb));
	ret = dev_write(dev, cx, plan->super2, block, sizeof(block));
	return ret ? ret : dev_flush(dev, cx);
}

int format_run(struct context *cx, struct dev *dev, struct plan *plan,
	       const struct format_how *how)
{
	int ret = prepare(cx, dev, plan, how);

	if (!ret)
		ret = context_cancelled(cx);
	if (!ret)
		ret = write_logs(cx, dev, plan, how);
	if (!ret && how->settle)
		ret = how->settle(how->arg, cx, dev, plan);
	if (!ret)
		ret = write_superblocks(cx, dev, plan, &how->content->end);
	return ret;
}
