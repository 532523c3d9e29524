/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps of a trace that are kept to be replayed, several times and at the same
 * time.
 *
 * A step takes a few bytes: numbers are stored as differences, in groups of
 * seven bits.  The steps of each volume are in pages of a temporary file, which
 * a trace of less than a page does not need.
 */
#ifndef NILFS2_GC_SIM_SIMSPOOL_H
#define NILFS2_GC_SIM_SIMSPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define SIMSPOOL_PAGE 8192u

/* The file of all volumes.  All zero is one without pages. */
struct simspool {
	int file;		/* descriptor + 1; 0: none yet */
	uint32_t pages;		/* in it */
};

/* The numbers of one volume.  All zero is the empty one. */
struct simspool_stream {
	uint8_t *page;		/* the last one */
	size_t used;
	uint32_t *pages;	/* those before, in the file */
	size_t npages, room;
};

void simspool_fini(struct simspool *s);
void simspool_stream_fini(struct simspool_stream *t);

/* What the stream has in memory. */
uint64_t simspool_bytes(const struct simspool_stream *t);

/* Numbers that are stored together are on one page: at most this many. */
#define SIMSPOOL_NUMBERS 5u

/* Adds N NUMBERS.  -ENOMEM, also where no temporary file can be had. */
int simspool_add(struct simspool *s, struct simspool_stream *t,
		 struct context *cx, const uint64_t *numbers, unsigned int n);

/* Differences, small ones of either sign. */
static inline uint64_t simspool_signed(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

#endif
