// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checkpoints over time, in a report.
 *
 * The plot needs the time and the size of each; the table has what people come
 * back to, which is snapshots and the last few.
 */
#include "dump/report_past.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/checkpoint.h"
#include "out/chart.h"
#include "out/svg.h"
#include "out/table.h"
#include "vol/cptable.h"

#define WIDTH 880u
#define HEIGHT 280u
#define NEWEST 20		/* checkpoints in the table */
#define SNAPSHOTS 100		/* the same, the newest ones */

enum { CNO, CREATED, SNAPSHOT, SIZE, INODES, INCREMENT, COLUMNS };

static const struct column columns[COLUMNS] = {
	[CNO] = { "checkpoint", "CHECKPOINT", VALUE_U64, 10 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 19 },
	[SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_BOOL, 8 },
	[SIZE] = { "bytes", "SIZE OF FILES", VALUE_SIZE, 10 },
	[INODES] = { "inodes", "INODES", VALUE_U64, 8 },
	[INCREMENT] = { "increment_bytes", "WRITTEN BY IT", VALUE_SIZE, 10 },
};

/* One checkpoint. */
struct past_entry {
	uint64_t cno, created, blocks, inodes, increment;
	bool snapshot;
};

struct past {
	struct tool *tool;
	uint64_t block_size;
	struct past_entry *entries;
	size_t count, room, snapshots;
};

static int add(struct past *p, const struct nilfs_checkpoint *cp)
{
	struct past_entry *entries = array_grow(&p->tool->cx, p->entries,
						&p->room, p->count + 1,
						sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	p->entries = entries;
	entries[p->count++] = (struct past_entry){
		.cno = le64_get(cp->cp_cno),
		.created = le64_get(cp->cp_create),
		.blocks = le64_get(cp->cp_blocks_count),
		.inodes = le64_get(cp->cp_inodes_count),
		.increment = le64_get(cp->cp_nblk_inc),
		.snapshot = checkpoint_is_snapshot(cp),
	};
	p->snapshots += checkpoint_is_snapshot(cp);
	return 0;
}

static int collect(struct past *p, struct volume *vol)
{
	struct context *cx = &p->tool->cx;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret = cptable_cursor_open(&cur, cx, vol);

	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = add(p, &cp);
		if (!ret)
			ret = context_cancelled(cx);
	}
	cptable_cursor_close(&cur);
	return ret;
}

static double bytes_of(const struct past *p, const struct past_entry *e)
{
	return (double)e->blocks * (double)p->block_size;
}

/* Fills POINTS of all, or of snapshots, and widens the axes of C. */
static size_t take_points(const struct past *p, bool snapshots,
			  struct chart *c, struct chart_point *points)
{
	size_t i, n = 0;

	for (i = 0; i < p->count; i++) {
		const struct past_entry *e = &p->entries[i];
		double x = (double)e->created, y = bytes_of(p, e);

		if (snapshots && !e->snapshot)
			continue;
		if (x < c->x.min || !i)
			c->x.min = x;
		if (x > c->x.max || !i)
			c->x.max = x;
		if (y > c->y.max)
			c->y.max = y;
		points[n++] = (struct chart_point){ x, y };
	}
	return n;
}

static int draw(const struct past *p)
{
	struct chart c = {
		.x = { "time of the checkpoint, UTC", CHART_TIME, 0, 0 },
		.y = { "size of all files", CHART_BYTES, 0, 0 },
		.width = WIDTH,
		.height = HEIGHT,
	};
	struct chart_point *points = calloc(2 * p->count, sizeof(*points));
	struct chart_series series[2] = {
		{ .name = "checkpoints", .points = points },
		{ .name = "snapshots", .dots = true },
	};
	struct report *r = &p->tool->report;

	if (!points)
		return fail(&p->tool->cx, -ENOMEM, "plot of checkpoints");
	series[0].count = take_points(p, false, &c, points);
	series[1].points = points + series[0].count;
	series[1].count = take_points(p, true, &c, points + series[0].count);
	svg_begin_inline(r->out, WIDTH, HEIGHT, "Checkpoints over time");
	chart_lines(r->out, &c, series, p->snapshots ? 2 : 1);
	svg_end(r->out);
	free(points);
	return 0;
}

static void put_table(const struct past *p)
{
	size_t i, skipped = 0;
	struct table t;

	table_begin(&t, &p->tool->report, "checkpoints", columns, COLUMNS);
	for (i = 0; i < p->count; i++) {
		const struct past_entry *e = &p->entries[i];

		skipped += e->snapshot;
		if (p->count - i > NEWEST &&
		    (!e->snapshot || p->snapshots - skipped >= SNAPSHOTS))
			continue;
		table_row(&t, (struct value[]){
			[CNO] = value_u64(e->cno),
			[CREATED] = value_u64(e->created),
			[SNAPSHOT] = value_bool(e->snapshot),
			[SIZE] = value_u64(e->blocks * p->block_size),
			[INODES] = value_u64(e->inodes),
			[INCREMENT] = value_u64(e->increment * p->block_size),
		});
	}
	table_end(&t);
}

int report_past_put(struct tool *tool, const struct dump_image *im)
{
	struct past p = {
		.tool = tool,
		.block_size = im->vol->geo.block_size,
	};
	struct report *r = &tool->report;
	int ret = collect(&p, im->vol);

	report_begin(r, "past", "Checkpoints");
	if (!ret && p.count && report_is_text(r))
		ret = draw(&p);
	if (!ret) {
		report_u64(r, "count", "Checkpoints", p.count);
		report_u64(r, "snapshots", "Snapshots", p.snapshots);
		report_text(r, "Snapshots, and the newest checkpoints:");
		put_table(&p);
	}
	report_end(r);
	free(p.entries);
	return ret;
}
