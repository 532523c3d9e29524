/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that are dirty in memory.
 *
 * They are written in the order of their numbers from the last one on, around
 * the end, like a kernel's writeback: with many of them, neighbours are written
 * together.
 */
#ifndef NILFS2_GC_SIM_SIMDIRTY_H
#define NILFS2_GC_SIM_SIMDIRTY_H

#include "base/bitmap.h"

struct simdirty {
	struct bitmap map;
	uint64_t count, next;
};

/* For pages 0 ... N - 1.  -ENOMEM; to be closed also then. */
int simdirty_open(struct simdirty *d, struct context *cx, uint64_t n);
void simdirty_close(struct simdirty *d);

void simdirty_add(struct simdirty *d, uint64_t page);
void simdirty_drop(struct simdirty *d, uint64_t page);

/* Takes the next one out; there must be one. */
uint64_t simdirty_take(struct simdirty *d);

#endif
