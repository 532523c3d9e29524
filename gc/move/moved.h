/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of moved blocks, read from their old positions. */
#ifndef NILFS2_GC_MOVED_H
#define NILFS2_GC_MOVED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/move/load.h"
#include "log/write/payload.h"

struct moved;

/*
 * The blocks of the runs of LOAD (borrowed, sorted), consecutively; for a
 * FORECAST without the data of files.  *BAD becomes the number of an unreadable
 * block, if there is one; it is 0 at first.  -ENOMEM.
 */
int moved_make(struct moved **mp, struct context *cx, const struct load *load,
	       bool forecast, uint64_t *bad);

/* The payload for RUN; borrowed. */
struct payload *moved_payload(struct moved *m, const struct load_run *run);

/* Call it when nothing reads M any more; NULL is accepted. */
void moved_put(struct moved *m);

#endif
