// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan: lists by kind of repair, bounded each.
 *
 * Kinds whose fixer makes everything anew from what is sound need one finding
 * only; those that mend object by object get theirs in the order in which the
 * passes met them.
 */
#include "fsck/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/inode.h"

/* What cannot be read is mended as what stands there. */
static enum rule_fix fix_unreadable(const struct place *place)
{
	switch (place->kind) {
	case PLACE_SUPER:
		return RULE_FIX_SUPER;
	case PLACE_LOG:
		return RULE_FIX_SEGMENTS;
	case PLACE_MAP:
	case PLACE_NAME:
		return RULE_FIX_MAPS;
	default:
		return RULE_FIX_NONE;
	}
}

/* A map that is broken is mended with its file. */
static enum rule_fix fix_of_file(uint64_t ino, enum rule_fix other)
{
	switch (ino) {
	case NILFS_DAT_INO:
		return RULE_FIX_DAT;
	case NILFS_CPFILE_INO:
		return RULE_FIX_CHECKPOINTS;
	case NILFS_SUFILE_INO:
		return RULE_FIX_SEGMENTS;
	case NILFS_IFILE_INO:
		return RULE_FIX_INODES;
	default:
		return other;
	}
}

/* The DAT has an allocator, and so has each ifile. */
static enum rule_fix fix_allocator(const struct finding *f)
{
	switch (f->rule) {
	case RULE_PALLOC_BLOCK:
		return fix_of_file(f->place.ino, RULE_FIX_NONE);
	case RULE_PALLOC_ENTRY_MISSING:
		return f->place.ino == NILFS_IFILE_INO ? RULE_FIX_INODES :
							 RULE_FIX_ALLOCATOR;
	default:
		return f->place.kind == PLACE_GROUP &&
		       f->place.ino == NILFS_IFILE_INO ? RULE_FIX_IFILE :
							 RULE_FIX_ALLOCATOR;
	}
}

/* DAT and SUFILE disagree: the logs know which of them is wrong. */
static bool is_of_both(enum rule rule)
{
	return rule == RULE_SU_CLEAN_HOLDS || rule == RULE_SU_BEHIND;
}

/* A field, the map aside, of the inode of a metadata file. */
static bool is_of_metadata_inode(const struct finding *f)
{
	if (f->place.kind != PLACE_INODE || !inode_is_metadata(f->place.ino))
		return false;
	switch (f->rule) {
	case RULE_INODE_METADATA_MODE:
	case RULE_INODE_SIZE:
	case RULE_INODE_LINKS_ZERO:
	case RULE_INODE_LINKS:
	case RULE_INODE_NSEC:
	case RULE_INODE_BLOCKS:
		return true;
	default:
		return false;
	}
}

enum rule_fix plan_fix_of(const struct finding *f)
{
	enum rule_fix fix = rule_info(f->rule)->fix;

	if (is_of_metadata_inode(f))
		return RULE_FIX_CHECKPOINTS;
	if (f->rule == RULE_DEV_UNREADABLE)
		fix = fix_unreadable(&f->place);
	if (fix == RULE_FIX_ALLOCATOR)
		return fix_allocator(f);
	if (is_of_both(f->rule))
		return RULE_FIX_DAT;
	if ((fix != RULE_FIX_MAPS && fix != RULE_FIX_INODES) ||
	    f->rule == RULE_INODE_RESERVED_FREE)
		return fix;
	return fix_of_file(f->place.ino, fix);
}

enum rule_fix plan_second_of(const struct finding *f)
{
	switch (f->rule) {
	case RULE_LOG_UNLISTED:
		return RULE_FIX_MOVES;
	case RULE_BMAP_VBLOCK_UNWRITTEN:
	case RULE_BMAP_BLOCK_UNUSED:
	case RULE_BMAP_LIFETIME:
		return fix_of_file(f->place.ino, RULE_FIX_MAPS);
	default:
		return is_of_both(f->rule) ? RULE_FIX_SEGMENTS : RULE_FIX_NONE;
	}
}

enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	if (is_of_metadata_inode(f))
		return RULE_DANGER_SAFE;
	if (fix == info->fix || is_of_both(f->rule))
		return info->danger;
	switch (fix) {
	case RULE_FIX_DAT:
		return f->rule == RULE_DEV_UNREADABLE ? RULE_DANGER_REBUILD :
							RULE_DANGER_SAFE;
	case RULE_FIX_SUPER:
	case RULE_FIX_SEGMENTS:
	case RULE_FIX_IFILE:
	case RULE_FIX_MOVES:
		return RULE_DANGER_SAFE;
	default:
		return RULE_DANGER_LOSES;
	}
}

static int grow(struct plan_kind *k)
{
	size_t room = k->room ? 2 * k->room : 16;
	struct fix *fixes = realloc(k->fixes, room * sizeof(*fixes));

	if (!fixes)
		return -ENOMEM;
	k->fixes = fixes;
	k->room = room;
	return 0;
}

void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f)
{
	struct plan_kind *k = &plan->kinds[fix];
	int err = 0;

	k->found++;
	if (k->n >= PLAN_MOST)
		return;
	if (k->n == k->room)
		err = grow(k);
	if (err) {
		plan->err = err;
		return;
	}
	k->fixes[k->n++] = (struct fix){
		.rule = f->rule,
		.has_want = f->has_want, .has_got = f->has_got,
		.place = f->place,
		.want = f->want, .got = f->got,
	};
}

bool plan_is_empty(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		if (plan->kinds[i].n)
			return false;
	return true;
}

void plan_fini(struct plan *plan)
{
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		free(plan->kinds[i].fixes);
	memset(plan, 0, sizeof(*plan));
}
