// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of maps, two lists that are made in order and then searched.
 */
#include "fsck/maps/maploss.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

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

/* The first point at or behind block BLKOFF of inode INO. */
static size_t find_point(const struct maploss *l, uint64_t ino,
			 uint64_t blkoff)
{
	size_t low = 0, high = l->npoints;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct maploss_point *p = &l->points[middle];

		if (p->ino < ino || (p->ino == ino && p->blkoff < blkoff))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first gap that ends behind block BLKOFF of inode INO. */
static size_t find_gap(const struct maploss *l, uint64_t ino, uint64_t blkoff)
{
	size_t low = 0, high = l->ngaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct maploss_gap *g = &l->gaps[middle];

		if (g->ino < ino || (g->ino == ino && g->end <= blkoff))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
