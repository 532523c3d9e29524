/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checkpoints past the end of the chain of logs. */
#ifndef NILFS2_CHECK_CHAIN_H
#define NILFS2_CHECK_CHAIN_H

#include "base/context.h"
#include "check/check.h"

/*
 * Reports a checkpoint that is newer than the one c->vol was opened at, and of
 * its history, where a log that is not valid ends the chain before it.  The
 * kernel mounts the older one without a word.  -ENOMEM, -EINTR.
 */
int chain_check(struct check *c, struct context *cx);

#endif
