/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the map of the DAT leads to the blocks that were written last. */
#ifndef NILFS2_CHECK_DATNEWEST_H
#define NILFS2_CHECK_DATNEWEST_H

#include "base/context.h"

struct check;

/*
 * Reports the first block of the DAT that is elsewhere by the logs than by the
 * map, which is broken then (C->dat_broken).  It reads all logs: for a DAT in
 * doubt.  0, -ENOMEM, -EINTR.
 */
int datnewest_check(struct check *c, struct context *cx);

#endif
