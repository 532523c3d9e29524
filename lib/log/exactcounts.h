/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rebuilding the live-block counts of the SUFILE's extension. */
#ifndef NILFS2_LOG_EXACTCOUNTS_H
#define NILFS2_LOG_EXACTCOUNTS_H

#include <stdint.h>

#include "base/context.h"
#include "log/writer.h"
#include "vol/liveness.h"

/*
 * Enters the counts of all segments in the SUFILE of W, a writer of
 * directwriter_open() that has not begun a log, as of TIME (seconds), and marks
 * them as exact; later changes by W are counted.  LIVE is of the volume that W
 * was opened on.  *CHANGED is the number of segments with wrong counts.  Does
 * nothing if the entries have no such counts.  Fails as metafile_change().
 */
int exactcounts_enter(struct writer *w, struct context *cx,
		      const struct liveness *live, uint64_t time,
		      uint64_t *changed);

/*
 * Counts the live blocks of VOL, on which W was opened, and enters them.  Does
 * nothing if VOL has no such counts, or its DAT or list of snapshots cannot be
 * read.
 */
int exactcounts_count(struct writer *w, struct context *cx, struct volume *vol,
		      uint64_t time, uint64_t *changed);

#endif
