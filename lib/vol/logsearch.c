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

int logsearch_next(struct logsearch *search, struct context *cx,
		   struct log *log)
{
	struct volume *vol = search->vol;
	const struct nilfs_geometry *geo = &vol->geo;
	struct segsum_crc crc;
	const void *block;
	int err;

	for (; search->next + NILFS_PSEG_MIN_BLOCKS <= search->end;
	     search->next++) {
		/* The rest may never have been written: check once for each read. */
		if (search->next >= search->ahead &&
		    dev_is_hole(vol->dev, search->next << geo->block_bits,
				(search->end - search->next)
					<< geo->block_bits))
			break;
		if (search->between && search->next >= search->ahead) {
			search->ahead = search->next + READAHEAD_BLOCKS;
			if (search->ahead > search->end)
				search->ahead = search->end;
			cache_readahead(vol->cache, cx, search->next,
					(unsigned int)(search->ahead -
						       search->next));
		}
		err = cache_get(vol->cache, cx, search->next, &block);
		if (err)
			return err;
		memcpy(&log->ss, block, sizeof(log->ss));
		cache_put(vol->cache, block);
		search->between = true;
		if (segsum_check(geo, &log->ss, search->next) != RULE_OK)
			continue;
		err = summary_read(&search->summary, cx, vol, search->next,
				   &log->ss);
		if (err)
			return err;
		segsum_crc_init(&crc, SEGSUM_SUMSUM, geo, &log->ss);
		segsum_crc_update(&crc, search->summary.buf,
				  (size_t)segsum_nsumblk(geo, &log->ss)
					  << geo->block_bits);
		if (segsum_crc_check(&crc, &log->ss) != RULE_OK)
			continue;
		search->between = false;
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
