// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Searching for logs block by block.
 *
 * Logs of a former use of a segment remain until they are overwritten, and logs
 * written after the last super root are not recorded in any metadata.  The checksum
 * of a summary depends on the volume, so blocks that only look like a log, for
 * instance in an image of another volume, are detected.
 */
#include "vol/logsearch.h"

#include <errno.h>
#include <string.h>

#include "disk/rule.h"
#include "disk/segsum.h"
#include "vol/volume.h"

#define READAHEAD_BLOCKS 64

int logsearch_open(struct logsearch *search, struct context *cx,
		   struct volume *vol, uint64_t segnum, uint64_t from)
{
	memset(search, 0, sizeof(*search));
	if (segnum >= vol->geo.nsegments)
		return fail(cx, -EINVAL, "segment %llu: the volume has only %llu segments",
			    (unsigned long long)segnum,
			    (unsigned long long)vol->geo.nsegments);
	search->vol = vol;
	search->next = from;
	search->end = geometry_segment_end(&vol->geo, segnum);
	return 0;
}

/* 1 if a log begins at the place, with its header in SS, 0 if not, or a failure. */
static int is_log(struct logsearch *search, struct context *cx,
		  struct nilfs_segment_summary *ss)
{
	struct volume *vol = search->vol;
	struct segsum_crc crc;
	const void *block;
	int err;

	if (search->between && search->next >= search->ahead) {
		search->ahead = search->next + READAHEAD_BLOCKS;
		if (search->ahead > search->end)
			search->ahead = search->end;
		cache_readahead(vol->cache, cx, search->next,
				(unsigned int)(search->ahead - search->next));
	}
	err = cache_get(vol->cache, cx, search->next, &block);
	if (err)
		return err;
	memcpy(ss, block, sizeof(*ss));
	cache_put(vol->cache, block);
	if (segsum_check(&vol->geo, ss, search->next) != RULE_OK)
		return 0;
	err = summary_read(&search->summary, cx, vol, search->next, ss);
	if (err)
		return err;
	segsum_crc_init_sumsum(&crc, &vol->geo, ss);
	segsum_crc_update(&crc, search->summary.buf,
			  (size_t)segsum_nsumblk(&vol->geo, ss)
			  << vol->geo.block_bits);
	return segsum_crc_check_sumsum(&crc, ss) == RULE_OK;
}

int logsearch_next(struct logsearch *search, struct context *cx,
		   struct log *log)
{
	const struct volume *vol = search->vol;
	unsigned int bits = vol->geo.block_bits;
	int ret;

	for (; search->next + NILFS_PSEG_MIN_BLOCKS <= search->end;
	     search->next++) {
		/* The rest may never have been written: check once for each read. */
		if (search->next >= search->ahead &&
		    dev_is_hole(vol->dev, search->next << bits,
				(search->end - search->next) << bits))
			break;
		ret = is_log(search, cx, &log->ss);
		if (ret < 0)
			return ret;
		search->between = !ret;
		if (!ret)
			continue;
		log->pseg = search->next;
		log->nblocks = le32_get(log->ss.ss_nblocks);
		search->next += log->nblocks;
		return 1;
	}
	return 0;
}

void logsearch_close(struct logsearch *search)
{
	summary_free(&search->summary);
}
