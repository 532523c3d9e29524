// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Results of a look for a writer.
 *
 * Live blocks are those that the DAT claims: every block that a checkpoint
 * refers to has an entry there, and the DAT's own are claimed as well.  The
 * SUFILE matters only if the DAT is damaged.
 *
 * A metadata file is rebuilt if blocks of it, or paths to them, are lost.  If
 * only their content is wrong, it is repaired in place.
 *
 * On zones a log begins with an empty one, so a segment that shares its zone
 * with blocks in use cannot be allocated.
 */
#include "fsck/apply/round.h"

#include "check/pass/passes.h"
#include "disk/ondisk.h"
#include "fsck/plan/fixers.h"
#include "log/tables/segzones.h"

static bool is_unusable(void *arg, uint64_t segnum)
{
	const struct check *c = arg;
	const struct recovery *latest = &c->vol->latest;

	if (segnum == latest->segnum ||
	    bitmap_test(&c->live_segments, segnum) ||
	    (c->awaited && bitmap_test(c->awaited, segnum)))
		return true;
	if (c->dev->zones &&
	    (segzones_is_unusable(c->dev->zones, &c->vol->geo, segnum) ||
	     pass_zones_is_held(c, segnum)))
		return true;
	/* A SUFILE that was not found yet is trusted once it is found. */
	return c->dat_broken && segnum != latest->nextnum &&
	       check_knows_sufile(c) && bitmap_test(&c->used_segments, segnum);
}

/* The metadata file that is repaired by KIND, or 0. */
static uint64_t file_of(enum rule_fix kind)
{
	switch (kind) {
	case RULE_FIX_DAT:
		return NILFS_DAT_INO;
	case RULE_FIX_CHECKPOINTS:
		return NILFS_CPFILE_INO;
	case RULE_FIX_SEGMENTS:
		return NILFS_SUFILE_INO;
	case RULE_FIX_INODES:
		return NILFS_IFILE_INO;
	default:
		return 0;
	}
}

/* Whether FIX, of KIND, says that a part of the file is lost. */
static bool loses_file(const struct check *c, enum rule_fix kind,
		       const struct fix *fix)
{
	const struct place *place = &fix->place;

	if (kind == RULE_FIX_DAT)
		return fix_dat_is_rebuilt(fix);
	return rule_has(fix->rule, RULE_LOSES_PART) &&
	       (place->kind == PLACE_MAP || place->kind == PLACE_INODE) &&
	       place->ino && place->ino == file_of(kind) &&
	       (!place->cno || place->cno == c->vol->latest.cno);
}

/*
 * Whether the SUFILE leads to numbers that are free, and cannot be read there:
 * no log can be written without it, not even one that repairs the DAT.
 */
static bool has_lost_sufile(const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	size_t i;

	for (i = 0; i < kind->n; i++)
		if (rule_stage(rule_info(kind->fixes[i].rule)) ==
			    RULE_STAGE_NUMBERS &&
		    kind->fixes[i].place.ino == NILFS_SUFILE_INO)
			return findings_count(c->findings,
					      RULE_SU_UNREADABLE);
	return false;
}

/*
 * Whether SUFILE and cpfile lead to the same block, which is reported for the
 * cpfile, as it is checked later.  If the SUFILE makes no sense it is the one
 * that is wrong, and either would end what is the other's.
 */
static bool shares_block(const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_CHECKPOINTS];
	size_t i;

	for (i = 0; i < kind->n; i++)
		if (rule_has(kind->fixes[i].rule, RULE_CONTESTED) &&
		    kind->fixes[i].place.ino == NILFS_CPFILE_INO)
			return true;
	return false;
}

/* Whether the place of the next log is part of what is broken. */
static bool breaks_next(const struct check *c)
{
	return findings_have(c->findings, RULE_NEXT_LOG) ||
	       bitmap_test(&c->live_segments, c->vol->latest.nextnum) ||
	       bitmap_test(&c->broken_segments, c->vol->latest.segnum);
}

/* Whether the segment of the latest log may be one that is emptied: only
   LOG_UNLISTED has the block, the others its virtual number. */
static bool empties_latest(const struct check *c, const struct plan_kind *kind)
{
	size_t i;

	for (i = 0; i < kind->n; i++)
		if (kind->fixes[i].rule != RULE_LOG_UNLISTED ||
		    geometry_segment_of(&c->vol->geo, kind->fixes[i].got) ==
		    c->vol->latest.segnum)
			return true;
	return false;
}

/*
 * A sequence number after those of an interrupted roll-forward too: logs that
 * it left would else follow the new ones.
 */
static uint64_t next_number(const struct check *c)
{
	uint64_t last = c->vol->latest.last_seq;

	return (c->later_seq > last ? c->later_seq : last) + 2;
}

void writerhints_fill(struct repairwriter_known *known, struct check *c,
		      const struct plan *plan, const bool taken[RULE_FIX_COUNT])
{
	size_t i, j;

	*known = (struct repairwriter_known){
		.unusable = is_unusable,
		.arg = c,
		.fresh_segment = breaks_next(c),
	};
	if (state_is_at(c->state, c->vol->latest.pseg_start,
			c->vol->latest.seq)) {
		known->fresh_segment = true;
		known->seq = c->state->seq;
	} else if (c->later_seq && c->vol->latest.orphans_start) {
		known->seq = next_number(c);
	}
	if (taken[RULE_FIX_MOVES])
		known->fresh_segment |=
			empties_latest(c, &plan->kinds[RULE_FIX_MOVES]);
	for (i = 0; i < RULE_FIX_COUNT; i++)
		for (j = 0; taken[i] && j < plan->kinds[i].n; j++)
			if (loses_file(c, (enum rule_fix)i,
				       &plan->kinds[i].fixes[j]))
				known->rebuilt |= REPAIRWRITER_FILE(file_of(
					(enum rule_fix)i));
	if ((taken[RULE_FIX_DAT] && has_lost_sufile(c, plan)) ||
	    (taken[RULE_FIX_SEGMENTS] && shares_block(plan)))
		known->rebuilt |= REPAIRWRITER_FILE(NILFS_SUFILE_INO);
}
