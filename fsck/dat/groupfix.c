// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of a persistent allocator.
 *
 * The bitmap is what counts: the number of free entries follows from it.  A
 * missing block of descriptors is rebuilt completely, since it describes groups
 * without findings as well.
 */
#include "fsck/dat/groupfix.h"

#include "base/array.h"
#include "base/sort.h"

int groupfix_add(struct groupfix *g, struct context *cx, uint64_t group)
{
	/* Findings come in order, mostly several of a group. */
	if (g->n && g->groups[g->n - 1] == group)
		return 0;
	return array_push(cx, &g->groups, &g->n, &g->room, group);
}

int groupfix_add_block(struct groupfix *g, struct context *cx,
		       uint64_t blkoff)
{
	struct palloc_block what;

	palloc_locate(g->p, blkoff, &what);
	return groupfix_add(g, cx, what.group);
}

int groupfix_count(struct groupfix *g, struct context *cx)
{
	uint64_t group, end, blkoff;
	struct nilfs_palloc_group_desc *desc;
	const void *bitmap;
	uint32_t nfrees;
	void *data;
	size_t i;
	int ret = 0;

	g->n = sort_unique(g->groups, g->n);
	for (i = 0; i < g->n && ret >= 0; i++) {
		group = g->groups[i];
		end = group + 1;
		blkoff = palloc_desc_blkoff(g->p, group);
		ret = metafile_look(g->m, cx, blkoff, &bitmap);
		if (!ret) {
			group -= group % g->p->groups_per_desc;
			end = group + g->p->groups_per_desc;
		}
		for (; group < end && ret >= 0; group++) {
			nfrees = g->p->entries_per_group;
			ret = metafile_look(g->m, cx,
					    palloc_bitmap_blkoff(g->p, group),
					    &bitmap);
			if (ret > 0)
				nfrees -= palloc_count(g->p, bitmap);
			if (ret >= 0)
				ret = metafile_change(g->m, cx, blkoff, &data,
						      NULL);
			if (ret)
				break;
			desc = (void *)((char *)data +
					palloc_desc_offset(g->p, group));
			desc->pg_nfrees = le32_make(nfrees);
		}
	}
	return ret < 0 ? ret : 0;
}
