/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remains: unreferenced blocks of files that are still on the device. */
#ifndef NILFS2_GC_REMAINS_H
#define NILFS2_GC_REMAINS_H

#include <stdint.h>

#include "base/context.h"
#include "vol/liveness.h"
#include "vol/volume.h"

/*
 * Whether the first NBLOCKS blocks of SEGNUM have a block of a file or of the
 * ifile that is not live by L: 1, 0.  1 also if the logs do not list all of
 * them.  -EIO, -EUCLEAN, -ENOMEM.
 */
int remains_any(struct context *cx, struct volume *vol,
		const struct liveness *l, uint64_t segnum, uint32_t nblocks);

#endif
