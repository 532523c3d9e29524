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

/* The verified logs of a run, for all of its jobs. */
struct sums {
	/*
	 * The device that jobs work on: reads of flipped bits that were found
	 * are corrected.  It does not include the writes of a forecast.
	 */
	struct dev *dev;
	uint16_t *good;		/* by segment: number of correct logs */
	uint64_t ngood;		/* segments, as many as the volume ever had */
	uint64_t *bad;		/* segments with a bad log, ascending */
	size_t nbad, bad_room;
	uint64_t *bits;		/* positions of flipped bits, in bits of the device */
	size_t nbits, bits_room;
	/* Called for a flipped bit in a moved block; or NULL. */
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
 * Begins to verify all logs with blocks that LOAD (borrowed) moves, unless they
 * were verified before, on all workers, while the calling thread continues.
 * *UP, to be ended, is NULL if there is no log to verify.  Logs with an
 * unreadable block, or written while they are verified, pass.  -ENOMEM, -EINTR.
 */
int sums_begin(struct summing **up, struct context *cx, struct sums *s,
	       const struct load *load);

/* Waits for all of U (or NULL): 0 where all match, 1, -ENOMEM, -EINTR. */
int sums_wait(struct summing *u, struct context *cx);

/*
 * After sums_wait() that was 1, when nothing reads s->dev: -EAGAIN if the
 * checksum of a log identifies a flipped bit: earlier reads are to be repeated,
 * and the load made again.  -EUCLEAN if no bit explains one: *BAD is its first
 * block, and the text lists the files with blocks there.  -ENOMEM, -EINTR.
 */
int sums_judge(struct summing *u, struct context *cx, uint64_t *bad);

/* Ends U, whether or not it is done; NULL is accepted. */
void sums_end(struct summing *u);

/*
 * Whether a log of SEGNUM does not match its checksum and cannot be corrected.
 */
bool sums_is_bad(const struct sums *s, uint64_t segnum);

/*
 * The number of flipped bits in blocks that LOAD moves and rewrites, except
 * blocks written since.
 */
uint64_t sums_bits(const struct sums *s, struct context *cx,
		   const struct load *load);

/*
 * The victims of LOAD are free: forgets their results, as later content has to
 * be verified again.
 */
void sums_forget(struct sums *s, const struct load *load);

#endif
