// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of writing.
 *
 * On a device that holds something the places of both superblocks are wiped
 * first, and nothing else is touched before that is on the medium.  A cut in
 * between leaves an old volume whole, with one superblock, two or none; after
 * it, nothing passes for a volume until the first log is on the medium and
 * the new superblocks are written.  They say the same, so that either alone
 * is enough.
 *
 * Other signatures are wiped where libblkid looks: in the first and the last
 * MiB.  What is zero already is not written again, so a sparse image stays
 * sparse; a blank one needs no wiping at all and takes two flushes, three
 * writes and as many pages as the volume has.
 */
#include "mkfs/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/ondisk.h"
#include "mkfs/firstlog.h"
#include "mkfs/newsuper.h"

#define PIECE 4096u		/* what a superblock occupies, too */
#define WIPE_RANGE (1u << 20)
#define WIPE_BUFFER (64u << 10)

static bool is_zero(const uint8_t *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

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

/* Writes zeros over the pieces of [OFF, OFF + LEN) that are not zero. */
static int wipe_buffer(struct context *cx, struct dev *dev, uint64_t off,
		       size_t len, uint8_t *buf)
{
	size_t at, n;
	int ret = dev_read(dev, cx, off, buf, len);

	for (at = 0; at < len && !ret; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		if (is_zero(buf + at, n))
			continue;
		memset(buf + at, 0, n);
		ret = dev_write(dev, cx, off + at, buf + at, n);
	}
	return ret;
}

static int wipe_range(struct context *cx, struct dev *dev, uint64_t off,
		      uint64_t end, uint8_t *buf)
{
	int ret = 0;

	while (off < end && !ret) {
		size_t len = end - off < WIPE_BUFFER ? end - off : WIPE_BUFFER;

		ret = wipe_buffer(cx, dev, off, len, buf);
		off += len;
	}
	return ret;
}

static int wipe_signatures(struct context *cx, struct dev *dev)
{
	uint64_t head = dev->size < WIPE_RANGE ? dev->size : WIPE_RANGE;
	uint64_t tail = (dev->size - head) & ~(uint64_t)(PIECE - 1);
	uint8_t *buf = malloc(WIPE_BUFFER);
	int ret;

	if (!buf)
		return fail(cx, -ENOMEM, "%s: wipe", dev->name);
	ret = wipe_range(cx, dev, 0, head, buf);
	if (!ret)
		ret = wipe_range(cx, dev, tail > head ? tail : head,
				 dev->size, buf);
	free(buf);
	return ret;
}

static int prepare(struct context *cx, struct dev *dev,
		   const struct plan *plan, const struct format_how *how)
{
	bool blank = how->blank && !how->test;
	int ret = 0;

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

static int write_log(struct context *cx, struct dev *dev,
		     const struct plan *plan)
{
	const struct nilfs_geometry *g = &plan->g;
	size_t bytes = (size_t)firstlog_nblocks(g) * g->block_size;
	void *buf = calloc(1, bytes);
	int ret;

	if (!buf)
		return fail(cx, -ENOMEM, "%s: first log", dev->name);
	firstlog_fill(plan, buf);
	ret = dev_write(dev, cx, g->first_data_block * g->block_size, buf,
			bytes);
	free(buf);
	return ret ? ret : dev_flush(dev, cx);
}

static int write_superblocks(struct context *cx, struct dev *dev,
			     const struct plan *plan)
{
	struct nilfs_super_block sb;
	uint8_t block[PIECE] = { 0 };
	int ret;

	newsuper_fill(plan, &sb);
	memcpy(block + NILFS_SB_OFFSET_BYTES, &sb, sizeof(sb));
	ret = dev_write(dev, cx, 0, block, sizeof(block));
	if (ret)
		return ret;
	memset(block, 0, sizeof(block));
	memcpy(block, &sb, sizeof(sb));
	ret = dev_write(dev, cx, plan->super2, block, sizeof(block));
	return ret ? ret : dev_flush(dev, cx);
}

int format_run(struct context *cx, struct dev *dev, const struct plan *plan,
	       const struct format_how *how)
{
	int ret = prepare(cx, dev, plan, how);

	if (!ret)
		ret = context_cancelled(cx);
	if (!ret)
		ret = write_log(cx, dev, plan);
	if (!ret)
		ret = write_superblocks(cx, dev, plan);
	return ret;
}
