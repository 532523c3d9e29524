/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States after the one that the repair started from. */
#ifndef NILFS2_FSCK_NEWLOGS_H
#define NILFS2_FSCK_NEWLOGS_H

#include "base/context.h"
#include "fsck/account/sides.h"

/*
 * If superblocks name a checkpoint after the latest one of the side before,
 * NEWEST, or logs do unless IS_WHOLE says that none is damaged, these are lost,
 * with the content of their logs: adds both to the losses, the latter as of the
 * latest state.  0, -ENOMEM, -EINTR.
 */
int newlogs_run(struct sides *s, struct context *cx, const struct bitmap *used,
		uint64_t newest, bool is_whole);

#endif
