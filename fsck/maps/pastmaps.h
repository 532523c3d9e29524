/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of files in snapshots of which a part is gone for good. */
#ifndef NILFS2_FSCK_PASTMAPS_H
#define NILFS2_FSCK_PASTMAPS_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

/*
 * Takes what nodes that are none any more led to out of the maps that these N
 * findings are of: 0, or as pastblocks_write().
 */
int pastmaps_repair(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n);

#endif
