/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live-block counts of the SUFILE's extension, from what they count. */
#ifndef NILFS2_FSCK_LIVECOUNTS_H
#define NILFS2_FSCK_LIVECOUNTS_H

#include <stdint.h>

#include "base/context.h"
#include "log/writer.h"
#include "vol/volume.h"

/*
 * Enters those of all segments in the SUFILE of W, a writer on VOL, as of TIME,
 * and marks them as exact: what W itself does to them follows.  *CHANGED: how
 * many segments had others.  Nothing is done where VOL has no such counts, or
 * its DAT or list of snapshots cannot be read.
 */
int livecounts_enter(struct writer *w, struct context *cx, struct volume *vol,
		     uint64_t time, uint64_t *changed);

#endif
