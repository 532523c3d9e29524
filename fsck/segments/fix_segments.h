/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of the SUFILE made what they should be; see fix_segments.c. */
#ifndef NILFS2_FSCK_FIX_SEGMENTS_H
#define NILFS2_FSCK_FIX_SEGMENTS_H

#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Repairs the entries of the segments in WHICH, and clears those after the last
 * segment; *NCHANGED of the segments were wrong.  Counts of live blocks are
 * left as they are.
 */
int fix_segments_all(struct fixer_job *job, struct context *cx,
		     const struct bitmap *which, uint64_t *nchanged);

#endif
