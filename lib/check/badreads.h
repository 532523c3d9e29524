/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads that failed, and that no pass has told of. */
#ifndef NILFS2_CHECK_BADREADS_H
#define NILFS2_CHECK_BADREADS_H

#include "base/context.h"
#include "check/check.h"

/*
 * After the last pass, if reads have failed and no pass has reported any,
 * because each took it for known, or read only in advance: reports the blocks
 * that somebody needs (blockowner.h).  -ENOMEM, -EINTR.
 */
int badreads_report(struct check *c, struct context *cx);

#endif
