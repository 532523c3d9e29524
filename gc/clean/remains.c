// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remains.
 *
 * The logs list every block as it was written, and the DAT shows whether it is
 * live.  Old blocks of DAT, cpfile and SUFILE do not count: each checkpoint
 * leaves some, and they have no content of files.
 */
#include "gc/clean/remains.h"

#include <errno.h>

#include "vol/logscan.h"
#include "vol/summary.h"
#include "vol/translate.h"

static bool is_of_files(const struct segsum_block *b)
{
	return b->is_virtual && b->ino != NILFS_DAT_INO &&
	       b->ino != NILFS_CPFILE_INO && b->ino != NILFS_SUFILE_INO;
}

/* Whether the block at BLOCKNR is the one of VBLOCKNR, and needed: 1, 0. */
static int is_block_needed(struct context *cx, struct volume *vol,
			   const struct liveness *l, uint64_t vblocknr,
			   uint64_t blocknr)
{
	struct nilfs_dat_entry de;
	int ret = translate_entry(vol, cx, vblocknr, &de);

	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (ret)
		return ret;
	return le64_get(de.de_blocknr) == blocknr &&
	       liveness_of_entry(l, &de) != LIVENESS_DEAD;
}

static int look_into(struct context *cx, struct volume *vol,
		     const struct liveness *l, struct summary *summary,
		     const struct log *log)
{
	struct segsum_block b;
	int ret = summary_read(summary, cx, vol, log->pseg, &log->ss);

	if (ret)
		return ret;
	while ((ret = summary_next(summary, cx, &b)) > 0) {
		if (!is_of_files(&b))
			continue;
		ret = is_block_needed(cx, vol, l, b.vblocknr,
				      log->pseg + b.index);
		if (ret <= 0)
			return ret ? ret : 1;
	}
	return ret;
}

int remains_any(struct context *cx, struct volume *vol,
		const struct liveness *l, uint64_t segnum, uint32_t nblocks)
{
	uint64_t end = geometry_segment_start(&vol->geo, segnum) + nblocks;
	struct summary summary = { .vol = NULL };
	struct logscan scan;
	struct log log;
	int ret;

	if (!nblocks)
		return 0;
	ret = logscan_open(&scan, cx, vol, segnum, nblocks);
	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0)
		ret = look_into(cx, vol, l, &summary, &log);
	summary_free(&summary);
	return ret ? ret : scan.pseg < end;
}
