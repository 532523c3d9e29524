/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collecting data synced after the latest super root, in spite of damaged logs. */
#ifndef NILFS2_VOL_SALVAGE_H
#define NILFS2_VOL_SALVAGE_H

#include "base/context.h"
#include "vol/rollforward.h"

struct recovery;
struct volume;

/*
 * Collects the blocks of data-sync logs after REC, like rollforward_collect(), but
 * continues after a damaged log if other logs follow, since it was complete when
 * they were written; its blocks are in *RFP as lost.  An impossible list is used if
 * one flipped bit explains it.  Blocks beyond the end of their file in the volume
 * FILES are omitted; FILES is NULL if these may be damaged.  *RFP is freed with
 * rollforward_free().  -EIO, -ENOMEM, -EINTR.
 */
int salvage_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp);

#endif
