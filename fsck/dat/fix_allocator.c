// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which virtual block numbers are in use: bitmaps and counts of the DAT, made
 * right group by group (datgroups.h).
 *
 * A group is one to be looked at where a finding names it, one of its blocks or
 * one of its numbers.
 */
#include "fsck/dat/datgroups.h"
#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"
#include "log/mend.h"

static int add_fix(struct groupfix *g, struct context *cx,
		   const struct fix *fix)
{
	const struct place *at = &fix->place;

	switch (at->kind) {
	case PLACE_GROUP:
		return groupfix_add(g, cx, at->number);
	case PLACE_VBLOCK:
		return groupfix_add(g, cx, palloc_group(g->p, at->number));
	case PLACE_MAP:
		/* A block of the DAT, or who refers to a number. */
		if (fix->rule == RULE_BMAP_VBLOCK_FREE)
			return groupfix_add(g, cx,
					    palloc_group(g->p, fix->got));
		return groupfix_add_block(g, cx, at->blkoff);
	default:
		return 0;
	}
}

int fix_allocator(struct fixer_job *job, struct context *cx,
		  const struct fix *fixes, size_t n)
{
	struct groupfix g = {
		.m = mend_file(job->writer, NILFS_DAT_INO),
		.p = &job->vol->dat_palloc,
	};
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_fix(&g, cx, &fixes[i]);
	if (!err)
		err = datgroups_mend(job, cx, &g, NULL);
	groupfix_fini(&g);
	return err ? err : mend_changed(job->writer, cx);
}
