// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan: lists by kind of repair, bounded each.
 *
 * Kinds whose fixer makes everything again from what is sound need one finding
 * only; those that repair object by object get theirs in the order in which the
 * passes met them.
 */
#include "fsck/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/inode.h"

/* A map that is broken is repaired with its file. */
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

/* What cannot be read is repaired as what stands there. */
static enum rule_fix fix_unreadable(const struct place *place)
{
	switch (place->kind) {
	case PLACE_SUPER:
		return RULE_FIX_SUPER;
	case PLACE_LOG:
		return RULE_FIX_SEGMENTS;
	case PLACE_MAP:
	case PLACE_NAME:
		return fix_of_file(place->ino, RULE_FIX_MAPS);
	default:
		return RULE_FIX_NONE;
	}
}

/* A field, the map aside, of the inode of a metadata file. */
static bool is_of_metadata_inode(const struct rule_info *info,
				 const struct place *place)
{
	return info->scope == RULE_SCOPE_FIELD && place->kind == PLACE_INODE &&
	       inode_is_metadata(place->ino);
}

enum rule_fix plan_fix_of(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);
	const struct place *place = &f->place;
	bool of_ifile = place->ino == NILFS_IFILE_INO;

	switch (info->scope) {
	case RULE_SCOPE_FIELD:
		return is_of_metadata_inode(info, place) ?
		       RULE_FIX_CHECKPOINTS : info->fix;
	case RULE_SCOPE_PLACE:
		return fix_unreadable(place);
	case RULE_SCOPE_FILE:
		return fix_of_file(place->ino, info->fix);
	case RULE_SCOPE_GROUP:
		return of_ifile && place->kind == PLACE_GROUP ?
		       RULE_FIX_IFILE : info->fix;
	case RULE_SCOPE_ENTRY:
		return of_ifile ? RULE_FIX_INODES : info->fix;
	case RULE_SCOPE_ANY:
		break;
	}
	return info->fix;
}

enum rule_fix plan_second_of(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	return info->second == RULE_FIX_MAPS ?
	       fix_of_file(f->place.ino, info->second) : info->second;
}

enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	if (is_of_metadata_inode(info, &f->place))
		return RULE_DANGER_SAFE;
	if (fix == info->fix)
		return info->danger;
	switch (fix) {
	case RULE_FIX_DAT:
		return info->scope == RULE_SCOPE_PLACE ? RULE_DANGER_LOSES :
							 RULE_DANGER_SAFE;
	case RULE_FIX_SUPER:
	case RULE_FIX_SEGMENTS:
	case RULE_FIX_IFILE:
		return RULE_DANGER_SAFE;
	case RULE_FIX_MOVES:
		/* Logs get what a map says, which one was to be asked about. */
		return info->area == RULE_AREA_MAP ? RULE_DANGER_LOSES :
						     RULE_DANGER_SAFE;
	default:
		return RULE_DANGER_LOSES;
	}
}

void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f)
{
	struct plan_kind *k = &plan->kinds[fix];
	size_t room = k->room ? 2 * k->room : 16;
	struct fix *fixes;

	k->found++;
	if (k->n >= PLAN_MAX)
		return;
	if (k->n == k->room) {
		fixes = realloc(k->fixes, room * sizeof(*fixes));
		if (!fixes) {
			plan->err = -ENOMEM;
			return;
		}
		k->fixes = fixes;
		k->room = room;
	}
	k->fixes[k->n++] = (struct fix){
		.rule = f->rule,
		.has_want = f->has_want, .has_got = f->has_got,
		.place = f->place,
		.want = f->want, .got = f->got,
	};
}

struct plan_count plan_count(const struct plan_kind *kind, uint64_t latest)
{
	struct plan_count count = { .all = kind->found };
	size_t i;

	if (kind->n)
		count.first = kind->fixes[0];
	for (i = 0; i < kind->n; i++) {
		uint64_t cno = kind->fixes[i].place.cno;

		count.newest += !cno || cno == latest;
	}
	return count;
}

/* Whether both are of the same object; each round makes a new checkpoint. */
static bool is_same_fix(const struct fix *a, const struct fix *b)
{
	return a->rule == b->rule && a->place.kind == b->place.kind &&
	       a->place.ino == b->place.ino &&
	       a->place.number == b->place.number &&
	       a->place.blkoff == b->place.blkoff &&
	       a->place.level == b->place.level;
}

bool plan_is_no_less(const struct plan_count *now,
		     const struct plan_count *before)
{
	return now->all >= before->all && now->newest >= before->newest &&
	       is_same_fix(&now->first, &before->first);
}

void plan_refuse(struct plan_kind *kind,
		 bool (*is_refused)(const void *arg, const struct fix *fix),
		 const void *arg)
{
	struct fix kept;
	size_t i, n = 0;

	for (i = 0; i < kind->n; i++) {
		if (is_refused(arg, &kind->fixes[i]))
			continue;
		kept = kind->fixes[i];
		kind->fixes[i] = kind->fixes[n];
		kind->fixes[n++] = kept;
	}
	kind->nrefused += kind->n - n;
	kind->found -= kind->n - n;
	kind->n = n;
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
