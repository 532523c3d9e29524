// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Better or worse.
 *
 * Numbers of findings alone do not tell: a volume whose super root was lost
 * has one finding, and with its super root back has all that it had before.
 * So a floor counts more than all that stand on it.
 *
 * Damage that the newest checkpoint shared with a snapshot is found in that
 * alone once the newest is mended: no less of it, and better all the same.
 *
 * What nobody refers to any more once a map is mended is given up behind it.
 * It is of no checkpoint, and no reason to leave a snapshot as it is.
 */
#include "fsck/better.h"

#include "fsck/fixers.h"

/* One more below the DAT's, and one above all. */
#define FLOORS (FIXER_FLOORS + 2)
#define BELOW_DAT (FIXER_DEVICE + 1)

static unsigned int floor_of(const struct rule_info *rule)
{
	const struct fixer *fixer = fixers_of(rule->fix);

	/*
	 * A number that the next log would give to another block: while it is
	 * free nothing can be written, whatever its entry says once it is not.
	 */
	if (rule->rule == RULE_BMAP_VBLOCK_FREE)
		return BELOW_DAT;
	if (fixer)
		return fixer->floor ? fixer->floor + 1 : 0;
	switch (rule->rule / 1000) {
	case 1:
		return FIXER_DEVICE;
	case 5:
		return FIXER_DAT + 1;
	case 2:
	case 3:
	case 7:
	case 8:
		return FIXER_METADATA + 1;
	case 10:
		return FIXER_NAMES + 1;
	default:
		return FIXER_TREE + 1;
	}
}

/*
 * An inode that is empty may be one that the kernel had not got round to, which
 * only warns; or a file was there, which counts more than its names.
 */
static bool is_error(const struct rule_info *rule)
{
	return rule->severity >= RULE_ERROR || rule->rule == RULE_INODE_EMPTY;
}

struct change {
	bool fewer;
	const struct rule_info *more;	/* one of those */
};

static void compare(const struct rule_info *rule, uint64_t now,
		    uint64_t before, struct change *change)
{
	change->fewer |= now < before;
	if (now > before)
		change->more = rule;
}

/*
 * A block that cannot be read hides what is in it.  Where there is something in
 * its place, what turns out to be damaged is no worse; where it is found only
 * now, because more can be followed, it was as bad before.
 */
static void compare_unreadable(const struct rule_info *rule, uint64_t now,
			       uint64_t before, struct change errors[FLOORS])
{
	compare(rule, now, before,
		&errors[now < before ? BELOW_DAT : FLOORS - 1]);
}

enum part {
	NEWEST,		/* and what is of no checkpoint, leaks aside */
	SNAPSHOTS,
	ALL,
};

static uint64_t count(const struct check *c, enum rule rule, enum part part)
{
	uint64_t all = findings_count(c->findings, rule);
	uint64_t snapshots = findings_count_snapshots(c->findings, rule);

	if (part == ALL)
		return all;
	if (rule == RULE_DAT_LEAKED)
		return 0;
	return part == SNAPSHOTS ? snapshots : all - snapshots;
}

/* 1 better, -1 worse by *WORSE, 0 neither. */
static int compare_part(const struct check *now, const struct check *before,
			enum part part, const struct rule_info **worse)
{
	struct change errors[FLOORS] = { { false, NULL } };
	struct change warnings = { false, NULL };
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++) {
		uint64_t n = count(now, rule->rule, part);
		uint64_t old = count(before, rule->rule, part);

		if (rule->rule == RULE_DEV_UNREADABLE)
			compare_unreadable(rule, n, old, errors);
		else
			compare(rule, n, old, is_error(rule) ?
				&errors[floor_of(rule)] : &warnings);
	}
	for (i = 0; i < FLOORS; i++) {
		*worse = errors[i].more;
		if (*worse)
			return -1;
		if (errors[i].fewer)
			return 1;
	}
	*worse = warnings.more;
	return *worse ? -1 : warnings.fewer;
}

bool better_than(const struct check *now, const struct check *before,
		 const struct rule_info **worse)
{
	int part;

	*worse = NULL;
	if (!now->vol != !before->vol)
		return now->vol;
	if (now->dat_broken != before->dat_broken)
		return before->dat_broken;
	part = compare_part(now, before, NEWEST, worse);
	if (part)
		return part > 0 &&
		       compare_part(now, before, ALL, worse) >= 0;
	part = compare_part(now, before, SNAPSHOTS, worse);
	return part ? part > 0 : compare_part(now, before, ALL, worse) > 0;
}
