/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was synced after the latest super root, where some of it is damaged. */
#ifndef NILFS2_VOL_SALVAGE_H
#define NILFS2_VOL_SALVAGE_H

#include "base/context.h"
#include "vol/rollforward.h"

struct recovery;
struct volume;

/*
 * Collects what the data-sync logs after REC have, as rollforward_collect(),
 * but a damaged log ends nothing that others follow, which therefore were
 * written after it was complete: what it has is in *RFP as lost.  A listing
 * that cannot be right is used where one flipped bit explains it.  What lies
 * past the end of its file in the volume FILES is left out; FILES is NULL where
 * these are not known to be sound.  *RFP is freed with rollforward_free().
 * -EIO, -ENOMEM, -EINTR.
 */
int salvage_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp);

#endif
