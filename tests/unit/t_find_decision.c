// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of decisions, against what the manual page promises of each mode,
 * and against what must hold of any such table: who has said more gets no less.
 */
#include "find/decision.h"

#include "tap.h"

/* One letter for each danger, from NONE to REBUILD: left, asked, repaired. */
static const struct {
	enum decision_mode mode;
	const char *want, *name;
} modes[] = {
	{ DECISION_MODE_NO, "llll", "-n changes nothing" },
	{ DECISION_MODE_SAFE, "lmll", "-p repairs what costs nothing" },
	{ DECISION_MODE_ASK, "laal", "who is there is asked" },
	{ DECISION_MODE_ASK_REBUILD, "laaa",
	  "and about metadata files with --rebuild" },
	{ DECISION_MODE_YES, "lmml", "-y repairs at the price of data" },
	{ DECISION_MODE_YES_REBUILD, "lmmm",
	  "and metadata files with --rebuild" },
};

#define DANGERS (RULE_DANGER_REBUILD + 1)

static void describe(enum decision_mode mode, char text[DANGERS + 1])
{
	static const char letters[] = {
		[DECISION_LEAVE] = 'l',
		[DECISION_ASK] = 'a',
		[DECISION_REPAIR] = 'm',
	};
	unsigned int danger;

	for (danger = 0; danger < DANGERS; danger++)
		text[danger] = letters[decision_of(mode,
						   (enum rule_danger)danger)];
	text[DANGERS] = '\0';
}

static void test_modes(void)
{
	char text[DANGERS + 1];
	unsigned int i;

	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		describe(modes[i].mode, text);
		is_str(text, modes[i].want, modes[i].name);
	}
	is_int(i, DECISION_MODES, "those are all modes");
}

/* A repair that may cost more is not decided on more lightly. */
static void test_order(void)
{
	unsigned int mode, danger, bad = 0;

	for (mode = 0; mode < DECISION_MODES; mode++)
		for (danger = RULE_DANGER_SAFE; danger < RULE_DANGER_REBUILD;
		     danger++)
			bad += decision_of((enum decision_mode)mode,
					   (enum rule_danger)(danger + 1)) >
			       decision_of((enum decision_mode)mode,
					   (enum rule_danger)danger);
	is_int(bad, 0, "what costs more is never repaired sooner");
}

int main(void)
{
	test_modes();
	test_order();
	return tap_done();
}
