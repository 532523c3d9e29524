// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing two checks of a volume.
 *
 * The number of findings is not enough. A volume without its super root has one
 * finding; with the super root restored it shows all others. So a stage
 * outweighs all later stages, except for superblocks with the same layout.
 *
 * Findings in a snapshot that was unknown before are ignored, because the
 * repair of its entry only revealed them. Damage that moves from the newest
 * checkpoint to a snapshot that shares it is an improvement. Blocks that are
 * unreferenced after the repair of a map are freed later and do not prevent a
 * repair; nor do those that were not looked for before. Nor does the damage of files
 * whose inodes a repaired ifile shows.
 *
 * A volume without files has no errors. So findings alone do not show a good
 * repair: one that loses most of the files is rejected.
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
	/* Otherwise the count of the checkpoint, if so many files fit into the
	   live blocks, or into all blocks if the live ones were not counted. */
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

/* Unreadable blocks may hide anything, so they come last. */
#define STAGE_UNREADABLE RULE_STAGE_COUNT
#define STAGES (RULE_STAGE_COUNT + 1)

struct change {
	bool fewer;
	const struct rule_info *more;	/* a rule with more findings */
};

/*
 * The stage of a RULE with FEWER findings or more. An unreadable block hides
 * its content, and a name without an inode hides the file. If such findings are
 * fewer, newly found damage is no worse: it existed before. So it is with the map
 * of an inode without a valid type, which is not looked at. A superblock hides
 * nothing if the volume has the SAME layout with it.
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
	if (rule->rule == RULE_INODE_MODE && fewer)
		return RULE_STAGE_METADATA;
	return rule_stage(rule);
}

#define BY_ERRORS 2

enum part {
	NEWEST,		/* and findings of no checkpoint, without leaks */
	SNAPSHOTS,
	OWNED,		/* both of these; leaks are warnings */
	ALL,
};

/* The findings of rule number I, LATER or not; those that C REVEALED are
   included on request. */
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

/* The findings of all rules that count together with LIKE, in any place. */
static uint64_t count_together(const struct check *c, const struct rule_info *like,
			       enum part part)
{
	const struct rule_info *rule;
	uint64_t n = 0;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (rule->traits & RULE_COUNTS_TOGETHER &&
		    rule->area == like->area)
			n += count_rule(c, i, false, part, false) +
			     count_rule(c, i, true, part, false);
	return n;
}

/*
 * BY_ERRORS or 1 if better, -1 if worse by *WORSE, 0 if neither, in the first
 * *UP_TO stages. If errors decide, these are the stages up to the deciding one.
 */
static int compare_part(const struct check *now, const struct check *before,
			enum part part, bool derived, size_t *up_to,
			const struct rule_info **worse)
{
	struct change errors[STAGES] = { { false, NULL } };
	struct change warnings = { false, NULL }, *change;
	/* Both checks opened a volume, with superblocks of the same layout. */
	bool same = now->vol && before->vol &&
		    geometry_is_same(&now->vol->geo, &before->vol->geo) &&
		    now->vol->geo.first_ino == before->vol->geo.first_ino;
	const struct rule_info *rule;
	size_t i;

	/* Each rule twice: at its own stage, and for findings in ifiles; pointers
	   at their own stage only. */
	for (i = 0; (rule = rule_at(i / 2)); i++) {
		uint64_t n = count_rule(now, i / 2, i % 2, part, false);
		uint64_t old = count_rule(before, i / 2, i % 2, part, false);

		/* Flipped bits are searched only once, so NOW has none. */
		if (rule->fix == RULE_FIX_BITS ||
		    (rule->traits & RULE_UNJUDGED))
			continue;
		if ((rule->traits & RULE_HIDES_CONTENT) && i % 2) {
			errors[RULE_STAGE_NUMBERS].fewer |= n < old && !derived;
			continue;
		}
		if (rule->traits & RULE_HIDES_CONTENT) {
			n += count_rule(now, i / 2, true, part, false);
			old += count_rule(before, i / 2, true, part, false);
		}
		/* A cleared entry of the DAT leads to no block, as before. */
		if (n > old && (rule->traits & RULE_COUNTS_TOGETHER)) {
			n = count_together(now, rule, part);
			old = count_together(before, rule, part);
		}
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

/* DERIVED: a revealed ifile with damage is no better than none, because another
   derivation may restore it. */
static bool is_improvement(const struct check *now, const struct check *before,
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
	/* Findings of the newest checkpoint at later stages were hidden. */
	if (part)
		return part > 0 &&
		       compare_part(now, before,
				    part == BY_ERRORS || !before->leaks_known ?
					    OWNED : ALL,
				    derived, &up_to, worse) >= 0;
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
		return is_improvement(now, before, demand == IMPROVEMENT_DERIVED,
				      worse);
	case IMPROVEMENT_OR_SAME:
		return !is_improvement(before, now, false, worse);
	case IMPROVEMENT_SOUND:
		return !improvement_errors(now, false);
	default:
		return true;
	}
}
