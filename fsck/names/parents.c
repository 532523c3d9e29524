// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One parent for each directory.
 *
 * The first to name a directory is taken for its parent, others are kept aside
 * until all ".." are known.  What is named once more than it may be loses that
 * name when the one who has it is written again.
 *
 * A loop is found by following parents from every directory to one that is
 * known to end somewhere.  It is broken where another name leads into it from
 * outside, else where ".." disagrees with the name.
 */
#include <errno.h>

#include "base/array.h"
#include "base/bitmap.h"
#include "base/search.h"
#include "base/sort.h"
#include "fsck/names/namefix.h"

#define MOST (1u << 20) /* other names; past that the first one stays */

int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 uint64_t ino)
{
	struct inodelist *list = &f->n.list;
	struct parents *p = &f->parents;
	size_t at = inodelist_find_dir(list, ino);

	if (!list->dirs[at].parent) {
		list->dirs[at].parent = (uint32_t)dir + 1;
		return 0;
	}
	f->flags[dir] |= NAMEFIX_LOSES;
	names_lose(&f->n, list->dirs[dir].ino);
	if (p->count >= MOST)
		return 0;
	if (array_reserve(cx, &p->others, &p->room, p->count + 1))
		return -ENOMEM;
	p->others[p->count++] =
		(struct parents_other){(uint32_t)at, (uint32_t)dir};
	return 0;
}

/* BY (index + 1, 0: none) becomes the parent of directory CHILD. */
static void set_parent(struct namefix *f, size_t child, uint32_t by)
{
	struct inodelist_dir *d = &f->n.list.dirs[child];

	f->flags[d->parent - 1] |= NAMEFIX_LOSES;
	d->parent = by;
}

static int compare_other(const void *a, const void *b)
{
	const struct parents_other *x = a, *y = b;

	if (x->child != y->child)
		return x->child < y->child ? -1 : 1;
	return x->by < y->by ? -1 : x->by > y->by;
}

void parents_choose(struct namefix *f)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	struct parents *p = &f->parents;
	size_t i;

	sort_in_place(p->others, p->count, sizeof(*p->others), compare_other);
	for (i = 0; i < p->count; i++) {
		uint32_t child = p->others[i].child, by = p->others[i].by;

		if (dirs[by].ino == dirs[child].dotdot &&
		    dirs[dirs[child].parent - 1].ino != dirs[by].ino)
			set_parent(f, child, by + 1);
	}
}

/*
 * Sets the bits in MARKS of directory I and of those above it, to where the way
 * ends, which is what it returns, or joins one that is marked there or known.
 */
static size_t follow_parents(const struct namefix *f,
			     const struct bitmap *known, struct bitmap *marks,
			     size_t i)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;

	while (!bitmap_test(known, i) && !bitmap_test(marks, i)) {
		bitmap_set(marks, i);
		if (!dirs[i].parent)
			break;
		i = dirs[i].parent - 1;
	}
	return i;
}

static bool is_below(const void *item, const void *key)
{
	const struct parents_other *other = item;

	return other->child < *(const size_t *)key;
}

/* Another parent for CHILD of those known to lie outside, index + 1, or 0. */
static uint32_t find_other(const struct namefix *f, const struct bitmap *known,
			   size_t child)
{
	const struct parents *p = &f->parents;
	size_t i = search_first(p->others, p->count, sizeof(*p->others),
				is_below, &child);

	for (; i < p->count && p->others[i].child == child; i++) {
		if (bitmap_test(known, p->others[i].by))
			return p->others[i].by + 1;
	}
	return 0;
}

/*
 * Breaks the loop that directory FIRST is part of, after the directory that
 * it returns: from there all of it leads to what got another parent, or none.
 */
static size_t break_loop(struct namefix *f, const struct bitmap *known,
			 size_t first)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	size_t at = first, victim = first, parent;
	uint32_t other = 0;

	do {
		parent = dirs[at].parent - 1;
		other = find_other(f, known, at);
		if (other ||
		    (victim == first && dirs[at].dotdot != dirs[parent].ino))
			victim = at;
		at = parent;
	} while (at != first && !other);
	parent = dirs[victim].parent - 1;
	namefix_note(f, NAMEFIX_NOTE_REMOVED,
		     "directory %llu: taken out of "
		     "directory %llu, which lies within it",
		     (unsigned long long)dirs[victim].ino,
		     (unsigned long long)dirs[parent].ino);
	set_parent(f, victim, other);
	return parent;
}

int parents_break_loops(struct namefix *f, struct context *cx)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	size_t i, at, ndirs = f->n.list.ndirs;
	struct bitmap known = {.words = NULL}, way = {.words = NULL},
		      again = {.words = NULL};
	int err;

	err = bitmap_init(&known, cx, ndirs);
	if (!err)
		err = bitmap_init(&way, cx, ndirs);
	if (!err)
		err = bitmap_init(&again, cx, ndirs);
	for (i = 0; i < ndirs && !err; i++) {
		at = follow_parents(f, &known, &way, i);
		if (bitmap_test(&known, at) || !dirs[at].parent)
			follow_parents(f, &known, &known, i);
	}
	for (i = 0; i < ndirs && !err; i++) {
		if (bitmap_test(&known, i))
			continue;
		at = follow_parents(f, &known, &again, i);
		if (!bitmap_test(&known, at)) {
			names_lose(&f->n, dirs[at].ino);
			if (f->lossy)
				at = break_loop(f, &known, at);
			follow_parents(f, &known, &known, at);
		}
		follow_parents(f, &known, &known, i);
	}
	bitmap_fini(&known);
	bitmap_fini(&way);
	bitmap_fini(&again);
	return err;
}
