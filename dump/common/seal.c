// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checksums after a change.
 *
 * The checksums of a log are nested: that of the payload covers that of the
 * summary and that of the super root, so they are set from the inside out.  A
 * header may be wrong on purpose; its checksums can be computed as long as its
 * lengths stay in the segment.
 */
#include "dump/common/seal.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/segsum.h"
#include "disk/super.h"
#include "disk/superroot.h"

/* A log held in memory while its sums are set. */
struct sealing {
	struct dev *dev;
	struct context *cx;
	const struct nilfs_geometry *geo;
	const struct seal_watcher *watcher;
	uint64_t pseg;
	uint8_t *log;			/* all of it */
	struct nilfs_segment_summary *ss;	/* at its beginning */
};

static int put_sum(struct dev *dev, struct context *cx, uint64_t offset,
		   le32 *at, uint32_t sum)
{
	*at = le32_make(sum);
	return dev_write(dev, cx, offset, at, sizeof(*at));
}

int seal_super(struct dev *dev, struct context *cx, uint64_t offset,
	       const struct seal_watcher *watcher)
{
	struct nilfs_super_block sb;
	int err;

	err = dev_read(dev, cx, offset, &sb, sizeof(sb));
	if (err)
		return err;
	watcher->sum(watcher->arg, "super_block", "s_sum",
		     le32_get(sb.s_sum), super_checksum(&sb));
	return put_sum(dev, cx, offset +
		       offsetof(struct nilfs_super_block, s_sum), &sb.s_sum,
		       super_checksum(&sb));
}

/* The byte of the device for the byte AT of the log in memory. */
static uint64_t device_byte(const struct sealing *s, const void *at)
{
	return (s->pseg << s->geo->block_bits) +
	       (uint64_t)((const uint8_t *)at - s->log);
}

static int seal_field(struct sealing *s, const char *structure,
		      const char *field, le32 *at, uint32_t sum)
{
	s->watcher->sum(s->watcher->arg, structure, field, le32_get(*at),
			sum);
	return put_sum(s->dev, s->cx, device_byte(s, at), at, sum);
}

static int seal_super_root(struct sealing *s, uint8_t *block)
{
	struct nilfs_super_root *sr = (struct nilfs_super_root *)block;

	return seal_field(s, "super_root", "sr_sum", &sr->sr_sum,
			  superroot_checksum(s->geo, block));
}

static uint32_t sum_of(const struct sealing *s, struct segsum_crc *crc)
{
	segsum_crc_update(crc, s->log, (size_t)le32_get(s->ss->ss_nblocks)
			  << s->geo->block_bits);
	return crc->sum;
}

static int seal_all(struct sealing *s, uint64_t index)
{
	uint64_t nblocks = le32_get(s->ss->ss_nblocks);
	struct segsum_crc crc;
	int err = 0;

	if (index < segsum_nsumblk(s->geo, s->ss)) {
		segsum_crc_init_sumsum(&crc, s->geo, s->ss);
		err = seal_field(s, "segment_summary", "ss_sumsum",
				 &s->ss->ss_sumsum, sum_of(s, &crc));
	} else if (index == nblocks - 1 && segsum_has_super_root(s->ss)) {
		err = seal_super_root(s, s->log +
				      (index << s->geo->block_bits));
	}
	if (err)
		return err;
	segsum_crc_init_datasum(&crc, s->geo, s->ss);
	return seal_field(s, "segment_summary", "ss_datasum",
			  &s->ss->ss_datasum, sum_of(s, &crc));
}

/* Blocks from PSEG to the end of its segment. */
static uint64_t room_at(const struct nilfs_geometry *geo, uint64_t pseg)
{
	if (!geometry_has_block(geo, pseg))
		return 0;
	return geometry_segment_end(geo, geometry_segment_of(geo, pseg)) -
	       pseg;
}

static int read_log(struct sealing *s)
{
	uint64_t byte = s->pseg << s->geo->block_bits;
	struct nilfs_segment_summary ss;
	uint64_t nblocks;
	int err;

	err = dev_read(s->dev, s->cx, byte, &ss, sizeof(ss));
	if (err)
		return err;
	nblocks = le32_get(ss.ss_nblocks);
	if (!nblocks || nblocks > room_at(s->geo, s->pseg) ||
	    segsum_nsumblk(s->geo, &ss) > nblocks)
		return fail(s->cx, -EUCLEAN,
			    "log at block %llu: its lengths allow no checksum",
			    (unsigned long long)s->pseg);
	s->log = malloc(nblocks << s->geo->block_bits);
	if (!s->log)
		return fail(s->cx, -ENOMEM, "log of %llu blocks",
			    (unsigned long long)nblocks);
	s->ss = (struct nilfs_segment_summary *)s->log;
	return dev_read(s->dev, s->cx, byte, s->log,
			nblocks << s->geo->block_bits);
}

int seal_log(struct dev *dev, struct context *cx,
	     const struct nilfs_geometry *geo, uint64_t pseg, uint64_t index,
	     const struct seal_watcher *watcher)
{
	struct sealing s = {
		.dev = dev,
		.cx = cx,
		.geo = geo,
		.watcher = watcher,
		.pseg = pseg,
	};
	int err;

	err = read_log(&s);
	if (!err)
		err = seal_all(&s, index);
	free(s.log);
	return err;
}
