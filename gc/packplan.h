/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan for a batch after which numbers in use are in fewer blocks of the DAT.
 */
#ifndef NILFS2_GC_PACKPLAN_H
#define NILFS2_GC_PACKPLAN_H

#include <stdint.h>

#include "base/context.h"
#include "gc/load.h"
#include "gc/renumber.h"

/*
 * Adds to LOAD (not sorted yet) what has to move so that the emptiest blocks of
 * the DAT become empty, as many as can, and to RENUMBER, which is empty and
 * becomes that of LOAD, the numbers that change.  The batch may take ROOM
 * blocks.  -EUCLEAN, -EIO where the volume cannot be read, -ENOMEM.
 */
int packplan_make(struct context *cx, struct load *load,
		  struct renumber *renumber, uint64_t room);

#endif
