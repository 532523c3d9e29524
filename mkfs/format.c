// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing the new volume: old signatures, logs, superblocks, in this order.
 *
 * On a device that is not empty both superblocks are wiped first, and nothing
 * else is written until the wipe is on stable storage.  An interruption before
 * that leaves the old volume intact, with two superblocks, one or none.  After it,
 * the device has no valid volume until all logs are on stable storage and the new
 * superblocks are written.  The two are equal, so either of them is sufficient.
 *
 * Other signatures are wiped in the ranges that libblkid searches: the first and
 * the last MiB, outside of sequential zones.  A blank device needs no wiping.
 *
 * The superblock refers to the last log, with the newest checkpoint, and is marked
 * clean.  Fields that the kernel never uses have the values of nilfs-utils.
 */
#include "mkfs/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/zeros.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "disk/super.h"
#include "log/newsupers.h"

#define PIECE 4096u		/* also the room of a superblock */

/* How far from either end of a device libblkid looks for signatures. */
#define WIPE_RANGE (1u << 20)
#define BUFFER (64u << 10)

#define CHECK_INTERVAL (180u * 24 * 60 * 60)

/*
 * Makes [OFF, END) of DEV read as zeros.  Pages that are zero already are not
 * written, so a sparse image stays sparse.  A page is the smallest allocation unit
 * of an image file.  Fails as dev_read() and dev_write(), -ENOMEM.
 */
static int wipe_range(struct context *cx, struct dev *dev, uint64_t off,
		      uint64_t end)
{
	uint8_t *buf = malloc(BUFFER);
	int ret = 0;

	if (!buf)
		return fail(cx, -ENOMEM, "%s: wipe", dev->name);
	while (off < end && !ret) {
		size_t len = end - off < BUFFER ? end - off : BUFFER, at, n;

		ret = dev_read(dev, cx, off, buf, len);
		for (at = 0; at < len && !ret; at += n) {
			n = len - at < PIECE ? len - at : PIECE;
			if (zeros_only(buf + at, n))
				continue;
			memset(buf + at, 0, n);
			ret = dev_write(dev, cx, off + at, buf + at, n);
		}
		off += len;
	}
	free(buf);
	return ret;
}

/* Discards or wipes the parts of [OFF, END) that are not in sequential zones. */
static int clear_range(struct context *cx, struct dev *dev,
		       const struct zones *zones, uint64_t off, uint64_t end,
		       bool discard)
{
	uint64_t to;
	int ret = 0;

	for (; off < end && !ret; off = to) {
		uint64_t n = zones ? zone_of(zones, off) : 0;

		to = zones ? zone_run_end(zones, n) * zones->size : end;
		if (to > end)
			to = end;
		if (!zones || zones->kinds[n] == ZONE_CONVENTIONAL)
			ret = discard ? dev_discard(dev, cx, off, to - off) :
					wipe_range(cx, dev, off, to);
	}
	return ret;
}

/*
 * Wipes both superblocks, and the boot block before the first one.  A second
 * superblock in a sequential zone, the last one, is destroyed by the reset of that
 * zone, which takes effect on stable storage at once.
 */
static int wipe_superblocks(struct context *cx, struct dev *dev,
			    const struct plan *plan)
{
	static const uint8_t zeros[PIECE];
	const struct zones *zones = plan->zoned.zones;
	uint64_t super2 = zones ? super_offset2(dev->size) : plan->super2;
	uint64_t last;
	int ret = dev_write(dev, cx, 0, zeros, PIECE);

	if (!ret && (!zones ||
		     zones->kinds[zone_of(zones, super2)] == ZONE_CONVENTIONAL))
		ret = dev_write(dev, cx, super2, zeros, PIECE);
	if (!ret)
		ret = dev_flush(dev, cx);
	if (ret || !zones)
		return ret;
	last = zone_at(zones, zone_of(zones, super2)).start;
	return dev_zone_change(dev, cx, last, dev->size - last, false);
}

/*
 * The order is the same with zones.  Every zone is reset: a clean segment must be
 * an empty zone, or the kernel cannot write to it.
 */
