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
 * MiB, outside of sequential zones.  A blank device needs no wiping and takes two flushes, three writes and
 * as many pages as the volume has.
 */
#include "mkfs/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeros.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "disk/super.h"
#include "mkfs/newsuper.h"

#define PIECE 4096u		/* what a superblock occupies, too */

/* How far from either end of a device libblkid looks for signatures. */
#define WIPE_RANGE (1u << 20)
#define BUFFER (64u << 10)

/*
 * Writes zeros over the pieces of [OFF, OFF + LEN) that are not zero: pages,
 * the smallest allocation of an image file.
 */
static int wipe_buffer(struct context *cx, struct dev *dev, uint64_t off,
		       size_t len, uint8_t *buf)
{
	size_t at, n;
	int ret = dev_read(dev, cx, off, buf, len);

	for (at = 0; at < len && !ret; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		if (zeros_only(buf + at, n))
			continue;
		memset(buf + at, 0, n);
		ret = dev_write(dev, cx, off + at, buf + at, n);
	}
	return ret;
}

/*
 * Makes [OFF, END) of DEV read as zeros.  What is zero already is not written
 * again, so that a sparse image stays sparse.  Failures: as dev_read() and
 * dev_write(), -ENOMEM.
 */
static int wipe_range(struct context *cx, struct dev *dev, uint64_t off,
		      uint64_t end)
{
	uint8_t *buf = malloc(BUFFER);
	int ret = 0;

	if (!buf)
		return fail(cx, -ENOMEM, "%s: wipe", dev->name);
	while (off < end && !ret) {
		size_t len = end - off < BUFFER ? end - off : BUFFER;

		ret = wipe_buffer(cx, dev, off, len, buf);
		off += len;
	}
	free(buf);
	return ret;
}

/* Does ACT to what of [OFF, END) is not in sequential zones. */
static int each_conventional(struct context *cx, struct dev *dev,
			     const struct zones *zones, uint64_t off,
			     uint64_t end,
			     int (*act)(struct context *cx, struct dev *dev,
					uint64_t off, uint64_t end))
{
	int ret = 0;

	if (!zones)
		return act(cx, dev, off, end);
	while (off < end && !ret) {
		uint64_t n = zone_of(zones, off);
		uint64_t to = zone_run_end(zones, n) * zones->size;

		if (to > end)
			to = end;
		if (zones->kinds[n] == ZONE_CONVENTIONAL)
			ret = act(cx, dev, off, to);
		off = to;
	}
	return ret;
}

static int discard_range(struct context *cx, struct dev *dev, uint64_t off,
			 uint64_t end)
{
	return dev_discard(dev, cx, off, end - off);
}

/* The second superblock is in the last zone. */
static int reset_last_zone(struct context *cx, struct dev *dev,
			   const struct zones *zones, uint64_t super2)
{
	uint64_t last = zone_at(zones, zone_of(zones, super2)).start;

	return dev_zone_reset(dev, cx, last, dev->size - last);
}

/* Both places, with the boot block in front of the first one. */
static int wipe_superblocks(struct context *cx, struct dev *dev,
			    const struct plan *plan)
{
	static const uint8_t zeros[PIECE];
	const struct zones *zones = plan->zoned.zones;
	uint64_t super2 = zones ? super_offset2(dev->size) : plan->super2;
	int ret = dev_write(dev, cx, 0, zeros, PIECE);

	if (!ret && (!zones ||
		     zones->kinds[zone_of(zones, super2)] == ZONE_CONVENTIONAL))
		ret = dev_write(dev, cx, super2, zeros, PIECE);
	if (!ret)
		ret = dev_flush(dev, cx);
	return ret || !zones ? ret : reset_last_zone(cx, dev, zones, super2);
}

static int wipe_signatures(struct context *cx, struct dev *dev,
			   const struct zones *zones)
{
	uint64_t head = dev->size < WIPE_RANGE ? dev->size : WIPE_RANGE;
	uint64_t tail = (dev->size - head) & ~(uint64_t)(PIECE - 1);
	int ret = each_conventional(cx, dev, zones, 0, head, wipe_range);

	return ret ? ret : each_conventional(cx, dev, zones,
					     tail > head ? tail : head,
					     dev->size, wipe_range);
}

/*
 * The order is the same with zones: an old superblock in a sequential zone is
 * destroyed by the reset of that zone, which takes effect on the medium at
 * once.  Then every other zone is reset: a clean segment must be an empty
 * zone, or the kernel cannot write to it.
 */
static int prepare_device(struct context *cx, struct dev *dev,
			  const struct plan *plan, const struct format_how *how)
{
	const struct zones *zones = plan->zoned.zones;
	bool test = how->test && !zones, blank = how->blank && !test;
	int ret = 0;

	if (!how->blank)
		ret = wipe_superblocks(cx, dev, plan);
	if (!ret && test)
		ret = how->test(how->arg, cx, dev);
	if (!ret && zones)
		ret = dev_zone_reset(dev, cx, 0, dev->size);
	if (!ret && how->discard && !blank)
		ret = each_conventional(cx, dev, zones, 0, dev->size,
					discard_range);
	if (!ret && !blank)
		ret = wipe_signatures(cx, dev, zones);
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
	int ret = prepare_device(cx, dev, plan, how);

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
