// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Duplicate names of a directory.
 *
 * Unpacking a tar stream follows the path of each member: a name that occurs as
 * a symbolic link and then as a directory leads out of the target.  So each
 * directory is read before its entries are exported: 64-bit hashes of its names
 * are sorted, and duplicates are recorded.  If the hashes of a large directory
 * exceed the memory budget, it is read once for each share of all hashes.
 */
#include "dump/export/export_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"
#include "vol/dir.h"

struct twice {
	uint64_t sum;
	bool met;
};

struct export_level {
	uint64_t ino;
	struct twice *twice;	/* duplicate names, by hash */
	size_t n, room;
};

struct gathering {
	struct export_level *level;
	uint64_t above; /* inode of the parent directory; 0: unknown */
	uint64_t *sums;
	size_t n, room, most;
	uint64_t share, shares;
	unsigned int dot, dotdot;	/* numbers of "." and ".." */
	bool elsewhere;			/* one of them has a wrong inode */
};

/* A hash of NAME, whose bits are mixed. */
static uint64_t sum_of(const char *name, size_t len)
{
	uint64_t h = text_hash(name, len);

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
}

/*
 * Collects the hashes of a share: 1 if they exceed the budget.  Read failures are
 * reported by the walk.
 */
static int export_names_read_share(struct gathering *g, struct context *cx,
				   struct file *dir)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	uint64_t sum;
	int ret = dir_cursor_open(&cur, cx, dir);

	g->n = g->dot = g->dotdot = 0;
	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		if (!strcmp(entry.name, ".")) {
			g->dot++;
			g->elsewhere |= entry.ino != g->level->ino;
		} else if (!strcmp(entry.name, "..")) {
			g->dotdot++;
			g->elsewhere |= g->above && entry.ino != g->above;
		}
		ret = context_cancelled(cx);
		sum = sum_of(entry.name, entry.len);
		if (ret || sum % g->shares != g->share)
			continue;
		ret = g->n == g->most ? 1 :
		      array_push(cx, &g->sums, &g->n, &g->room, sum);
	}
	dir_cursor_close(&cur);
	if (ret >= 0 || ret == -ENOMEM || ret == -EINTR)
		return ret;
	fail_clear(cx);
	return 0;
}

int export_names_enter(struct export_names *names, struct context *cx,
		       struct file *dir, bool *dots)
{
	struct gathering g = { .most = cx->max_memory / 64, .shares = 1 };
	struct export_level *l;
	size_t i;
	int ret = 0;

	l = array_grow(cx, names->levels, &names->room, names->depth + 1,
		       sizeof(*l));
	if (!l)
		return -ENOMEM;
	names->levels = l;
	if (names->depth)
		g.above = l[names->depth - 1].ino;
	l += names->depth++;
	*l = (struct export_level){ .ino = dir->ino };
	g.level = l;
	/* The number of shares doubles until each fits the budget. */
	while (g.share < g.shares && ret >= 0) {
		ret = export_names_read_share(&g, cx, dir);
		if (ret > 0) {
			g.shares *= 2;
			g.share = l->n = 0;
		}
		if (ret)
			continue;
		g.share++;
		if (g.n)
			sort_in_place(g.sums, g.n, sizeof(*g.sums),
				      sort_compare_number);
		for (i = 1; i < g.n && !ret; i++) {
			if (g.sums[i] != g.sums[i - 1] ||
			    (l->n && l->twice[l->n - 1].sum == g.sums[i]))
				continue;
			ret = array_push(cx, &l->twice, &l->n, &l->room,
					 (struct twice){ .sum = g.sums[i] });
		}
	}
	if (l->n)
		sort_in_place(l->twice, l->n, sizeof(*l->twice),
			      sort_compare_number);
	*dots = g.dot > 1 || g.dotdot > 1 || g.elsewhere;
	free(g.sums);
	return ret;
}

bool export_names_meet(struct export_names *names, const char *name,
		       size_t len)
{
	struct export_level *l = &names->levels[names->depth - 1];
	uint64_t sum = sum_of(name, len);
	struct twice *t = l->n ? bsearch(&sum, l->twice, l->n,
					 sizeof(*l->twice),
					 sort_compare_number) : NULL;
	bool met = t && t->met;

	if (t)
		t->met = true;
	return met;
}

void export_names_leave(struct export_names *names)
{
	free(names->levels[--names->depth].twice);
}

void export_names_fini(struct export_names *names)
{
	while (names->depth)
		export_names_leave(names);
	free(names->levels);
}
