/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks that their logs list by a wrong number. */
#ifndef NILFS2_FSCK_MISLISTED_H
#define NILFS2_FSCK_MISLISTED_H

#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/listings.h"
#include "fsck/dat/datlife.h"

/*
 * Whether BLOCKNR is virtual block VBLOCKNR as the DAT says, although its log
 * lists it by another number: 1, and how it should be listed in *L; 0, a
 * failure.  Asked only where no log lists VBLOCKNR.
 */
int mislisted_find(struct datlife *life, struct context *cx,
		   const struct check *c, uint64_t vblocknr, uint64_t blocknr,
		   struct listing *l);

#endif
