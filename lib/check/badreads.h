/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Failed reads that no pass has reported. */
#ifndef NILFS2_CHECK_BADREADS_H
#define NILFS2_CHECK_BADREADS_H

#include "base/context.h"
#include "check/check.h"

/*
 * After the last pass, if reads have failed and no pass has reported any,
 * because blocks were skipped as known, or only read ahead: reports the blocks
 * that are in use (blockowner.h).  -ENOMEM, -EINTR.
 */
int badreads_report(struct check *c, struct context *cx);

#endif
