/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DAT whose map is broken, or of which blocks cannot be read. */
#ifndef NILFS2_FSCK_DATMAP_H
#define NILFS2_FSCK_DATMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/* True where FIX is to be mended by making the map of the DAT anew. */
bool datmap_is_broken(const struct fix *fix);

/*
 * Where FIXES ask for that, makes the map anew, or blocks that cannot be read.
 * The writer was opened with a DAT that is anew where datmap_is_broken() is
 * true of any of them.  1 where it did: nothing else is to be said of the DAT
 * then before the next look; 0 where there was nothing to do, a failure.
 */
int datmap_mend(struct fixer_job *job, struct context *cx,
		const struct fix *fixes, size_t n);

#endif
