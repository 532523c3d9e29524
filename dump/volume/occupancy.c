// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What holds the space of a volume, and what cleaning would free of it.
 *
 * Live blocks of each segment are counted by one pass over the DAT, as gc.nilfs2 does;
 * a second one counts all checkpoints as if they were snapshots, which gives what only
 * old checkpoints hold.  What cleaning frees is an upper bound: a cleaner writes
 * metadata, too, and cannot clean a segment that a superblock needs.
 */
#include "dump/volume/info.h"

#include <stdlib.h>

#include "disk/checkpoint.h"
#include "dump/common/image.h"
#include "dump/volume/segment.h"
#include "vol/cptable.h"

/* The defaults of gc.nilfs2: --protect in seconds, --min-reclaimable in percent. */
#define PERIOD 3600
#define WORTH 10

struct occupancy {
	uint64_t latest, snapshot, recent, dead;	/* blocks */
	uint64_t now, later;	/* that cleaning frees, and after PERIOD */
	uint64_t held;		/* of any checkpoint, and not of the latest state */
};

/* Blocks that cleaning a segment of BLOCKS blocks gains if KEPT are moved. */
static uint64_t gain_of(uint64_t blocks, uint64_t kept)
{
	uint64_t dead = kept < blocks ? blocks - kept : 0;
	uint64_t list = kept / 32 + 1;	/* blocks of the summary for these */

	if (!kept)
		return blocks;
	return dead * 100 >= WORTH * blocks && dead > list ? dead - list : 0;
}

/* Sums up the counts of all segments in SRC. */
static int add_segments(struct occupancy *u, struct context *cx,
			const struct segment_source *src)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct segment s;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, src->vol, false);

	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		segment_outline(src, segnum, &su, &s);
		u->latest += s.live;
		u->snapshot += s.snapshot;
		u->recent += s.recent;
		u->dead += segment_dead(&s);
		if ((s.state & (SEGMENT_ACTIVE | SEGMENT_DIRTY |
				SEGMENT_ERROR)) == SEGMENT_DIRTY) {
			u->now += gain_of(s.blocks, segment_kept(&s));
			u->later += gain_of(s.blocks,
					    (uint64_t)s.live + s.snapshot);
		}
		ret = context_cancelled(cx);
	}
	sutable_cursor_close(&cur);
	return ret;
}

/* Counts the blocks that any checkpoint holds, and the latest state does not. */
static int count_held(struct occupancy *u, struct context *cx, struct volume *vol)
{
	struct liveness *l = NULL;
	uint64_t *cnos = NULL, i;
	size_t n = 0;
	int ret = cptable_list(vol, cx, false, &cnos, &n);

	if (!ret)
		ret = liveness_count_with(vol, cx, UINT64_MAX, cnos, n, &l);
	for (i = 0; !ret && i < vol->geo.nsegments; i++)
		u->held += liveness_of(l, i).snapshot;
	liveness_free(l);
	free(cnos);
	return ret;
}

/* Reports when the oldest checkpoint, and the oldest and newest snapshot, were made. */
static int report_dates(struct volume *vol, struct context *cx, struct report *r)
{
	uint64_t first = 0, oldest = 0, newest = 0, created;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret = cptable_cursor_open(&cur, cx, vol);

	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		created = le64_get(cp.cp_create);
		first = first ? first : created;
		if (checkpoint_is_snapshot(&cp)) {
			oldest = oldest ? oldest : created;
			newest = created;
		}
		ret = context_cancelled(cx);
	}
	cptable_cursor_close(&cur);
	if (ret)
		return ret;
	report_time(r, "oldest_checkpoint", "Oldest checkpoint", first);
	if (!oldest && report_is_text(r))
		return 0;
	report_value(r, VALUE_TIME, "oldest_snapshot", "Oldest snapshot",
		     value_nonzero(oldest));
	report_value(r, VALUE_TIME, "newest_snapshot", "Newest snapshot",
		     value_nonzero(newest));
	return 0;
}

int occupancy_report(struct tool *tool, struct volume *vol)
{
	const struct nilfs_geometry *g = &vol->geo;
	struct context *cx = &tool->cx;
	struct report *r = &tool->report;
	struct segment_source src = { .vol = NULL };
	struct occupancy u = { .held = 0 };
	const struct {
		const char *key, *label;
		const uint64_t *blocks;
	} rows[] = {
		{ "latest_bytes", "Latest state", &u.latest },
		{ "snapshot_bytes", "Snapshots alone", &u.snapshot },
		{ "checkpoint_bytes", "Old checkpoints alone", &u.held },
		{ "dead_bytes", "Dead", &u.dead },
		{ "protected_bytes", "Kept for an hour", &u.recent },
		{ "reclaimable_bytes", "gc.nilfs2 frees about", &u.now },
		{ "reclaimable_later_bytes", "After an hour about", &u.later },
	}, *row;
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	int status = 0, ret;

	report_begin(r, "space", NULL);
	ret = image_note(tool, &status, report_dates(vol, cx, r));
	/* A pass over the DAT of a large volume takes a while. */
	if (report_is_text(r))
		out_flush(r->out);
	progress_begin(&tool->progress, "counting blocks", 0, false);
	if (!ret)
		ret = segment_open(&src, cx, vol, PERIOD);
	if (!ret)
		ret = add_segments(&u, cx, &src);
	segment_close(&src);
	if (!ret)
		ret = count_held(&u, cx, vol);
	progress_end(&tool->progress);
	u.held -= u.snapshot < u.held ? u.snapshot : u.held;
	u.now -= u.now % g->blocks_per_segment;
	u.later -= u.later % g->blocks_per_segment;
	if (ret && report_is_text(r))
		report_string(r, "unknown", "What holds the space",
			      "unknown, as metadata is damaged; fsck.nilfs2 -n "
			      "has the details");
	for (row = rows; row < rows + ROWS && !(ret && report_is_text(r)); row++)
		report_value(r, VALUE_SIZE, row->key, row->label,
			     ret ? value_absent() :
				   value_u64(*row->blocks << g->block_bits));
	report_end(r);
	ret = image_note(tool, &status, ret);
	return ret ? ret : status;
}
