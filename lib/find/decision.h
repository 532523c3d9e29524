/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether something is to be repaired: what the user said against what it
   may cost. */
#ifndef NILFS2_FIND_DECISION_H
#define NILFS2_FIND_DECISION_H

#include "disk/rule.h"

/* What the user said. */
enum decision_mode {
	DECISION_MODE_NO,		/* change nothing */
	DECISION_MODE_SAFE,		/* no user can be asked */
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

/* What is to be done about a finding whose repair has that DANGER. */
enum decision decision_of(enum decision_mode mode, enum rule_danger danger);

#endif
