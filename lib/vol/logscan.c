// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of a segment.
 *
 * A log contains its length, and the next one begins after it.  Only headers are read,
 * bypassing the cache, which would keep a whole block for a few bytes; callers read the
 * summary or verify the payload themselves.
 */
#include "vol/logscan.h"

#include <errno.h>

#include "disk/rule.h"
#include "disk/segsum.h"
#include "vol/volume.h"

int logscan_open(struct logscan *scan, struct context *cx, struct volume *vol,
		 uint64_t segnum, uint32_t nblocks)
{
	if (segnum >= vol->geo.nsegments)
		return fail(cx, -EINVAL, "segment %llu: the volume has only %llu segments",
			    (unsigned long long)segnum,
			    (unsigned long long)vol->geo.nsegments);
	scan->vol = vol;
	scan->segnum = segnum;
	scan->pseg = geometry_segment_start(&vol->geo, segnum);
	scan->end = geometry_segment_end(&vol->geo, segnum);
	if (nblocks && nblocks < scan->end - scan->pseg)
		scan->end = scan->pseg + nblocks;
	scan->any = false;
	return 0;
}

int logscan_next(struct logscan *scan, struct context *cx, struct log *log)
{
	const struct nilfs_geometry *geo = &scan->vol->geo;
	enum rule rule;
	int err;

	if (scan->pseg + NILFS_PSEG_MIN_BLOCKS > scan->end)
		return 0;
	err = dev_read(scan->vol->dev, cx, scan->pseg << geo->block_bits,
		       &log->ss, sizeof(log->ss));
	if (err)
		return err;
	rule = segsum_check(geo, &log->ss, scan->pseg);
	if (rule != RULE_OK)
		return 0;
	if (scan->any && le64_get(log->ss.ss_seq) != scan->seq)
		return 0;
	scan->any = true;
	scan->seq = le64_get(log->ss.ss_seq);
	log->pseg = scan->pseg;
	log->nblocks = le32_get(log->ss.ss_nblocks);
	scan->pseg += log->nblocks;
	return 1;
}