static int prepare_device(struct context *cx, struct dev *dev,
			  const struct plan *plan, const struct format_how *how)
{
	const struct zones *zones = plan->zoned.zones;
	bool test = how->test && !zones, blank = how->blank && !test;
	uint64_t head = dev->size < WIPE_RANGE ? dev->size : WIPE_RANGE;
	uint64_t tail = (dev->size - head) & ~(uint64_t)(PIECE - 1);
	int ret = 0;

	if (!how->blank)
		ret = wipe_superblocks(cx, dev, plan);
	if (!ret && test)
		ret = badblocks_test(how->test, cx, dev, true);
	if (!ret && zones)
		ret = dev_zone_change(dev, cx, 0, dev->size, false);
	if (!ret && how->discard && !blank)
		ret = clear_range(cx, dev, zones, 0, dev->size, true);
	if (!ret && !blank)
		ret = clear_range(cx, dev, zones, 0, head, false);
	if (!ret && !blank)
		ret = clear_range(cx, dev, zones, tail > head ? tail : head,
				  dev->size, false);
	return ret;
}

void format_super(const struct plan *plan, const struct writer_end *end,
		  struct nilfs_super_block *sb)
{
	memset(sb, 0, sizeof(*sb));
	super_set_geometry(sb, plan->size, &plan->g);
	sb->s_r_segments_percentage = le32_make(plan->reserved);
	sb->s_feature_compat = le64_make(plan->features.compat);
	sb->s_feature_compat_ro = le64_make(plan->features.compat_ro);
	sb->s_feature_incompat = le64_make(plan->features.incompat);
	memcpy(sb->s_uuid, plan->uuid, sizeof(sb->s_uuid));
	memcpy(sb->s_volume_name, plan->label, sizeof(sb->s_volume_name));
	sb->s_ctime = le64_make(plan->ctime);
	sb->s_lastcheck = le64_make(plan->ctime);
	sb->s_max_mnt_count = le16_make(NILFS_DFL_MAX_MNT_COUNT);
	sb->s_errors = le16_make(NILFS_ERRORS_CONTINUE);
	sb->s_checkinterval = le32_make(CHECK_INTERVAL);
	sb->s_creator_os = le32_make(NILFS_OS_LINUX);
	newsupers_fill(sb, &plan->g, end, plan->ctime, NILFS_VALID_FS);
}

static int write_superblocks(struct context *cx, struct dev *dev,
			     const struct plan *plan,
			     const struct writer_end *end)
{
	struct nilfs_super_block sb;
	uint8_t block[PIECE] = { 0 };
	int ret;

	format_super(plan, end, &sb);
	memcpy(block + NILFS_SB_OFFSET_BYTES, &sb, sizeof(sb));
	ret = dev_write(dev, cx, 0, block, sizeof(block));
	if (!ret && plan->super2) {
		memset(block, 0, sizeof(block));
		memcpy(block, &sb, sizeof(sb));
		ret = dev_write(dev, cx, plan->super2, block, sizeof(block));
	}
	return ret ? ret : dev_flush(dev, cx);
}

int format_run(struct context *cx, struct dev *dev, struct plan *plan,
	       const struct format_how *how)
{
	struct content *c = how->content;
	uint64_t at;
	int ret = prepare_device(cx, dev, plan, how);

	if (!ret)
		ret = context_cancelled(cx);
	if (ret)
		return ret;
	ret = content_write(c, cx, dev, plan);
	if (c->digest)
		memcpy(plan->uuid, c->uuid, sizeof(plan->uuid));
	if (!ret && c->allocate) {
		/* Deallocates the preallocated space after the last log. */
		at = (geometry_segment_start(&plan->g, c->end.segnum) +
		      c->end.offset) << plan->g.block_bits;
		ret = dev_discard(dev, cx, at, dev->size - at);
	}
	if (!ret)
		ret = dev_flush(dev, cx);
	if (!ret && how->settle)
		ret = target_settle(cx, how->settle, plan->size);
	return ret ? ret : write_superblocks(cx, dev, plan, &c->end);
}
