// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparing two block maps.
 *
 * NILFS2 never changes a block in place.  A node to which both maps point, at the same
 * place, has the same blocks below it in both maps, and is skipped.  Only the paths to
 * changes are read, for a file of any size.
 *
 * The cursor with the smaller key takes the next step; with equal keys the one at the
 * higher level, until both are at the same level.  The trees may differ in depth.
 */
#include "vol/mapdiff.h"

#include <errno.h>

struct side {
	struct blockmap_cursor cur;
	struct blockmap_item item;
	bool there;	/* not at the end */
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

int mapdiff_walk(struct context *cx, const struct blockmap *amap,
		 const struct blockmap *bmap, bool nodes, mapdiff_visit *visit,
		 void *arg)
{
	struct side a, b;
	const struct blockmap_item *x = &a.item, *y = &b.item;
	struct mapdiff_item item;
	int which;	/* the next step: negative A, positive B, 0 both */
	int err = 0;

	a.there = b.there = false;
	a.cur.map = b.cur.map = NULL;
	if (amap)
		err = blockmap_cursor_open(&a.cur, cx, amap, 0, true);
	if (amap && !err)
		err = advance_side(&a, cx);
	if (bmap && !err)
		err = blockmap_cursor_open(&b.cur, cx, bmap, 0, true);
	if (bmap && !err)
		err = advance_side(&b, cx);
	while (!err && (a.there || b.there)) {
		if (!a.there || !b.there)
			which = a.there ? -1 : 1;
		else if (x->key != y->key)
			which = x->key < y->key ? -1 : 1;
		else
			which = (int)y->level - (int)x->level;

		if (which || x->ptr != y->ptr) {
			item.key = which > 0 ? y->key : x->key;
			item.level = which > 0 ? y->level : x->level;
			item.a = which <= 0 ? x->ptr : 0;
			item.b = which >= 0 ? y->ptr : 0;
			if (!item.level || nodes)
				err = visit(arg, cx, &item);
		} else if (x->level) {
			blockmap_cursor_skip(&a.cur);
			blockmap_cursor_skip(&b.cur);
		} else {
			blockmap_cursor_skip_same(&a.cur, &b.cur);
		}
		if (!err && which <= 0)
			err = advance_side(&a, cx);
		if (!err && which >= 0)
			err = advance_side(&b, cx);
	}
	blockmap_cursor_close(&a.cur);
	blockmap_cursor_close(&b.cur);
	return err;
}

int mapdiff_run(struct context *cx, const struct blockmap *a,
		const struct blockmap *b, mapdiff_visit *visit, void *arg)
{
	return mapdiff_walk(cx, a, b, false, visit, arg);
}

int mapdiff_run_file(struct context *cx, struct volume *vol, uint64_t ino,
		     const struct nilfs_inode *a, const struct nilfs_inode *b,
		     mapdiff_visit *visit, void *arg)
{
	struct blockmap amap, bmap;
	int err = a ? blockmap_init(&amap, cx, vol, ino, a) : 0;

	if (!err && b)
		err = blockmap_init(&bmap, cx, vol, ino, b);
	return err ? err : mapdiff_run(cx, a ? &amap : NULL, b ? &bmap : NULL,
				       visit, arg);
}
