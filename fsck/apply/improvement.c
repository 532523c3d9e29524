// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing two checks of a volume.
 *
 * The number of findings alone is not enough: a volume whose super root was
 * lost has one finding, and with its super root restored all others.  So a
 * stage outweighs all that follow it, but superblocks with which the layout is
 * the same.
 *
 * What is found in a snapshot that was not known before counts for nothing:
 * the repair of its entry only shows it.  Damage that moves from the newest
 * checkpoint to a snapshot that shares it counts as better.  Blocks that are
 * unreferenced after a map is repaired are freed later, and do not prevent a
 * repair.
 *
 * A volume without files has no errors, so findings alone do not show whether a
 * repair was good: one that leaves next to nothing is not done.
 */
#include "fsck/apply/repair.h"

#include "disk/checkpoint.h"
#include "vol/cptable.h"

#define FEW 32u

bool improvement_loses_most(struct context *cx, const struct check *now,
			    const struct check *before, struct losses *losses)
{
	const struct volume *vol = before->vol;
	struct nilfs_checkpoint cp;
	uint64_t blocks;

	losses->left = now->files;
	losses->files = before->files_known ? before->files : 0;
	/* Else what the checkpoint counts, if so many fit into the blocks that
	   live now, or into all blocks where the live ones were not counted. */
	if (!before->files_known && vol &&
	    !cptable_read(before->vol, cx, vol->latest.cno, &cp) &&
	    checkpoint_check(&cp, vol->latest.cno) == RULE_OK) {
		losses->files = le64_get(cp.cp_inodes_count);
		blocks = before->live_entries ? before->live_entries :
			 geometry_segment_end(&vol->geo,
					      vol->geo.nsegments - 1);
		if (losses->files / (vol->geo.block_size /
				     vol->geo.inode_size) > blocks)
			losses->files = 0;
	}
	fail_clear(cx);
	return now->files_known && losses->left < losses->files / 2 &&
	       losses->files - losses->left > FEW;
}

/* What cannot be read may hide anything: last of all. */
#define STAGE_UNREADABLE RULE_STAGE_COUNT
#define STAGES (RULE_STAGE_COUNT + 1)

struct change {
	bool fewer;
	const struct rule_info *more;	/* one of those */
};

/*
 * A block that cannot be read hides what is in it, a name without an inode the
 * file that it led to.  Where there is something in its place, what turns out
 * to be damaged is no worse; where it is found only now, because more can be
 * followed, it was as bad before.  A superblock hides nothing if the volume has
 * the SAME layout with it.
 */
static enum rule_stage stage_of(const struct rule_info *rule, bool fewer,
				bool same)
{
	if (rule->fix == RULE_FIX_SUPER && same)
		return STAGE_UNREADABLE;
	if (rule->scope == RULE_SCOPE_PLACE)
		return fewer ? RULE_STAGE_NUMBERS : STAGE_UNREADABLE;
	if ((rule->traits & RULE_DOUBTS_IFILE) && fewer)
		return RULE_STAGE_TREE;
	return rule_stage(rule);
}

#define BY_ERRORS 2

enum part {
	NEWEST,		/* and what is of no checkpoint, leaks aside */
	SNAPSHOTS,
	OWNED,		/* both of these; leaks are warnings */
	ALL,
};

/* Of rule number I, LATER or not; with what C revealed if that is to count. */
static uint64_t count_rule(const struct check *c, size_t i, bool later,
			   enum part part, bool revealed)
{
	const uint64_t *n = c->tally[i].n[later];
	uint64_t snapshots = n[CHECK_SNAPSHOTS] +
			     (revealed ? n[CHECK_REVEALED] : 0);

	if (part != ALL && (rule_at(i)->traits & RULE_UNOWNED))
		return 0;
	return (part != SNAPSHOTS ? n[CHECK_NEWEST] : 0) +
	       (part != NEWEST ? snapshots : 0);
}

/*
 * BY_ERRORS or 1 better, -1 worse by *WORSE, 0 neither; by the first *UP_TO stages,
 * which are those up to the one that decides if errors do.
 */
static int compare_part(const struct check *now, const struct check *before,
			enum part part, bool derived, size_t *up_to,
			const struct rule_info **worse)
{
	struct change errors[STAGES] = { { false, NULL } };
	struct change warnings = { false, NULL }, *change;
	/* A volume was opened both times, by superblocks that say the same. */
	bool same = now->vol && before->vol &&
		    geometry_is_same(&now->vol->geo, &before->vol->geo) &&
		    now->vol->geo.first_ino == before->vol->geo.first_ino;
	const struct rule_info *rule;
	size_t i;

	/* Each rule twice: as it is, and as far as an ifile has it. */
	for (i = 0; (rule = rule_at(i / 2)); i++) {
		uint64_t n = count_rule(now, i / 2, i % 2, part, false);
		uint64_t old = count_rule(before, i / 2, i % 2, part, false);

		/* Bits are searched only once, so NOW has none. */
		if (rule->fix == RULE_FIX_BITS ||
		    (rule->traits & RULE_UNJUDGED))
			continue;
		change = rule->severity >= RULE_ERROR ||
			 (rule->traits & RULE_AS_ERROR) ?
			 &errors[i % 2 && !derived ?
					 RULE_STAGE_TREE :
					 stage_of(rule, n < old, same)] :
			 &warnings;
		change->fewer |= n < old;
		if (n > old)
			change->more = rule;
	}
	for (i = 0; i < *up_to; i++) {
		*worse = errors[i].more;
		if (!*worse && !errors[i].fewer)
			continue;
		*up_to = i + 1;
		return *worse ? -1 : BY_ERRORS;
	}
	*worse = *up_to < STAGES ? NULL : warnings.more;
	return *worse ? -1 : warnings.fewer;
}

/* DERIVED: an ifile that comes to light with damage is no better than none, as
   another derivation may make it right. */
static bool is_better(const struct check *now, const struct check *before,
		      bool derived, const struct rule_info **worse)
{
	size_t up_to = STAGES;
	int part;

	*worse = NULL;
	if (!now->vol != !before->vol)
		return now->vol;
	if (now->dat_broken != before->dat_broken)
		return before->dat_broken;
	part = compare_part(now, before, NEWEST, derived, &up_to, worse);
	/* What the newest has at later stages was hidden. */
	if (part)
		return part > 0 &&
		       compare_part(now, before,
				    part == BY_ERRORS ? OWNED : ALL, derived,
				    &up_to, worse) >= 0;
	part = compare_part(now, before, SNAPSHOTS, derived, &up_to, worse);
	return part ? part > 0 :
		      compare_part(now, before, ALL, derived, &up_to, worse) > 0;
}

uint64_t improvement_errors(const struct check *c, bool latest)
{
	const enum part part = latest ? NEWEST : ALL;
	const struct rule_info *rule;
	uint64_t errors = 0;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (rule->severity >= RULE_ERROR &&
		    !(rule->traits & RULE_UNJUDGED))
			errors += count_rule(c, i, false, part, true) +
				  count_rule(c, i, true, part, true);
	return errors;
}

bool improvement_meets(const struct check *now, const struct check *before,
		       enum improvement_demand demand,
		       const struct rule_info **worse)
{
	switch (demand) {
	case IMPROVEMENT_ONLY:
	case IMPROVEMENT_DERIVED:
		return is_better(now, before, demand == IMPROVEMENT_DERIVED,
				 worse);
	case IMPROVEMENT_OR_SAME:
		return !is_better(before, now, false, worse);
	case IMPROVEMENT_SOUND:
		return !improvement_errors(now, false);
	default:
		return true;
	}
}
