// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry of rules.
 *
 * One list (rules.def) makes the enumeration, this table and a switch in which a
 * duplicate number is a compile error.  The rows are in ascending order of their
 * numbers.
 */
#include "disk/rule.h"

static const struct rule_info rules[] = {
#define RULE(name, number, slug, severity, danger, fix, ...) \
	{ RULE_##name, slug, RULE_##severity, RULE_DANGER_##danger, \
	  RULE_FIX_##fix, (enum rule_area)((number) / 1000), __VA_ARGS__ },
#include "disk/rules.def"
#undef RULE
};

enum {
#define RULE(name, ...) ROW_##name,
#include "disk/rules.def"
#undef RULE
	NRULES
};

const struct rule_info *rule_at(size_t i)
{
	return i < NRULES ? &rules[i] : NULL;
}

const struct rule_info *rule_info(enum rule rule)
{
	/* Two cases with one value do not compile. */
	switch (rule) {
#define RULE(name, ...) \
	case RULE_##name: \
		return &rules[ROW_##name];
#include "disk/rules.def"
#undef RULE
	case RULE_OK:
		break;
	}
	return NULL;
}

bool rule_has(enum rule rule, unsigned int traits)
{
	const struct rule_info *info = rule_info(rule);

	return info && (info->traits & traits);
}

const enum rule_stage rule_fix_stages[RULE_FIX_COUNT] = {
	[RULE_FIX_NONE] = RULE_STAGE_OF_FIX,
	[RULE_FIX_BITS] = RULE_STAGE_BITS,
	[RULE_FIX_SUPER] = RULE_STAGE_DEVICE,
	[RULE_FIX_ROOT] = RULE_STAGE_DEVICE,
	[RULE_FIX_DAT] = RULE_STAGE_DAT,
	[RULE_FIX_SEGMENTS] = RULE_STAGE_METADATA,
	[RULE_FIX_CHECKPOINTS] = RULE_STAGE_METADATA,
	[RULE_FIX_IFILE] = RULE_STAGE_TREE,
	[RULE_FIX_INODES] = RULE_STAGE_TREE,
	[RULE_FIX_MAPS] = RULE_STAGE_TREE,
	[RULE_FIX_NAMES] = RULE_STAGE_NAMES,
	[RULE_FIX_MOVES] = RULE_STAGE_MOVES,
	[RULE_FIX_COUNTS] = RULE_STAGE_COUNTS,
	[RULE_FIX_LOG] = RULE_STAGE_COUNTS,
	[RULE_FIX_ZONES] = RULE_STAGE_ZONES,
};

enum rule_stage rule_stage(const struct rule_info *info)
{
	return info->stage ? info->stage : rule_fix_stages[info->fix];
}
