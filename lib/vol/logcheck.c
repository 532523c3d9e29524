// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks of a whole log.
 *
 * The payload is read in large pieces through one buffer, since a log can be
 * as long as a segment.
 */
#include "vol/logcheck.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/rule.h"
#include "disk/segsum.h"
#include "vol/volume.h"

#define PIECE_BYTES (128u << 10)

int logcheck_payload(struct volume *vol, struct context *cx, uint64_t pseg,
		     const struct nilfs_segment_summary *ss)
{
	uint32_t nblocks = le32_get(ss->ss_nblocks), done, count;
	uint32_t piece = PIECE_BYTES >> vol->geo.block_bits;
	struct segsum_crc crc;
	enum rule rule;
	char *buf;
	int err = 0;

	buf = malloc(PIECE_BYTES);
	if (!buf)
		return fail(cx, -ENOMEM, "buffer for a log");
	segsum_crc_init_datasum(&crc, &vol->geo, ss);
	dev_readahead(vol->dev, pseg << vol->geo.block_bits,
		      (uint64_t)nblocks << vol->geo.block_bits);
	for (done = 0; done < nblocks && !err; done += count) {
		count = nblocks - done < piece ? nblocks - done : piece;
		err = volume_read_blocks(vol, cx, pseg + done, count, buf);
		if (!err)
			segsum_crc_update(&crc, buf, (size_t)count <<
					  vol->geo.block_bits);
	}
	free(buf);
	if (err)
		return err;
	rule = segsum_crc_check_datasum(&crc, ss);
	if (rule != RULE_OK)
		return fail(cx, -EUCLEAN, "log at block %llu: %s",
			    (unsigned long long)pseg, rule_info(rule)->text);
	return 0;
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
