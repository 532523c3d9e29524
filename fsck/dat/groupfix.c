// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bits and counts of a persistent allocator.
 *
 * The bitmap is what counts: the number of free entries follows from it.  A
 * missing block of descriptors is rebuilt completely, since it describes groups
 * without findings as well.
 */
#include "fsck/dat/groupfix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/ondisk.h"

int groupfix_add(struct groupfix *g, struct context *cx, uint64_t group)
{
	/* Findings come in order, mostly several of a group. */
	if (g->n && g->groups[g->n - 1] == group)
		return 0;
	if (array_reserve(cx, &g->groups, &g->room, g->n + 1))
		return -ENOMEM;
	g->groups[g->n++] = group;
	return 0;
}

int groupfix_add_block(struct groupfix *g, struct context *cx,
		       uint64_t blkoff)
{
	struct palloc_block what;

	palloc_locate(g->p, blkoff, &what);
	return groupfix_add(g, cx, what.group);
}

void groupfix_fini(struct groupfix *g)
{
	free(g->groups);
	g->groups = NULL;
}

void groupfix_sort(struct groupfix *g)
{
	g->n = sort_unique(g->groups, g->n);
}

static int count_group(struct groupfix *g, struct context *cx, uint64_t group)
{
	struct nilfs_palloc_group_desc *desc;
	uint32_t nfrees = g->p->entries_per_group;
	const void *bitmap;
	void *data;
	int ret = metafile_look(g->m, cx, palloc_bitmap_blkoff(g->p, group),
				&bitmap);

	if (ret > 0)
		nfrees -= palloc_count(g->p, bitmap);
	if (ret >= 0)
		ret = metafile_change(g->m, cx,
				      palloc_desc_blkoff(g->p, group), &data,
				      NULL);
	if (ret)
		return ret;
	desc = (void *)((char *)data + palloc_desc_offset(g->p, group));
	desc->pg_nfrees = le32_make(nfrees);
	return 0;
}

int groupfix_count(struct groupfix *g, struct context *cx)
{
	uint64_t group, end;
	const void *descs;
	size_t i;
	int ret = 0;

	groupfix_sort(g);
	for (i = 0; i < g->n && ret >= 0; i++) {
		group = g->groups[i];
		end = group + 1;
		ret = metafile_look(g->m, cx, palloc_desc_blkoff(g->p, group),
				    &descs);
		if (!ret) {
			group -= group % g->p->groups_per_desc;
			end = group + g->p->groups_per_desc;
		}
		for (; group < end && ret >= 0; group++)
			ret = count_group(g, cx, group);
	}
	return ret < 0 ? ret : 0;
}
