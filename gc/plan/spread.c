// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fragmentation of a file.
 *
 * An extent ends where the next block of the file is not the next one of the
 * device, or at a hole.  Each run of blocks between holes needs at least one
 * extent.  An extent also ends at the end of a log: a file of more blocks than
 * a log can have crosses as many ends as logs that it fills, and one more, as
 * it rarely begins with a log.  A small file need not cross one.
 */
#include "gc/plan/spread.h"

#include "log/writer.h"
#include "vol/extent.h"
#include "vol/volume.h"

struct measure {
	struct spread *s;
	uint64_t runs;		/* between holes */
	uint64_t next;		/* block after the last extent */
};

static int measure_extent(void *arg, struct context *cx, const struct extent *e)
{
	struct measure *m = arg;

	(void)cx;
	m->runs += !m->s->extents || e->blkoff != m->next;
	m->next = e->blkoff + e->count;
	m->s->extents++;
	m->s->blocks += e->count;
	return 0;
}

int spread_measure(struct spread *s, struct context *cx, struct root *root,
		   uint64_t ino)
{
	const struct nilfs_geometry *g = &root->vol->geo;
	uint64_t most = writer_options_on(root->vol, 0).log_blocks, summary;
	struct measure m = { .s = s };
	int ret;

	*s = (struct spread){ 0 };
	ret = spread_walk(cx, root, ino, measure_extent, &m);
	/* Approximate number of file blocks in the largest log. */
	if (!most || most > g->blocks_per_segment)
		most = g->blocks_per_segment;
	summary = most * sizeof(struct nilfs_binfo_v) / g->block_size + 1;
	most = most > summary ? most - summary : 1;
	s->enough = m.runs + (s->blocks >= most ? s->blocks / most + 1 : 0);
	return ret;
}

int spread_walk(struct context *cx, struct root *root, uint64_t ino,
		int (*visit)(void *arg, struct context *cx,
			     const struct extent *extent),
		void *arg)
{
	struct extent_cursor cur;
	struct extent e;
	struct file file;
	int ret = root_file(root, cx, ino, &file);

	if (ret)
		return ret;
	ret = extent_cursor_open(&cur, cx, &file, 0);
	while (!ret &&
	       (ret = extent_cursor_next(&cur, cx, UINT64_MAX, &e)) > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = visit(arg, cx, &e);
	}
	extent_cursor_close(&cur);
	return ret;
}
