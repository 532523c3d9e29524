/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a volume is better than it was. */
#ifndef NILFS2_FSCK_IMPROVEMENT_H
#define NILFS2_FSCK_IMPROVEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"

/*
 * True where what NOW found is less than what BEFORE did.  Stage by
 * stage: at the first one at which the errors differ there must be fewer of
 * some rule and more of none; what follows was perhaps hidden.  Where no stage
 * differs there must be fewer warnings.  It is the newest checkpoint and what
 * belongs to none that must be better, and all together not worse; or snapshots
 * alone.  A volume that opens, or a DAT that can be trusted, is worth more than
 * all that it shows.  Else *WORSE is a rule that is broken more often, or NULL.
 */
bool improvement_is_better(const struct check *now, const struct check *before,
			   const struct rule_info **worse);

/*
 * How many errors C found by which repairs are judged: a log whose checksum does
 * not match is none, as no repair changes it, and --data alone shows it.
 */
uint64_t improvement_errors(const struct check *c);

/* The same without those of snapshots. */
uint64_t improvement_errors_latest(const struct check *c);

/* What a repair must have come to. */
enum improvement_demand {
	IMPROVEMENT_ONLY,
	IMPROVEMENT_OR_SAME,		/* not worse */
	IMPROVEMENT_ANY,
	IMPROVEMENT_SOUND,		/* no error is left */
};

bool improvement_meets(const struct check *now, const struct check *before,
		       enum improvement_demand demand,
		       const struct rule_info **worse);

struct losses {
	uint64_t files, left;	/* inodes of the newest checkpoint */
};

/*
 * True where less than half of the files is left that were there, as far as
 * either is known: LOSSES says how many.  A few are not counted.
 */
bool improvement_loses_most(struct context *cx, const struct check *now,
			    const struct check *before, struct losses *losses);

#endif
