/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One round of repairs: the fixers of a stage, a log, superblocks. */
#ifndef NILFS2_FSCK_ROUND_H
#define NILFS2_FSCK_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "fsck/plan/fixers.h"
#include "fsck/plan/plan.h"
#include "log/repairwriter.h"

struct round {
	struct fixer_job job;	/* without a writer */
	enum rule_stage stage;
	fixer_apply *begin;	/* before all fixers, or NULL */
	bool taken[RULE_FIX_COUNT];	/* kinds whose turn it is */
	bool may_lose;		/* cpfile and ifile may be rebuilt */
	size_t reclaim;		/* segments to take from old checkpoints */
	/* Files that begin without blocks, REPAIRWRITER_FILE(): those given, and
	   those that turn out to need it. */
	unsigned int rebuilt;
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

/*
 * Adds a checkpoint to job->vol, which a look found to be sound, that has the
 * files of checkpoint CNO (0: the last one before the latest that is no minor
 * one), and writes superblocks that name it.  No checkpoint is lost by that, and another one
 * leads back.  -ENOENT where there is no such checkpoint, -ENOSPC, -EIO.
 */
int rollback_run(struct fixer_job *job, struct context *cx, uint64_t cno);

/*
 * Fills KNOWN from C, which it borrows, and the repairs of PLAN for which
 * TAKEN, by enum rule_fix, is true: what they are not for must be kept.
 */
void writerhints_fill(struct repairwriter_known *known, struct check *c,
		      const struct plan *plan,
		      const bool taken[RULE_FIX_COUNT]);

struct reclaim {
	uint64_t *segments;	/* dropped, ascending */
	size_t n, room;
};

/*
 * Releases up to WANT segments to job->writer, with their content: virtual
 * numbers are freed, and plain checkpoints that refer to them deleted.  Nothing
 * in them is of the latest state or of a snapshot.  *H, all zero before, is
 * freed with reclaim_fini() when the writer is done.
 *
 * -ENOSPC if there is none, or if the DAT, which shows what is live, is not
 * sound.  -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int reclaim_take(struct reclaim *h, struct context *cx, struct fixer_job *job,
		 size_t want);
void reclaim_fini(struct reclaim *h, struct fixer_job *job);

#endif
