// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks of a whole log.
 *
 * The payload, which can be as long as a segment, is read through one buffer that
 * fits into the processor's cache, bypassing the block cache, since nothing is read
 * again.  The whole log is announced before, so that a disk gets large requests.
 */
#include "vol/logcheck.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/rule.h"
#include "disk/segsum.h"
#include "vol/volume.h"

#define BUFFER_BYTES (128u << 10)

int logcheck_sum(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *geo, uint64_t pseg,
		 const struct nilfs_segment_summary *ss,
		 struct segsum_crc *crc)
{
	uint64_t at = pseg << geo->block_bits, n;
	uint64_t end = at + ((uint64_t)le32_get(ss->ss_nblocks)
			     << geo->block_bits);
	char *buf = malloc(BUFFER_BYTES);
	int err = buf ? 0 : fail(cx, -ENOMEM, "buffer for a log");

	segsum_crc_init(crc, SEGSUM_DATASUM, geo, ss);
	dev_readahead(dev, at, end - at);
	for (; at < end && !err; at += n) {
		n = end - at < BUFFER_BYTES ? end - at : BUFFER_BYTES;
		err = dev_read(dev, cx, at, buf, n);
		if (!err)
			segsum_crc_update(crc, buf, n);
	}
	free(buf);
	return err;
}

int logcheck_is_right(struct dev *dev, struct context *cx,
		      const struct nilfs_geometry *geo, uint64_t pseg,
		      const struct nilfs_segment_summary *ss)
{
	struct segsum_crc crc;
	int err = logcheck_sum(dev, cx, geo, pseg, ss, &crc);

	return err ? err : segsum_crc_check(&crc, ss) == RULE_OK;
}

int logcheck_payload(struct volume *vol, struct context *cx, uint64_t pseg,
		     const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t nblocks = le32_get(ss->ss_nblocks);
	int ret;

	if (pseg >= geo->nblocks || nblocks > geo->nblocks - pseg)
		return fail(cx, -EUCLEAN, "log at block %llu: reaches outside "
			    "the device", (unsigned long long)pseg);
	ret = logcheck_is_right(vol->dev, cx, geo, pseg, ss);
	if (!ret)
		ret = fail(cx, -EUCLEAN, "log at block %llu: %s",
			   (unsigned long long)pseg,
			   rule_info(RULE_LOG_DATASUM)->text);
	return ret < 0 ? ret : 0;
}

int logcheck_read(struct volume *vol, struct context *cx, uint64_t pseg,
		  uint64_t seq, struct nilfs_segment_summary *ss)
{
	const void *block;
	enum rule rule;
	int err;

	err = cache_get(vol->cache, cx, pseg, &block);
	if (err)
		return err;
	memcpy(ss, block, sizeof(*ss));
	cache_put(vol->cache, block);
	rule = segsum_check_kernel(&vol->geo, ss, pseg, seq);
	if (rule != RULE_OK)
		return fail(cx, -EUCLEAN, "log at block %llu: %s",
			    (unsigned long long)pseg, rule_info(rule)->text);
	return logcheck_payload(vol, cx, pseg, ss);
}
