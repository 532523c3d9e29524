// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Two block maps side by side.
 *
 * NILFS2 never changes a block in place: a node that both maps point to, at
 * the same place, has the same blocks below it in both, and is passed over.
 * What is read is the path to each change, whatever the size of the file.
 *
 * Of the two cursors the one with the smaller key takes the next step; of two
 * with the same key the one that stands higher, until both see the same level.
 * The trees need not have the same depth for that.
 */
#include "check/mapdiff.h"

#include <errno.h>

struct side {
	struct blockmap_cursor cur;
	struct blockmap_item item;
	bool there; /* not yet at the end */
};

static int advance(struct side *s, struct context *cx)
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
	return err ? err : advance(s, cx);
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
	err = advance(a, cx);
	return err ? err : advance(b, cx);
}

static int step(struct side *a, struct side *b, struct context *cx,
		mapdiff_visit *visit, void *arg)
{
	int which = order(a, b), err = 0;
	const struct blockmap_item *first = which > 0 ? &b->item : &a->item;
	struct mapdiff_item item = { .key = first->key };

	if (!which && a->item.ptr == b->item.ptr)
		return pass_over(a, b, cx);
	if (which <= 0)
		item.a = a->item.ptr;
	if (which >= 0)
		item.b = b->item.ptr;
	if (!first->level)
		err = visit(arg, cx, &item);
	if (!err && which <= 0)
		err = advance(a, cx);
	if (!err && which >= 0)
		err = advance(b, cx);
	return err;
}

int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg)
{
	struct side x, y = { .there = false };
	int err = open_side(&x, cx, a);

	if (!err)
		err = open_side(&y, cx, b);
	while (!err && (x.there || y.there))
		err = step(&x, &y, cx, visit, arg);
	blockmap_cursor_close(&x.cur);
	blockmap_cursor_close(&y.cur);
	return err;
}
