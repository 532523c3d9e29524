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

#include "disk/ondisk.h"

/* What cannot be read is mended as what stands there. */
static enum rule_fix fix_unreadable(const struct place *place)
{
	switch (place->kind) {
	case PLACE_SUPER:
		return RULE_FIX_SUPER;
	case PLACE_MAP:
	case PLACE_NAME:
		return RULE_FIX_MAPS;
	default:
		return RULE_FIX_NONE;
	}
}

enum rule_fix plan_fix_of(const struct finding *f)
{
	enum rule_fix fix = rule_info(f->rule)->fix;

	if (f->rule == RULE_DEV_UNREADABLE)
		fix = fix_unreadable(&f->place);
	if (fix != RULE_FIX_MAPS && fix != RULE_FIX_INODES)
		return fix;
	switch (f->place.ino) {
	case NILFS_DAT_INO:
		return RULE_FIX_DAT;
	case NILFS_CPFILE_INO:
		return RULE_FIX_CHECKPOINTS;
	case NILFS_SUFILE_INO:
		return RULE_FIX_SEGMENTS;
	case NILFS_IFILE_INO:
		return RULE_FIX_INODES;
	default:
		return fix;
	}
}

enum rule_danger plan_danger_of(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);
	enum rule_fix fix = plan_fix_of(f);

	if (fix == info->fix)
		return info->danger;
	switch (fix) {
	case RULE_FIX_DAT:
		return RULE_DANGER_REBUILD;
	case RULE_FIX_SUPER:
	case RULE_FIX_SEGMENTS:
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

void plan_add(struct plan *plan, const struct finding *f)
{
	struct plan_kind *k = &plan->kinds[plan_fix_of(f)];
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
