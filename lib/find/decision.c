// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of decisions.
 *
 * The decision depends only on the danger of a rule's repair and on the risk that
 * the user accepts.  Metadata files are rebuilt only if the user has requested
 * exactly that: the result may be a volume that looks valid and has other content.
 */
#include "find/decision.h"

#define DANGERS (RULE_DANGER_REBUILD + 1)

static const enum decision table[DECISION_MODES][DANGERS] = {
	[DECISION_MODE_SAFE] = {
		[RULE_DANGER_SAFE] = DECISION_REPAIR,
	},
	[DECISION_MODE_ASK] = {
		[RULE_DANGER_SAFE] = DECISION_ASK,
		[RULE_DANGER_LOSES] = DECISION_ASK,
	},
	[DECISION_MODE_ASK_REBUILD] = {
		[RULE_DANGER_SAFE] = DECISION_ASK,
		[RULE_DANGER_LOSES] = DECISION_ASK,
		[RULE_DANGER_REBUILD] = DECISION_ASK,
	},
	[DECISION_MODE_YES] = {
		[RULE_DANGER_SAFE] = DECISION_REPAIR,
		[RULE_DANGER_LOSES] = DECISION_REPAIR,
	},
	[DECISION_MODE_YES_REBUILD] = {
		[RULE_DANGER_SAFE] = DECISION_REPAIR,
		[RULE_DANGER_LOSES] = DECISION_REPAIR,
		[RULE_DANGER_REBUILD] = DECISION_REPAIR,
	},
};

enum decision decision_of(enum decision_mode mode, enum rule_danger danger)
{
	return table[mode][danger];
}
