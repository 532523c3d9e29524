/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a volume a repair would leave. */
#ifndef NILFS2_FSCK_LOSSES_H
#define NILFS2_FSCK_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"

struct losses {
	uint64_t files, left;	/* inodes of the newest checkpoint */
};

/*
 * True where less than half of the files is left that were there, as far as
 * either is known: LOSSES says how many.  A few are not counted.
 */
bool losses_are_grave(struct context *cx, const struct check *now,
		      const struct check *before, struct losses *losses);

#endif
