// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Setting the checksums that cover a changed structure, for the commands set and
 * image.
 *
 * The checksums of a log are nested: that of the payload covers that of the
 * summary and that of the super root, which are set first.  A header may be
 * wrong on purpose; its checksums can be computed as long as its lengths stay
 * within the segment.
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
	const struct seal_watcher *watcher;
	uint64_t byte;			/* of the log on the device */
	uint8_t *log;			/* all of it */
};

int seal_super(struct dev *dev, struct context *cx, uint64_t offset,
	       const struct seal_watcher *watcher)
{
	struct nilfs_super_block sb;
	uint32_t sum;
	int err;

	err = dev_read(dev, cx, offset, &sb, sizeof(sb));
	if (err)
		return err;
	sum = super_checksum(&sb);
	if (watcher)
		watcher->sum(watcher->arg, "super_block", "s_sum",
			     le32_get(sb.s_sum), sum);
	sb.s_sum = le32_make(sum);
	return dev_write(dev, cx,
			 offset + offsetof(struct nilfs_super_block, s_sum),
			 &sb.s_sum, sizeof(sb.s_sum));
}

/* Sets the sum AT of the log in memory, there and on the device. */
static int seal_field(struct sealing *s, const char *structure,
		      const char *field, le32 *at, uint32_t sum)
{
	if (s->watcher)
		s->watcher->sum(s->watcher->arg, structure, field,
				le32_get(*at), sum);
	*at = le32_make(sum);
	return dev_write(s->dev, s->cx,
			 s->byte + (uint64_t)((const uint8_t *)at - s->log),
			 at, sizeof(*at));
}

int seal_log(struct dev *dev, struct context *cx,
	     const struct nilfs_geometry *geo, uint64_t pseg, uint64_t index,
	     const struct seal_watcher *watcher)
{
	struct sealing s = {
		.dev = dev,
		.cx = cx,
		.watcher = watcher,
		.byte = pseg << geo->block_bits,
	};
	struct nilfs_segment_summary header, *ss;
	uint64_t nblocks, room = 0;
	struct nilfs_super_root *sr;
	struct segsum_crc crc;
	size_t bytes;
	int err;

	err = dev_read(dev, cx, s.byte, &header, sizeof(header));
	if (err)
		return err;
	nblocks = le32_get(header.ss_nblocks);
	if (geometry_has_block(geo, pseg))
		room = geometry_segment_end(geo, geometry_segment_of(geo, pseg)) -
		       pseg;
	if (!nblocks || nblocks > room ||
	    segsum_nsumblk(geo, &header) > nblocks)
		return fail(cx, -EUCLEAN,
			    "log at block %llu: invalid length, no checksum",
			    (unsigned long long)pseg);
	bytes = (size_t)nblocks << geo->block_bits;
	s.log = malloc(bytes);
	if (!s.log)
		return fail(cx, -ENOMEM, "log of %llu blocks",
			    (unsigned long long)nblocks);
	ss = (struct nilfs_segment_summary *)s.log;
	err = dev_read(dev, cx, s.byte, s.log, bytes);
	if (!err && index < segsum_nsumblk(geo, ss)) {
		segsum_crc_init(&crc, SEGSUM_SUMSUM, geo, ss);
		segsum_crc_update(&crc, s.log, bytes);
		err = seal_field(&s, "segment_summary", "ss_sumsum",
				 &ss->ss_sumsum, crc.sum);
	} else if (!err && index == nblocks - 1 && segsum_has_super_root(ss)) {
		sr = (struct nilfs_super_root *)(s.log +
						 (index << geo->block_bits));
		err = seal_field(&s, "super_root", "sr_sum", &sr->sr_sum,
				 superroot_checksum(geo, sr));
	}
	if (!err) {
		segsum_crc_init(&crc, SEGSUM_DATASUM, geo, ss);
		segsum_crc_update(&crc, s.log, bytes);
		err = seal_field(&s, "segment_summary", "ss_datasum",
				 &ss->ss_datasum, crc.sum);
	}
	free(s.log);
	return err;
}
