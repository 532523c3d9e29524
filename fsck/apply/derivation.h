/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repair by derivation: computing metadata from logs and trees. */
#ifndef NILFS2_FSCK_DERIVATION_H
#define NILFS2_FSCK_DERIVATION_H

#include "base/context.h"
#include "fsck/apply/repair.h"

/*
 * Derives the metadata of R's volume where the latest look found damage that
 * this may repair, checks the result, and writes the derived blocks to one
 * more log on the overlay.  What is no better than before is dropped.  Does
 * nothing before a super root was found, and once for each state.  0, or a
 * failure that ends the repair.
 */
int derivation_run(struct repair *r, struct context *cx);

#endif
