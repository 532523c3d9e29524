// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the log of a block.
 *
 * A block has no reference to its log: the logs of its segment are walked until
 * one contains it.
 */
#include "dump/blocks/logfind.h"

#include <errno.h>
#include <string.h>

#include "vol/logsearch.h"
#include "vol/summary.h"
#include "vol/volume.h"

static bool covers(const struct log *log, uint64_t blocknr)
{
	return blocknr >= log->pseg && blocknr - log->pseg < log->nblocks;
}

/* After the chain: a log of an earlier life. */
static int find_behind(struct logfind *f, struct context *cx,
		       struct volume *vol, uint64_t segnum, uint64_t from,
		       uint64_t blocknr)
{
	struct logsearch search;
	int ret;

	ret = logsearch_open(&search, cx, vol, segnum, from);
	while (!ret) {
		ret = logsearch_next(&search, cx, &f->log);
		if (ret <= 0 || covers(&f->log, blocknr))
			break;
		ret = f->log.pseg > blocknr ? -ENOENT : 0;
	}
	logsearch_close(&search);
	return ret == -ENOENT ? 0 : ret;
}

/* 1 if a log contains BLOCKNR, 0 if none does. */
static int find_log(struct logfind *f, struct context *cx,
		    struct volume *vol, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&vol->geo, blocknr);
	struct logscan scan;
	int ret;

	ret = logscan_open(&scan, cx, vol, segnum, 0);
	if (ret)
		return ret;
	while ((ret = logscan_next(&scan, cx, &f->log)) > 0) {
		f->chained = covers(&f->log, blocknr);
		if (f->chained)
			return 1;
	}
	if (ret < 0 || scan.pseg > blocknr)
		return ret;
	return find_behind(f, cx, vol, segnum, scan.pseg, blocknr);
}

/* The item of the summary for the block number INDEX of the log. */
static int find_item(struct logfind *f, struct context *cx,
		     struct volume *vol, uint64_t index)
{
	struct summary s = { .vol = vol };
	int ret;

	ret = summary_read(&s, cx, vol, f->log.pseg, &f->log.ss);
	while (!ret && (ret = summary_next(&s, cx, &f->block)) > 0)
		ret = f->block.index == index ? 1 : 0;
	summary_free(&s);
	return ret;
}

static int find_part(struct logfind *f, struct context *cx,
		     struct volume *vol, uint64_t blocknr)
{
	uint64_t index = blocknr - f->log.pseg;
	int ret;

	f->part = LOGFIND_SUMMARY;
	if (index < segsum_nsumblk(&vol->geo, &f->log.ss))
		return 0;
	f->part = LOGFIND_SUPER_ROOT;
	if (segsum_has_super_root(&f->log.ss) && index == f->log.nblocks - 1)
		return 0;
	ret = find_item(f, cx, vol, index);
	f->part = ret > 0 ? LOGFIND_PAYLOAD : LOGFIND_UNLISTED;
	if (ret == -EUCLEAN)
		fail_clear(cx);
	return ret < 0 && ret != -EUCLEAN ? ret : 0;
}

int logfind_block(struct logfind *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr)
{
	int ret;

	memset(f, 0, sizeof(*f));
	ret = find_log(f, cx, vol, blocknr);
	if (ret <= 0)
		return ret;
	return find_part(f, cx, vol, blocknr);
}
