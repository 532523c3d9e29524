// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Better or worse.
 *
 * Numbers of findings alone do not tell: a volume whose super root was lost
 * has one finding, and with its super root back has all that it had before.
 * So a floor counts more than all that stand on it.
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
	case 2:
	case 3:
	case 5:
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

static void compare_rule(const struct check *now, const struct check *before,
			 enum rule rule, struct change *change)
{
	uint64_t n = findings_count(now->findings, rule);
	uint64_t m = findings_count(before->findings, rule);

	change->fewer |= n < m;
	change->more |= n > m;
}

bool better_than(const struct check *now, const struct check *before)
{
	struct change errors[FLOORS] = { { false, false } };
	struct change warnings = { false, false };
	const struct rule_info *rule;
	size_t i;

	if (!now->vol != !before->vol)
		return now->vol;
	for (i = 0; (rule = rule_at(i)); i++)
		compare_rule(now, before, rule->rule,
			     rule->severity >= RULE_ERROR ?
				     &errors[floor_of(rule)] : &warnings);
	for (i = 0; i < FLOORS; i++) {
		if (errors[i].more)
			return false;
		if (errors[i].fewer)
			return true;
	}
	return warnings.fewer && !warnings.more;
}
