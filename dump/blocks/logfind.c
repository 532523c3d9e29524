// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the log of a block.
 *
 * A block does not refer to its log, so the logs of its segment are read until one
 * contains it.  A log whose summary is damaged counts too: its header has the
 * length.
 */
#include "dump/blocks/logfind.h"

#include <errno.h>
#include <string.h>

#include "vol/logsearch.h"
#include "vol/summary.h"
#include "vol/volume.h"

static bool log_has_block(const struct log *log, uint64_t blocknr)
{
	return blocknr >= log->pseg && blocknr - log->pseg < log->nblocks;
}

/* Sets f->log to the log that contains BLOCKNR: 1, 0 if none does. */
static int logfind_log(struct logfind *f, struct context *cx,
		       struct volume *vol, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&vol->geo, blocknr);
	struct logsearch search;
	struct logscan scan;
	int ret;

	ret = logscan_open(&scan, cx, vol, segnum, 0);
	if (ret)
		return ret;
	while ((ret = logscan_next(&scan, cx, &f->log)) > 0) {
		f->chained = log_has_block(&f->log, blocknr);
		if (f->chained)
			return 1;
	}
	if (ret < 0 || scan.pseg > blocknr)
		return ret;
	/* Logs of an earlier use of the segment are after the chain. */
	ret = logsearch_open(&search, cx, vol, segnum, scan.pseg);
	while (!ret && (ret = logsearch_next(&search, cx, &f->log)) > 0) {
		if (log_has_block(&f->log, blocknr))
			break;
		ret = f->log.pseg > blocknr ? -ENOENT : 0;
	}
	logsearch_close(&search);
	return ret == -ENOENT ? 0 : ret;
}

int logfind_block(struct logfind *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr)
{
	struct summary s = { .vol = vol };
	uint64_t index;
	int ret;

	memset(f, 0, sizeof(*f));
	ret = logfind_log(f, cx, vol, blocknr);
	if (ret <= 0)
		return ret;
	index = blocknr - f->log.pseg;
	f->part = LOGFIND_SUMMARY;
	if (index < segsum_nsumblk(&vol->geo, &f->log.ss))
		return 0;
	f->part = LOGFIND_SUPER_ROOT;
	if (segsum_has_super_root(&f->log.ss) && index == f->log.nblocks - 1)
		return 0;
	ret = summary_read(&s, cx, vol, f->log.pseg, &f->log.ss);
	while (!ret && (ret = summary_next(&s, cx, &f->block)) > 0)
		ret = f->block.index == index ? 1 : 0;
	summary_free(&s);
	f->part = ret > 0 ? LOGFIND_PAYLOAD : LOGFIND_UNLISTED;
	if (ret == -EUCLEAN)
		fail_clear(cx);
	return ret < 0 && ret != -EUCLEAN ? ret : 0;
}
