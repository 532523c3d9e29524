/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run takes of memory, before it begins.
 */
#ifndef NILFS2_GC_SIM_SIMMEMORY_H
#define NILFS2_GC_SIM_SIMMEMORY_H

#include <stdint.h>

#include "gc/sim/run/simsetup.h"
#include "gc/sim/volume/simchoice.h"

struct simmemory {
	uint64_t bytes;		/* all of it; UINT64_MAX: that or more */
	uint64_t most;		/* the largest part */
	const char *part;	/* what that is */
	const char *remedy;	/* which options make it smaller */
};

/* Of a run of S, as simsetup_plan() has made it, by POLICY. */
struct simmemory simmemory_of(const struct simsetup *s,
			      const struct simchoice_policy *policy);

/* What runs share, of INPUT. */
struct simmemory simmemory_of_input(const struct siminput *input);

/* Adds COUNT things of SIZE bytes, which are (of) PART. */
void simmemory_add(struct simmemory *m, const char *part, const char *remedy,
		   uint64_t count, uint64_t size);

#endif
