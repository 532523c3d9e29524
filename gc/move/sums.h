/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verifying the checksums of logs whose blocks are moved. */
#ifndef NILFS2_GC_SUMS_H
#define NILFS2_GC_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct load;
struct summing;

/* The logs verified by a run, for all of its jobs. */
struct sums {
	/*
	 * The device that jobs work on: flipped bits that were found read as
	 * what was written.  What a forecast writes is not on it.
	 */
	struct dev *dev;
	uint16_t *good;		/* of each segment: logs that were found right */
	uint64_t ngood;		/* segments, as many as the volume ever had */
	uint64_t *bad;		/* segments with a log that was not, ascending */
	size_t nbad, bad_room;
	uint64_t *bits;		/* where the flipped ones are: bits of the device */
	size_t nbits, bits_room;
	/* Called for a flipped bit of what is moved; or NULL. */
	void (*found)(void *arg, const char *text);
	void *arg;
};

/*
 * Opens s->dev over DEV (borrowed), with nothing verified.  Must be closed, also
 * after a failure; all zero can be closed, too.  -ENOMEM.
 */
int sums_open(struct sums *s, struct context *cx, struct dev *dev);
void sums_close(struct sums *s);

/*
 * Begins to verify all logs with blocks that LOAD (borrowed) moves, unless that
 * was done before, on all workers; the thread that begins it may do other things
 * meanwhile.  *UP, to be ended, is NULL where there is none.  A log with a block
 * that cannot be read passes, and so does one that was written meanwhile.
 * -ENOMEM, -EINTR.
 */
int sums_begin(struct summing **up, struct context *cx, struct sums *s,
	       const struct load *load);

/* Waits for all of U (or NULL): 0 where all match, 1, -ENOMEM, -EINTR. */
int sums_wait(struct summing *u, struct context *cx);

/*
 * After sums_wait() that was 1, when nothing reads s->dev: -EAGAIN if the
 * checksum of a log names a flipped bit: what was read before is to be read
 * again, and the load made again.  -EUCLEAN if no bit explains one: *BAD is its
 * first block, and the text names the files with blocks there.  -ENOMEM, -EINTR.
 */
int sums_judge(struct summing *u, struct context *cx, uint64_t *bad);

/* Ends U, whether or not it is done; NULL is accepted. */
void sums_end(struct summing *u);

/* Whether a log of SEGNUM does not match its checksum and cannot be corrected. */
bool sums_is_bad(const struct sums *s, uint64_t segnum);

/*
 * Flipped bits in what LOAD moves and rewrites, but for what was written
 * meanwhile.
 */
uint64_t sums_bits(const struct sums *s, struct context *cx,
		   const struct load *load);

/*
 * The victims of LOAD are free: what is written there next is to be verified,
 * and was not flipped.
 */
void sums_forget(struct sums *s, const struct load *load);

#endif
