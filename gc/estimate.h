/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much there is to be moved, before anything is. */
#ifndef NILFS2_GC_ESTIMATE_H
#define NILFS2_GC_ESTIMATE_H

#include <stdint.h>

#include "base/context.h"
#include "gc/clean.h"
#include "gc/facts.h"

/*
 * Blocks that cleaning by OPTIONS, from the state that F describes, will move:
 * as far as can be told, for what is written on the way is not foreseen.
 * -ENOMEM.
 */
int estimate_moves(struct context *cx, const struct facts *f,
		   const struct clean_options *options, uint64_t *blocks);

#endif
