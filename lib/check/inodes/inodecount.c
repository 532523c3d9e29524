// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Inodes in use, checkpoint by checkpoint.
 *
 * Bitmaps are counted, not taken from the descriptors, which are compared with
 * them elsewhere.  Checkpoints share most of them: the position of each group's
 * last counted bitmap is kept, and one that has not moved is not counted again.
 */
#include "check/inodes/inodecount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "disk/palloc.h"
#include "vol/volume.h"

void inodecount_fini(struct inodecount *ic)
{
	free(ic->groups);
	*ic = (struct inodecount){ 0 };
}

static bool is_below(const void *item, const void *key)
{
	const struct inodecount_group *group = item;

	return group->number < *(const uint64_t *)key;
}

/* Where GROUP is, or belongs; most come in ascending order. */
static size_t find_group(const struct inodecount *ic, uint64_t group)
{
	size_t n = ic->ngroups;

	if (!n || ic->groups[n - 1].number < group)
		return n;
	return search_first(ic->groups, n, sizeof(*ic->groups), is_below,
			    &group);
}

int inodecount_learn(struct inodecount *ic, struct context *cx, uint64_t group)
{
	size_t at = find_group(ic, group);

	if (at < ic->ngroups && ic->groups[at].number == group)
		return 0;
	if (array_reserve(cx, &ic->groups, &ic->room, ic->ngroups + 1))
		return -ENOMEM;
	memmove(ic->groups + at + 1, ic->groups + at,
		(ic->ngroups - at) * sizeof(*ic->groups));
	ic->groups[at] = (struct inodecount_group){ .number = group };
	ic->ngroups++;
	return 0;
}

bool inodecount_known(const struct inodecount *ic, uint64_t group,
		      uint64_t blocknr, uint32_t *bits)
{
	size_t at = find_group(ic, group);

	if (at >= ic->ngroups || ic->groups[at].number != group ||
	    ic->groups[at].blocknr != blocknr)
		return false;
	*bits = ic->groups[at].bits;
	return true;
}

/* Counts GROUP's bitmap at BLOCKNR, unless it was counted there. */
static int count_group(struct inodecount_group *group, struct context *cx,
		       struct volume *vol, uint64_t blocknr)
{
	const void *bitmap;
	uint32_t ino;
	int err;

	if (group->blocknr == blocknr)
		return 0;
	err = cache_get(vol->cache, cx, blocknr, &bitmap);
	if (err)
		return err;
	group->blocknr = blocknr;
	group->bits = palloc_count(&vol->ifile_palloc, bitmap);
	group->reserved = 0;
	/* Reserved numbers are no inodes, but for the root. */
	for (ino = 0; !group->number && ino < NILFS_USER_INO; ino++)
		group->reserved += ino != NILFS_ROOT_INO &&
				   palloc_bit(bitmap, ino);
	cache_put(vol->cache, bitmap);
	return 0;
}

int inodecount_count(struct inodecount *ic, struct context *cx,
		     struct file *ifile, uint64_t *used)
{
	const struct palloc *palloc = &ifile->vol->ifile_palloc;
	size_t i;

	*used = 0;
	for (i = 0; i < ic->ngroups; i++) {
		struct inodecount_group *g = &ic->groups[i];
		uint64_t blocknr;
		int ret = file_lookup(ifile, cx,
				      palloc_bitmap_blkoff(palloc, g->number),
				      &blocknr);

		if (!ret)
			continue;
		if (ret > 0)
			ret = count_group(g, cx, ifile->vol, blocknr);
		if (ret == -EIO || ret == -EUCLEAN) {
			fail_clear(cx);
			return 0;
		}
		if (ret)
			return ret;
		*used += g->bits - g->reserved;
	}
	return 1;
}
