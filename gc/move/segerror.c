// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segments that cannot be cleaned.
 *
 * If a block cannot be read the medium is failing, and new data there may be
 * lost; if logs contradict the DAT another cleaner would read them up to the
 * damage, and free live blocks after it.  The flag excludes such segments from
 * both the kernel and nilfs_cleanerd.  It is set after all other jobs, so that
 * one log is enough for all of them.
 */
#include "gc/move/segerror.h"

#include "gc/move/onelog.h"
#include "gc/plan/zoning.h"
#include "log/move.h"
#include "log/repairwriter.h"

static int write_error_log(struct context *cx, struct volume *vol,
			   const uint64_t *segments, size_t n, uint64_t time,
			   struct writer_end *end)
{
	struct writer_options options = writer_options_on(vol, time);
	struct repairwriter_known known = { .unusable = NULL };
	struct zoning zones = { .vol = NULL };
	struct writer *w = NULL;
	size_t i;
	int ret = zoning_open(&zones, cx, vol);

	options.minor = true;
	zoning_fill(&zones, &known);
	if (!ret)
		ret = repairwriter_open(&w, cx, vol, &options, &known);
	for (i = 0; i < n && !ret; i++)
		ret = move_condemn(w, cx, segments[i]);
	if (!ret)
		ret = onelog_commit(w, cx, vol, time, end);
	writer_close(w);
	zoning_close(&zones);
	return ret;
}

int segerror_segments(struct context *cx, struct dev *dev,
		      const uint64_t *segments, size_t n, uint64_t time,
		      struct batch_totals *totals)
{
	struct writer_end end;
	struct volume *vol;
	int ret;

	if (!n)
		return 0;
	ret = volume_open(&vol, cx, dev, NULL);
	if (!ret)
		ret = write_error_log(cx, vol, segments, n, time, &end);
	volume_close(vol);
	if (ret)
		return ret;
	totals->written += end.blocks;
	totals->summaries += end.summaries;
	totals->clean = end.clean_segments;
	return 0;
}
