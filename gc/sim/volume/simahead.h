/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When each write is replaced, for placements that know the future. */
#ifndef NILFS2_GC_SIM_SIMAHEAD_H
#define NILFS2_GC_SIM_SIMAHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/sim/writers/simop.h"

struct simahead {
	uint32_t *next;		/* by write: the one that replaces it, or the
				   number of those before a trim, or NEVER */
	size_t n, room;
	uint32_t *latest;	/* by block: the last write so far, or NEVER */
	uint32_t *first;	/* by block: the first one, or NEVER */
	uint64_t blocks;
};

/* For blocks 0 ... BLOCKS - 1.  -ENOMEM; to be closed also then. */
int simahead_open(struct simahead *a, struct context *cx, uint64_t blocks);
void simahead_close(struct simahead *a);

/* OP comes next.  -ENOMEM, -EINVAL: too many writes, no such block. */
int simahead_add(struct simahead *a, struct context *cx,
		 const struct simop *op);

#endif
