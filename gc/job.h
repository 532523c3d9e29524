/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs of gc.nilfs2, each one complete operation on a volume; which of them
 * can be combined, and their order.
 */
#ifndef NILFS2_GC_JOB_H
#define NILFS2_GC_JOB_H

#include "base/context.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "gc/options.h"

/* Exit status: less was done than requested. */
#define JOB_UNDONE 1
/* Exit status: some segments were skipped, the others are done. */
#define JOB_LEFT 3

/*
 * Does the job on DEV as OPTIONS requests and reports the result: 0,
 * JOB_UNDONE, JOB_LEFT or -errno.  -EINVAL with tool->bad_usage for a wrong
 * argument.
 */
typedef int job_run(struct tool *tool, const struct options *options,
		    struct dev *dev);

/*
 * Whether the job is possible, as far as this is known before any other job:
 * DEV is not changed, and nothing is reported if it is.  0; JOB_UNDONE or
 * another exit status, with a warning; or -errno, as the job would fail.
 */
job_run tunejob_check_properties;
job_run tunejob_check_features;
job_run checkpointjob_check_snapshots;
job_run checkpointjob_check_delete;
job_run resizejob_check_shrink;
job_run resizejob_check_grow;
job_run compactjob_check_defrag;

/*
 * The check before all jobs, precheck_run().  Errors in a damaged snapshot do
 * not prevent writing if it is to be deleted or converted to a checkpoint, and
 * there are no errors without it.
 */
job_run checkpointjob_precheck;

job_run tunejob_properties;	/* --label, --uuid, --check-interval, ... */
job_run tunejob_features;	/* --features */
job_run checkpointjob_snapshots;	/* --to-snapshot, --take-snapshot ... */
job_run checkpointjob_delete;	/* --delete-checkpoints */
job_run cleanjob_compare;	/* --compare */
job_run cleanjob_clean;		/* --free, or no job at all */
job_run compactjob_compact;	/* --compact, --order */
job_run compactjob_copy;	/* --output */
/*
 * If DEV is shorter than its volume, says what lies beyond its end.  If that is nothing
 * and O shrinks the volume, gives the image file DEV the size of the volume again; then
 * *FORMER is the size before, else 0.
 */
int resizejob_extend(struct tool *tool, const struct options *o, struct dev *dev,
		     uint64_t *former);
job_run resizejob_shrink;	/* --shrink */
job_run resizejob_grow;		/* --grow */
job_run compactjob_defrag;	/* --defrag */
job_run cleanjob_purge;		/* --purge */
job_run cleanjob_punch;		/* --punch, --trim */

/*
 * --watch: stays with the volume mounted on the directory until a signal, or until it
 * is unmounted.  0, or -errno.
 */
int watchjob_run(struct tool *tool, const struct options *options);

/* --status: reports what it does; JOB_UNDONE if it does not run. */
int watchjob_status(struct tool *tool);

/* -EINVAL, with both options in the text, if O requests jobs that conflict. */
int jobs_check(struct context *cx, const struct options *o);

/*
 * Runs the jobs that O requests, each on the volume that the previous one has
 * left; a forecast has them all on one overlay.  If one of them is refused none
 * is run.  0, JOB_UNDONE or JOB_LEFT of one of them, or a failure, which ends
 * it.
 */
int jobs_run(struct tool *tool, const struct options *o, struct dev *dev);

#endif
