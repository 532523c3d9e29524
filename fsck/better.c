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
 */
#include "fsck/better.h"

#include "fsck/fixers.h"

#define FLOORS (FIXER_COUNTS + 2)

/* The last floor is the device's, where nothing can be mended. */
static unsigned int floor_of(const struct rule_info *rule)
{
	const struct fixer *fixer = fixers_of(rule->fix);

	if (fixer)
		return fixer->floor;
	switch (rule->rule / 1000) {
	case 1:
		return FIXER_DEVICE;
	case 5:
		return FIXER_DAT;
	case 2:
	case 3:
	case 7:
	case 8:
		return FIXER_METADATA;
	case 10:
		return FIXER_NAMES;
	case 11:
		return FLOORS - 1;
	default:
		return FIXER_TREE;
	}
}

struct change {
	bool fewer, more;
};

static void compare(uint64_t now, uint64_t before, struct change *change)
{
	change->fewer |= now < before;
	change->more |= now > before;
}

enum part {
	NEWEST,		/* and what is of no checkpoint */
	SNAPSHOTS,
	ALL,
};

static uint64_t count(const struct check *c, enum rule rule, enum part part)
{
	uint64_t all = findings_count(c->findings, rule);
	uint64_t snapshots = findings_count_snapshots(c->findings, rule);

	if (part == ALL)
		return all;
	return part == SNAPSHOTS ? snapshots : all - snapshots;
}

/* 1 better, -1 worse, 0 neither. */
static int compare_part(const struct check *now, const struct check *before,
			enum part part)
{
	struct change errors[FLOORS] = { { false, false } };
	struct change warnings = { false, false };
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		compare(count(now, rule->rule, part),
			count(before, rule->rule, part),
			rule->severity >= RULE_ERROR ?
				&errors[floor_of(rule)] : &warnings);
	for (i = 0; i < FLOORS; i++) {
		if (errors[i].more)
			return -1;
		if (errors[i].fewer)
			return 1;
	}
	if (warnings.more)
		return -1;
	return warnings.fewer;
}

bool better_than(const struct check *now, const struct check *before)
{
	int newest;

	if (!now->vol != !before->vol)
		return now->vol;
	newest = compare_part(now, before, NEWEST);
	if (newest)
		return newest > 0 && compare_part(now, before, ALL) >= 0;
	return compare_part(now, before, SNAPSHOTS) > 0;
}
