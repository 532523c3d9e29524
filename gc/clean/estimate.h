/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimate of the blocks to be moved. */
#ifndef NILFS2_GC_ESTIMATE_H
#define NILFS2_GC_ESTIMATE_H

#include <stdint.h>

#include "base/context.h"
#include "gc/clean/clean.h"
#include "gc/plan/facts.h"

/*
 * Blocks that cleaning by OPTIONS will move, from the state that F describes:
 * an estimate, as metadata written on the way is not included.  -ENOMEM.
 */
int estimate_moves(struct context *cx, const struct facts *f,
		   const struct clean_options *options, uint64_t *blocks);

#endif
