// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What holds the space, in a report.
 *
 * One walk over the segments feeds the sums, the histogram and the map.  Which
 * blocks hold data and which metadata takes reading the summaries of all logs.
 */
#include "dump/report_space.h"

#include "dump/segment.h"
#include "dump/segment_total.h"
#include "out/chart.h"
#include "out/svg.h"

#define WIDTH 880u		/* pixels */
#define HISTOGRAM_HEIGHT 260u
#define MAP_TOP 8u		/* half a line of text, for the first number */

struct space {
	struct tool *tool;
	const struct dump_image *im;
	struct segment_source src;
	struct segment_total total;
	struct picture *map;
	unsigned int cell;
	struct segmap_volume volume;
	char label[VOLUME_LABEL_MAX];
	int status;
};

static int note(struct space *s, int err)
{
	if (!err)
		return 0;
	s->status = image_complain(s->tool, err);
	return s->status < 0 ? s->status : 0;
}

static int take(struct space *s, uint64_t segnum,
		const struct nilfs_segment_usage_ext *su)
{
	struct context *cx = &s->tool->cx;
	struct segmap_segment shown;
	struct segment seg;
	int err;

	err = note(s, segment_describe(&s->src, cx, segnum, su, &seg));
	if (!err)
		err = note(s, segment_count_data(&s->src, cx, &seg));
	segment_total_add(&s->total, &seg);
	shown = segment_to_map(&seg);
	segmap_add(s->map, segnum, &shown);
	progress_update(&s->tool->progress, segnum);
	return err ? err : context_cancelled(cx);
}

static int walk(struct space *s)
{
	struct context *cx = &s->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, s->im->vol, true);

	progress_begin(&s->tool->progress, "segments",
		       s->im->vol->geo.nsegments, false);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0)
		ret = take(s, segnum, &su);
	sutable_cursor_close(&cur);
	progress_end(&s->tool->progress);
	return ret;
}

static void put_parts(struct space *s)
{
	const struct segment_total *t = &s->total;
	const struct nilfs_geometry *g = &s->im->vol->geo;
	uint64_t kept = t->live + t->snapshot + t->dead;
	uint64_t clean = t->clean * g->blocks_per_segment;
	uint64_t used = kept + clean;
	const struct chart_part parts[] = {
		{ "latest state: files and directories", t->live_data,
		  SVG_BLUE, NULL },
		{ "latest state: metadata", t->live - t->live_data,
		  SVG_SKY, NULL },
		{ "only in snapshots", t->snapshot, SVG_PURPLE, NULL },
		{ "dead: cleaning frees it", t->dead, SVG_VERMILLION, NULL },
		{ "not written yet, in segments in use",
		  t->blocks > used ? t->blocks - used : 0, SVG_GRAY, NULL },
		{ "clean segments", clean, SVG_NONE, "none" },
	};
	enum { N = sizeof(parts) / sizeof(parts[0]) };
	struct chart_part bytes[N];
	unsigned int i;

	for (i = 0; i < N; i++) {
		bytes[i] = parts[i];
		bytes[i].bytes <<= g->block_bits;
	}
	svg_begin_inline(s->tool->out, WIDTH, CHART_PARTS_HEIGHT(N),
			 "What holds the space");
	chart_parts(s->tool->out, bytes, N, WIDTH);
	svg_end(s->tool->out);
}

static void put_map(struct space *s)
{
	struct picture_labels labels = segmap_labels(&s->volume);
	struct report *r = &s->tool->report;
	unsigned int width, height;

	report_begin(r, "map", "Segments");
	picture_svg_size(s->map, s->cell, &width, &height);
	svg_begin_inline(r->out, width, MAP_TOP + height,
			 "Map of the segments");
	picture_svg(s->map, r->out, s->cell, &labels, 0, MAP_TOP);
	svg_end(r->out);
	report_end(r);
}

static void put_histogram(struct space *s)
{
	const struct histogram *h = &s->total.use;
	struct chart_bar bars[HISTOGRAM_BUCKETS_MAX];
	struct chart c = {
		.x = { "share of its blocks that a cleaner would keep",
		       CHART_PERCENT, 0, 100 },
		.y = { "segments in use", CHART_COUNT, 0, 1 },
		.width = WIDTH,
		.height = HISTOGRAM_HEIGHT,
	};
	struct report *r = &s->tool->report;
	unsigned int i;

	for (i = 0; i < h->count; i++) {
		bars[i] = (struct chart_bar){
			.from = 100.0 * i / h->count,
			.to = 100.0 * (i + 1) / h->count,
			.value = (double)h->hits[i],
		};
		if (bars[i].value > c.y.max)
			c.y.max = bars[i].value;
	}
	report_begin(r, "histogram", "How full segments are");
	svg_begin_inline(r->out, WIDTH, HISTOGRAM_HEIGHT,
			 "Segments by how full they are");
	chart_bars(r->out, &c, bars, h->count);
	svg_end(r->out);
	report_end(r);
}

static void put_all(struct space *s)
{
	struct report *r = &s->tool->report;
	bool drawn = report_is_text(r);

	if (drawn) {
		report_begin(r, "space", "What holds the space");
		if (!s->total.without_counts)
			put_parts(s);
		report_end(r);
		put_map(s);
		if (!s->total.without_counts)
			put_histogram(s);
	}
	segment_total_report(&s->total, r, s->im->vol->geo.block_size);
	if (!drawn)
		segment_total_report_use(&s->total, r);
}

int report_space_put(struct tool *tool, const struct dump_image *im)
{
	struct space s = { .tool = tool, .im = im };
	uint64_t total = im->vol->geo.nsegments;
	unsigned int width, height;
	int err;

	segment_total_init(&s.total);
	image_describe(im, &s.volume, s.label);
	s.cell = segmap_svg_size(total, &width, &height);
	err = picture_open(&tool->cx, segmap_kinds, SEGMAP_CLASSES, total,
			   width, height, &s.map);
	if (!err)
		err = note(&s, segment_open(&s.src, &tool->cx, im->vol, 0));
	if (!err)
		err = note(&s, walk(&s));
	if (!err)
		put_all(&s);
	segment_close(&s.src);
	picture_close(s.map);
	return err ? err : s.status;
}
