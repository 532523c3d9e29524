// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writers [SEED]: into how many pieces the requests of several writers fall.
 *
 * "f2fs: enhance multithread dio write performance" (2015): with one lock held
 * for the blocks of a whole request of 2 MiB, 10 writers of 16 MiB each went
 * from 5125 to 10424 KB/s (SD card), 16 of 64 MiB from 103583 to 124860 (eMMC).
 *
 * All writers take blocks from one log.  Without the lock one of them takes a
 * run, then any of them the next; how long such a run is was not stated, and is
 * tried here: the length rounded up of a time without memory.  A request at the
 * start of its file makes the log go on in a new segment.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gc/sim/writers/simrandom.h"

#define REQUEST 512u	/* blocks */
#define SEGMENT 512u
#define WRITERS 16u

struct writer {
	uint32_t left, done;	/* requests; blocks of the one in work */
	bool started;
	uint64_t next;		/* the place that would go on its extent */
};

struct outcome {
	uint64_t extents, requests, end;
};

/* Takes up to RUN blocks for W. */
static void take(struct outcome *o, struct writer *w, uint32_t run)
{
	if (!w->started)
		o->end = (o->end + SEGMENT - 1) / SEGMENT * SEGMENT;
	w->started = true;
	if (run > REQUEST - w->done)
		run = REQUEST - w->done;
	o->extents += !w->done || w->next != o->end;
	o->end += run;
	w->next = o->end;
	w->done += run;
	if (w->done == REQUEST) {
		w->done = 0;
		w->left--;
		o->requests++;
	}
}

static uint32_t run_length(struct simrandom *r, double mean)
{
	return 1 + (uint32_t)(-log(1 - simrandom_fraction(r)) * mean);
}

/* N writers of so many requests; a MEAN of 0 is the lock. */
static struct outcome go(uint32_t n, uint32_t requests, double mean,
			 uint64_t seed)
{
	struct writer w[WRITERS] = { 0 };
	struct outcome o = { 0 };
	struct simrandom r = { seed };
	uint32_t i;

	for (i = 0; i < n; i++)
		w[i].left = requests;
	while (o.requests < (uint64_t)n * requests) {
		i = (uint32_t)simrandom_below(&r, n);
		if (w[i].left)
			take(&o, &w[i], mean > 0 ? run_length(&r, mean) :
						   REQUEST);
	}
	return o;
}

/* Milliseconds that an extent less saves, if that is all that is saved. */
static void compare(uint32_t n, uint32_t requests, double before, double after,
		    uint64_t seed)
{
	static const double means[] = { 0, 1, 16, 64, 256 };
	double saved = 2048 / before - 2048 / after;
	unsigned int i;

	for (i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
		struct outcome o = go(n, requests, means[i], seed);
		double extents = (double)o.extents / (double)o.requests;

		printf("%u %.0f %.2f %" PRIu64 " ", n, means[i], extents,
		       (o.end + SEGMENT - 1) / SEGMENT - o.requests);
		if (extents > 1)
			printf("%.2f\n", saved * 1000 / (extents - 1));
		else
			printf("-\n");
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	puts("writers run extents/request more-segments ms/extent");
	compare(10, 8, 5125, 10424, seed);
	compare(16, 32, 103583, 124860, seed);
	return 0;
}
