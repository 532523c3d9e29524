// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry of rules.
 *
 * One list (rules.def) makes the enumeration, this table and a switch in
 * which a number used twice is a compile error.  The rows stand in ascending
 * order of their numbers, so a lookup bisects.
 */
#include "disk/rule.h"

#include <string.h>

static const struct rule_info rules[] = {
#define RULE(name, number, slug, severity, danger, fix, text) \
	{ RULE_##name, slug, text, RULE_##severity, RULE_DANGER_##danger, \
	  RULE_FIX_##fix },
#include "disk/rules.def"
#undef RULE
};

#define NRULES (sizeof(rules) / sizeof(rules[0]))

/* Two cases of one value do not compile. */
static int rule_exists(enum rule rule)
{
	switch (rule) {
#define RULE(name, number, slug, severity, danger, fix, text) \
	case (enum rule)(number):
#include "disk/rules.def"
#undef RULE
		return 1;
	case RULE_OK:
		break;
	}
	return 0;
}

const struct rule_info *rule_at(size_t i)
{
	return i < NRULES ? &rules[i] : NULL;
}

const struct rule_info *rule_info(enum rule rule)
{
	size_t low = 0, high = NRULES, middle;

	if (!rule_exists(rule))
		return NULL;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (rules[middle].rule <= rule)
			low = middle;
		else
			high = middle;
	}
	return &rules[low];
}

const struct rule_info *rule_find(const char *slug)
{
	size_t i;

	for (i = 0; i < NRULES; i++) {
		if (!strcmp(rules[i].slug, slug))
			return &rules[i];
	}
	return NULL;
}
