// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A volume without files has no errors.
 *
 * So findings alone do not tell whether a repair was one.  Where damage hides
 * what is there, or a repair believes what it should not, the sound rest can
 * be next to nothing; a user who said yes to the loss of some files has not
 * said yes to that.
 */
#include "fsck/apply/losses.h"

#include "disk/checkpoint.h"
#include "vol/cptable.h"

#define FEW 32u

/*
 * Whether there can be as many inodes in the blocks that live now; in all that
 * there are, where nobody counted these.
 */
static bool is_possible(const struct check *c, uint64_t files)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t blocks = c->live_entries ? c->live_entries :
		geometry_segment_end(geo, geo->nsegments - 1);

	return files / (geo->block_size / geo->inode_size) <= blocks;
}

/* What was counted, else what the checkpoint says it has; 0: not known. */
static uint64_t files_of(struct context *cx, const struct check *c)
{
	struct nilfs_checkpoint cp;

	if (c->files_known)
		return c->files;
	if (!c->vol)
		return 0;
	if (!cptable_read(c->vol, cx, c->vol->latest.cno, &cp) &&
	    checkpoint_check(&cp, c->vol->latest.cno) == RULE_OK &&
	    is_possible(c, le64_get(cp.cp_inodes_count)))
		return le64_get(cp.cp_inodes_count);
	fail_clear(cx);
	return 0;
}

bool losses_are_grave(struct context *cx, const struct check *now,
		      const struct check *before, struct losses *losses)
{
	losses->files = files_of(cx, before);
	losses->left = now->files;
	return now->files_known && losses->left < losses->files / 2 &&
	       losses->files - losses->left > FEW;
}
