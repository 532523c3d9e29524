// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of a segment.
 *
 * A log says how long it is, and the next one begins there.  Only headers
 * are read: whoever wants the blocks of a log reads its summary, whoever
 * doubts its payload sums it up.
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
		return fail(cx, -EINVAL, "segment %llu: the volume has %llu",
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
	const void *block;
	enum rule rule;
	int err;

	if (scan->pseg + NILFS_PSEG_MIN_BLOCKS > scan->end)
		return 0;
	err = cache_get(scan->vol->cache, cx, scan->pseg, &block);
	if (err)
		return err;
	memcpy(&log->ss, block, sizeof(log->ss));
	cache_put(scan->vol->cache, block);

	rule = segsum_check(&scan->vol->geo, &log->ss, scan->pseg);
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
