// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The use of the space of a volume, and the part of it that cleaning would free.
 *
 * One pass over the DAT counts the live blocks of each segment, as for gc.nilfs2, and
 * the blocks that only old checkpoints keep.  The number of blocks that cleaning frees
 * is an upper bound: a cleaner writes metadata, too, and cannot clean a segment that a
 * superblock needs.
 */
#include "dump/volume/info.h"

#include <inttypes.h>
#include <stdio.h>

#include "disk/checkpoint.h"
#include "dump/common/image.h"
#include "dump/volume/segment.h"
#include "vol/cptable.h"
#include "vol/gain.h"
#include "vol/protection.h"

/* "2026-11-28 19:35:55 +0000", twice, and words. */
#define DATES_MAX (4 * VALUE_TEXT_MAX)

/* Blocks that gc.nilfs2 gains from a segment of BLOCKS blocks if KEPT are moved. */
static uint32_t gain_of(uint32_t blocks, uint32_t kept)
{
	return gain_is_worth(blocks, kept, GAIN_MIN_DEAD) ?
		       gain_blocks(blocks, kept) : 0;
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
			u->later += gain_of(s.blocks, s.live + s.snapshot);
		}
		ret = context_cancelled(cx);
	}
	sutable_cursor_close(&cur);
	return ret;
}

int occupancy_count(struct occupancy *u, struct tool *tool, struct volume *vol)
{
	struct segment_source src = { .vol = vol };
	struct context *cx = &tool->cx;
	uint64_t cno;
	int ret;

	progress_begin(&tool->progress, "counting blocks", 0, false);
	ret = protection_cno(vol, cx, GAIN_PROTECT, &cno);
	if (!ret)
		ret = liveness_count_old(vol, cx, cno, &src.live);
	if (!ret)
		ret = add_segments(u, cx, &src);
	u->old = ret ? 0 : src.live->old;
	segment_close(&src);
	progress_end(&tool->progress);
	u->now -= u->now % vol->geo.blocks_per_segment;
	u->later -= u->later % vol->geo.blocks_per_segment;
	return ret;
}

int occupancy_dates(struct occupancy *u, struct context *cx, struct volume *vol)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	struct occupancy_dates *d;
	int i, ret = cptable_cursor_open(&cur, cx, vol);

	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		for (i = 0; i <= checkpoint_is_snapshot(&cp); i++) {
			d = i ? &u->snapshots : &u->checkpoints;
			d->newest = le64_get(cp.cp_create);
			if (!d->count++)
				d->oldest = d->newest;
		}
		ret = context_cancelled(cx);
	}
	cptable_cursor_close(&cur);
	return ret;
}

/* Reports "20, from TIME to TIME". */
static void summarize_dates(struct report *r, const char *key, const char *label,
			    const struct occupancy_dates *d)
{
	char text[DATES_MAX], from[VALUE_TEXT_MAX], to[VALUE_TEXT_MAX];

	value_time_text(r->out, (int64_t)d->oldest, from);
	value_time_text(r->out, (int64_t)d->newest, to);
	snprintf(text, sizeof(text), d->count > 1 ? "%" PRIu64 ", from %s to %s" :
		 d->count ? "%" PRIu64 ", of %s" : "none", d->count, from, to);
	report_string(r, key, label, text);
}

void occupancy_summarize(const struct occupancy *u, struct tool *tool,
			 const struct volume *vol)
{
	const uint64_t *blocks[] = { &u->latest, &u->snapshot, &u->old, &u->now,
				     &u->later };
	struct report *r = &tool->report;
	char sizes[5][VALUE_TEXT_MAX], text[DATES_MAX + FAILURE_TEXT_MAX];
	int i;

	for (i = 0; i < 5; i++)
		value_size_text(r->out, *blocks[i] << vol->geo.block_bits, sizes[i]);
	snprintf(text, sizeof(text), "latest state %s, snapshots alone %s, "
		 "old checkpoints alone %s", sizes[0], sizes[1], sizes[2]);
	report_string(r, "held", "Held by", text);
	if (u->later)
		snprintf(text, sizeof(text), "frees about %s now, %s after "
			 "%u minutes: gc.nilfs2 %s", sizes[3], sizes[4],
			 GAIN_PROTECT / 60, tool->argv[0]);
	else
		snprintf(text, sizeof(text), "would free nothing");
	report_string(r, "cleaning", "Cleaning", text);
}

void occupancy_summarize_dates(const struct occupancy *u, struct report *r)
{
	summarize_dates(r, "checkpoints", "Checkpoints", &u->checkpoints);
	summarize_dates(r, "snapshots", "Snapshots", &u->snapshots);
}

void occupancy_report(const struct occupancy *u, struct report *r,
		      const struct volume *vol, bool dates, bool counts)
{
	const struct {
		const char *key, *label;
		const uint64_t *blocks;
	} rows[] = {
		{ "latest_bytes", "Latest state", &u->latest },
		{ "snapshot_bytes", "Snapshots alone", &u->snapshot },
		{ "checkpoint_bytes", "Old checkpoints alone", &u->old },
		{ "dead_bytes", "Dead", &u->dead },
		{ "protected_bytes", "Kept for an hour", &u->recent },
		{ "reclaimable_bytes", "gc.nilfs2 frees about", &u->now },
		{ "reclaimable_later_bytes", "After an hour about", &u->later },
	}, *row;
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

	report_begin(r, "space", NULL);
	if (dates) {
		report_value(r, VALUE_TIME, "oldest_checkpoint", "Oldest checkpoint",
			     value_nonzero(u->checkpoints.oldest));
		report_value(r, VALUE_TIME, "oldest_snapshot", "Oldest snapshot",
			     value_nonzero(u->snapshots.oldest));
		report_value(r, VALUE_TIME, "newest_snapshot", "Newest snapshot",
			     value_nonzero(u->snapshots.newest));
	}
	for (row = rows; row < rows + ROWS && (counts || !report_is_text(r)); row++)
		report_value(r, VALUE_SIZE, row->key, row->label, !counts ?
			     value_absent() :
			     value_u64(*row->blocks << vol->geo.block_bits));
	report_end(r);
}
