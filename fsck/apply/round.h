/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One round of repairs: the fixers of a stage, a log, superblocks. */
#ifndef NILFS2_FSCK_ROUND_H
#define NILFS2_FSCK_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "fsck/plan/fixers.h"

struct round {
	struct fixer_job job;	/* without a writer */
	enum rule_stage stage;
	const bool *taken;	/* kinds whose turn it is, by enum rule_fix */
	bool may_lose;		/* cpfile and ifile may be rebuilt */
	size_t reclaim;		/* segments to take from old checkpoints */
	/* Files that begin without blocks, REPAIRWRITER_FILE(): those given, and
	   those that turn out to need it. */
	unsigned int rebuilt;
	fixer_apply *instead;	/* in place of all fixers, or NULL */
	bool fresh_segment;	/* the latest one is emptied */
};

/* Runs it.  0, or a failure that ends the repair. */
int round_run(struct round *round, struct context *cx);

/*
 * The superblocks of job->vol name the log of END from now on, and say, with
 * VALID, that nothing after it is to be recovered: the last step of whatever
 * adds a log.  Failures as newsupers_write().
 */
int round_name(const struct fixer_job *job, struct context *cx,
	       const struct writer_end *end, bool valid);

#endif
