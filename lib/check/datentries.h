/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All entries of the DAT that are in use, each checked and its block claimed. */
#ifndef NILFS2_CHECK_DATENTRIES_H
#define NILFS2_CHECK_DATENTRIES_H

#include "base/context.h"

struct check;

/*
 * Checks the entries with CX->threads workers and adds what they name to
 * C->claimed.  The map of the DAT is sound, and what it claims for itself is
 * in that set already.  0, -ENOMEM, -EINTR.
 */
int datentries_check(struct check *c, struct context *cx);

#endif
