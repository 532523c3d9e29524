/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts by number, mostly zero: of segments, of blocks of the DAT. */
#ifndef NILFS2_LOG_TALLY_H
#define NILFS2_LOG_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* All zero is an empty tally. */
struct tally {
	struct tally_chunk {
		uint64_t number;
		int32_t *counts;
	} *chunks;		/* ascending */
	size_t nchunks, room;
	size_t last;		/* the chunk used last */
};

/* Adds N to the count of I.  -ENOMEM. */
int tally_add(struct tally *t, struct context *cx, uint64_t i, int32_t n);

/* The count of I. */
int32_t tally_get(const struct tally *t, uint64_t i);

/* The first number from *I on with a count other than 0; false if none. */
bool tally_next(const struct tally *t, uint64_t *i);

void tally_fini(struct tally *t);

#endif
