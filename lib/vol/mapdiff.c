// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparing two block maps.
 *
 * NILFS2 never changes a block in place: a node that both maps point to, at the
 * same place, has the same blocks below it in both, and is skipped.  Only the
 * paths to changes are read, whatever the size of the file.
 *
 * Of the two cursors the one with the smaller key takes the next step; with
 * equal keys the one at the higher level, until both are at the same level.
 * The trees need not have the same depth.
 */
#include "vol/mapdiff.h"

#include <errno.h>

struct side {
	struct blockmap_cursor cur;
	struct blockmap_item item;
	bool there;	/* not yet at the end */
};

struct mapdiff {
	struct side a, b;
	mapdiff_visit *visit;
	void *arg;
	bool nodes;	/* are visited */
};

static int advance_side(struct side *s, struct context *cx)
{
	int ret = blockmap_cursor_next(&s->cur, cx, &s->item);

	s->there = ret > 0;
	if (s->there && !s->item.ptr)
		return fail(cx, -EUCLEAN, "inode %llu: map with a null pointer",
			    (unsigned long long)s->cur.map->ino);
	return ret < 0 ? ret : 0;
}

static int open_side(struct side *s, struct context *cx,
		     const struct blockmap *map)
{
	int err;

	*s = (struct side){ .there = false };
	if (!map)
		return 0;
	err = blockmap_cursor_open(&s->cur, cx, map, 0, true);
	return err ? err : advance_side(s, cx);
}

/* Negative where A has to take the next step, positive where B, 0: both. */
static int order(const struct side *a, const struct side *b)
{
	if (!a->there || !b->there)
		return a->there ? -1 : 1;
	if (a->item.key != b->item.key)
		return a->item.key < b->item.key ? -1 : 1;
	return (int)b->item.level - (int)a->item.level;
}

/* Both are at pointers that are the same. */
static int pass_over(struct side *a, struct side *b, struct context *cx)
{
	int err;

	if (a->item.level) {
		blockmap_cursor_skip(&a->cur);
		blockmap_cursor_skip(&b->cur);
	} else {
		blockmap_cursor_skip_same(&a->cur, &b->cur);
	}
	err = advance_side(a, cx);
	return err ? err : advance_side(b, cx);
}

static int step_sides(struct mapdiff *d, struct context *cx)
{
	struct side *a = &d->a, *b = &d->b;
	int which = order(a, b), err = 0;
	const struct blockmap_item *first = which > 0 ? &b->item : &a->item;
	struct mapdiff_item item = { .key = first->key, .level = first->level };

	if (!which && a->item.ptr == b->item.ptr)
		return pass_over(a, b, cx);
	if (which <= 0)
		item.a = a->item.ptr;
	if (which >= 0)
		item.b = b->item.ptr;
	if (!item.level || d->nodes)
		err = d->visit(d->arg, cx, &item);
	if (!err && which <= 0)
		err = advance_side(a, cx);
	if (!err && which >= 0)
		err = advance_side(b, cx);
	return err;
}

static int run_mapdiff(struct mapdiff *d, struct context *cx,
		       const struct blockmap *a, const struct blockmap *b)
{
	int err = open_side(&d->a, cx, a);

	if (!err)
		err = open_side(&d->b, cx, b);
	while (!err && (d->a.there || d->b.there))
		err = step_sides(d, cx);
	blockmap_cursor_close(&d->a.cur);
	blockmap_cursor_close(&d->b.cur);
	return err;
}

int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg)
{
	struct mapdiff d = { .visit = visit, .arg = arg };

	return run_mapdiff(&d, cx, a, b);
}

int mapdiff_run_nodes(struct context *cx, const struct blockmap *a,
		      const struct blockmap *b, mapdiff_visit *visit,
		      void *arg)
{
	struct mapdiff d = { .visit = visit, .arg = arg, .nodes = true };

	return run_mapdiff(&d, cx, a, b);
}
