/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs on a device in memory under power cuts: at every write and flush, torn
 * or reordered up to a flush.
 */
#ifndef NILFS2_TESTS_CUT_H
#define NILFS2_TESTS_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/testdev/fault.h"

/* 0 or more, or a failure. */
typedef int cut_job(void *arg, struct context *cx, struct dev *dev);

enum cut_state { CUT_BAD, CUT_OLD, CUT_NEW };

/* What a cut left behind; asked once for each state of the device. */
typedef enum cut_state cut_judge(void *arg);

/* All of it borrowed. */
struct cut {
	struct context *cx;
	const char *before;	/* what the device holds when a job begins */
	char *bytes;		/* the device */
	size_t size;
	cut_job *job;
	cut_judge *judge;
	void *arg;		/* of both */
};

struct cut_end {
	int ret;		/* the job's */
	uint64_t counted;	/* by the plan */
	bool happened;		/* what was planned */
};

/*
 * Does the job to the bytes as they are while PLAN is carried out, then turns
 * the power off.
 */
struct cut_end cut_run(const struct cut *cut, const struct fault_plan *plan);

struct cut_counts {
	unsigned int bad;	/* also where the job saw no failure */
	unsigned int old, new;
	int ret;		/* of the job without a cut */
};

/*
 * Does the job to what was before while PLAN happens to its first write or
 * flush, to the second, and so on until it ends without.  After that the device
 * holds what the whole job leaves.
 */
struct cut_counts cut_each(const struct cut *cut, struct fault_plan plan);

/* The ways in which the power goes off, and what to call them. */
struct cut_way {
	struct fault_plan plan;
	const char *how;
};

#define CUT_WAYS 3
extern const struct cut_way cut_ways[CUT_WAYS];

/*
 * cut_each() in each of the ways.  What a job writes up to a cut does not depend
 * on the cut: it is done in the first one only, its writes are done again in the
 * others.
 */
void cut_all(const struct cut *cut, struct cut_counts counts[CUT_WAYS]);

#endif
