/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the SUFILE that the DAT leads to is the newest one. */
#ifndef NILFS2_FSCK_SUFILE_DOUBT_H
#define NILFS2_FSCK_SUFILE_DOUBT_H

#include "base/context.h"
#include "check/check.h"

/*
 * Sets c->sufile_doubted unless the SUFILE is where its newest listings are.
 * -ENOMEM, -EINTR.
 */
int sufile_doubt(struct check *c, struct context *cx);

#endif
