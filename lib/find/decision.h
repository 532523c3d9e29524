/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides whether to repair a finding, from the user's options and the danger of the
   repair. */
#ifndef NILFS2_FIND_DECISION_H
#define NILFS2_FIND_DECISION_H

#include "disk/rule.h"

/* The options of the user. */
enum decision_mode {
	DECISION_MODE_NO,		/* change nothing */
	DECISION_MODE_SAFE,		/* the user cannot be asked */
	DECISION_MODE_ASK,
	DECISION_MODE_ASK_REBUILD,	/* ... of metadata files too */
	DECISION_MODE_YES,
	DECISION_MODE_YES_REBUILD,
	DECISION_MODES
};

enum decision {
	DECISION_LEAVE,
	DECISION_ASK,
	DECISION_REPAIR,
};

/* The action for a finding whose repair has that DANGER. */
enum decision decision_of(enum decision_mode mode, enum rule_danger danger);

#endif
