// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of maps, two lists that are made in order and then searched.
 */
#include "fsck/maps/maploss.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

int maploss_add_point(struct maploss *l, struct context *cx,
		      const struct maploss_point *point)
{
	struct maploss_point *points = array_grow(cx, l->points,
						  &l->points_room,
						  l->npoints + 1,
						  sizeof(*points));

	if (!points)
		return -ENOMEM;
	l->points = points;
	points[l->npoints++] = *point;
	return 0;
}

int maploss_add_gap(struct maploss *l, struct context *cx,
		    const struct maploss_gap *gap)
{
	struct maploss_gap *gaps;

	if (gap->blkoff >= gap->end)
		return 0;
	gaps = array_grow(cx, l->gaps, &l->gaps_room, l->ngaps + 1,
			  sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	l->gaps = gaps;
	gaps[l->ngaps++] = *gap;
	return 0;
}

void maploss_fini(struct maploss *l)
{
	free(l->points);
	free(l->gaps);
	*l = (struct maploss){ .points = NULL };
}

/* A block of a file. */
struct spot {
	uint64_t ino, blkoff;
};

static bool is_point_before(const void *item, const void *key)
{
	const struct maploss_point *p = item;
	const struct spot *spot = key;

	return p->ino < spot->ino ||
	       (p->ino == spot->ino && p->blkoff < spot->blkoff);
}

/* The first point at or after block BLKOFF of inode INO. */
static size_t find_point(const struct maploss *l, uint64_t ino,
			 uint64_t blkoff)
{
	return search_first(l->points, l->npoints, sizeof(*l->points),
			    is_point_before, &(struct spot){ ino, blkoff });
}

static bool is_gap_before(const void *item, const void *key)
{
	const struct maploss_gap *g = item;
	const struct spot *spot = key;

	return g->ino < spot->ino ||
	       (g->ino == spot->ino && g->end <= spot->blkoff);
}

/* The first gap that ends after block BLKOFF of inode INO. */
static size_t find_gap(const struct maploss *l, uint64_t ino, uint64_t blkoff)
{
	return search_first(l->gaps, l->ngaps, sizeof(*l->gaps), is_gap_before,
			    &(struct spot){ ino, blkoff });
}

size_t maploss_first_point(const struct maploss *l, uint64_t ino)
{
	return find_point(l, ino, 0);
}

size_t maploss_first_gap(const struct maploss *l, uint64_t ino)
{
	return find_gap(l, ino, 0);
}

const struct maploss_point *maploss_point(const struct maploss *l,
					  uint64_t ino, uint64_t blkoff)
{
	size_t i = find_point(l, ino, blkoff);
	const struct maploss_point *p = &l->points[i];

	if (i == l->npoints || p->ino != ino || p->blkoff != blkoff)
		return NULL;
	return p;
}

bool maploss_has(const struct maploss *l, uint64_t ino, uint64_t blkoff)
{
	size_t i = find_gap(l, ino, blkoff);

	if (i < l->ngaps && l->gaps[i].ino == ino &&
	    l->gaps[i].blkoff <= blkoff)
		return true;
	return maploss_point(l, ino, blkoff);
}
