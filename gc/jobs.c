// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of jobs.
 *
 * Jobs run one after the other on one volume, so most can be combined.  Before
 * the first one writes, all are checked: a request for a checkpoint that does
 * not exist must not clean the other checkpoints away.  A copy and a comparison
 * leave the volume unchanged: jobs that would change it are refused together
 * with them.  Cleaning is the default, unless a requested job is complete
 * without it.
 */
#include "gc/job.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* In the order of execution. */
enum job {
	JOB_PROPERTIES,
	JOB_SNAPSHOTS,
	JOB_FEATURES,
	JOB_DELETE,
	JOB_COMPARE,
	JOB_CLEAN,
	JOB_COMPACT,
	JOB_COPY,
	JOB_SHRINK,
	JOB_GROW,
	JOB_DEFRAG,
	JOB_PURGE,
	JOB_PUNCH,
	JOB_COUNT,
};

/* When a job changes the volume. */
enum job_phase {
	PHASE_BEFORE,		/* before cleaning and its alternatives */
	PHASE_CLEAN,
	PHASE_AFTER,
};

/* Whether cleaning is done together with a job. */
enum job_cleaning {
	CLEANING_TOO,
	CLEANING_ASKED,		/* with --free only */
	CLEANING_NOT,
};

static const struct {
	job_run *run;
	job_run *check;		/* NULL: the job itself detects it */
	enum job_phase phase;
	enum job_cleaning cleaning;
	bool mounted;		/* possible while the volume is mounted */
} jobs[JOB_COUNT] = {
	[JOB_PROPERTIES] = { tunejob_properties, tunejob_check_properties,
			     PHASE_BEFORE, CLEANING_ASKED },
	[JOB_SNAPSHOTS] = { checkpointjob_snapshots,
			    checkpointjob_check_snapshots,
			    PHASE_BEFORE, CLEANING_ASKED, true },
	[JOB_FEATURES] = { tunejob_features, tunejob_check_features,
			   PHASE_BEFORE, CLEANING_ASKED },
	[JOB_DELETE] = { checkpointjob_delete, checkpointjob_check_delete,
			 PHASE_BEFORE, CLEANING_TOO, true },
	[JOB_COMPARE] = { cleanjob_compare, NULL, PHASE_CLEAN, CLEANING_NOT },
	[JOB_CLEAN] = { cleanjob_clean, NULL, PHASE_CLEAN, CLEANING_TOO, true },
	[JOB_COMPACT] = { compactjob_compact, NULL, PHASE_CLEAN, CLEANING_NOT },
	[JOB_COPY] = { compactjob_copy, NULL, PHASE_CLEAN, CLEANING_NOT },
	[JOB_SHRINK] = { resizejob_shrink, resizejob_check_shrink,
			 PHASE_AFTER, CLEANING_ASKED, true },
	[JOB_GROW] = { resizejob_grow, resizejob_check_grow,
		       PHASE_AFTER, CLEANING_ASKED, true },
	[JOB_DEFRAG] = { compactjob_defrag, compactjob_check_defrag,
			 PHASE_AFTER, CLEANING_ASKED },
	[JOB_PURGE] = { cleanjob_purge, NULL, PHASE_AFTER, CLEANING_TOO },
	[JOB_PUNCH] = { cleanjob_punch, NULL, PHASE_AFTER, CLEANING_ASKED, true },
};

/* The option that requests JOB, or NULL. */
static const char *job_option(enum job job, const struct options *o)
{
	enum tune_number n;

	switch (job) {
	case JOB_PROPERTIES:
		if (o->tune.label)
			return "--label";
		if (o->uuid)
			return "--uuid";
		for (n = 0; n < TUNE_NUMBERS; n++)
			if (o->tune.numbers[n] != TUNE_KEEP)
				return tune_option(n);
		return NULL;
	case JOB_SNAPSHOTS:
		return o->to_snapshot.count ? "--to-snapshot" :
		       o->to_checkpoint.count ? "--to-checkpoint" :
		       o->take_snapshot ? "--take-snapshot" :
		       keep_is_rule(&o->keep) ? "--keep" : NULL;
	case JOB_FEATURES:
		return o->features ? "--features" : NULL;
	case JOB_DELETE:
		return o->deletions.count ? "--delete-checkpoints" : NULL;
	case JOB_COMPARE:
		return o->compare ? "--compare" : NULL;
	case JOB_CLEAN:
		return o->free.unit != OPTIONS_WORTH ? "--free" : NULL;
	case JOB_COMPACT:
		return o->output ? NULL :
		       o->compact >= 0 ? "--compact" :
		       o->order >= 0 ? "--order" : NULL;
	case JOB_COPY:
		return o->output ? "--output" : NULL;
	case JOB_SHRINK:
		return o->shrink.wanted ? "--shrink" : NULL;
	case JOB_GROW:
		return o->grow.wanted ? "--grow" : NULL;
	case JOB_DEFRAG:
		return o->defrag.count ? "--defrag" : NULL;
	case JOB_PURGE:
		return o->purge ? "--purge" : NULL;
	case JOB_PUNCH:
		return o->punch ? "--punch" : NULL;
	case JOB_COUNT:
		break;
	}
	return NULL;
}

static bool is_job_wanted(enum job job, const struct options *o)
{
	enum job_cleaning most = CLEANING_TOO;
	bool requested = job_option(job, o) != NULL;
	enum job other;

	if (job != JOB_CLEAN)
		return requested;
	for (other = 0; other < JOB_COUNT; other++)
		if (job_option(other, o) && jobs[other].cleaning > most)
			most = jobs[other].cleaning;
	return most == CLEANING_TOO || (most == CLEANING_ASKED && requested);
}

/* -EINVAL if a job of PHASE is requested together with OPTION. */
static int refuse_phase(struct context *cx, const struct options *o,
			const char *option, enum job_phase phase)
{
	const char *other;
	enum job job;

	for (job = 0; job < JOB_COUNT; job++) {
		other = job_option(job, o);
		if (other && jobs[job].phase == phase)
			return fail(cx, -EINVAL, "%s and %s exclude each other",
				    option, other);
	}
	return 0;
}

int jobs_check(struct context *cx, const struct options *o)
{
	enum job job;
	int ret = 0;

	for (job = 0; job < JOB_COUNT && (o->watch || o->status); job++)
		if (job_option(job, o))
			return fail(cx, -EINVAL, "%s and %s exclude each other",
				    o->watch ? "--watch" : "--status",
				    job_option(job, o));
	if (o->watch && o->dry_run)
		return fail(cx, -EINVAL, "--watch and -n exclude each other");
	if (o->keep_state && !keep_is_rule(&o->keep))
		return fail(cx, -EINVAL, "--keep-state needs --keep");
	if (o->compare && o->output)
		return fail(cx, -EINVAL,
			    "--compare and --output exclude each other");
	if (o->shrink.wanted && o->grow.wanted)
		return fail(cx, -EINVAL,
			    "--shrink and --grow exclude each other");
	if (o->compare)
		ret = refuse_phase(cx, o, "--compare", PHASE_AFTER);
	if (!ret && o->output)
		ret = refuse_phase(cx, o, "--output", PHASE_BEFORE);
	if (!ret && o->output)
		ret = refuse_phase(cx, o, "--output", PHASE_AFTER);
	return ret;
}

int jobs_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct context *cx = &tool->cx;
	struct report *r = &tool->report;
	struct out *out = r->out, *nothing = NULL;
	char text[FAILURE_TEXT_MAX];
	enum job job;
	int ret = 0, status = 0;

	for (job = 0; job < JOB_COUNT && o->live; job++)
		if (is_job_wanted(job, o) && !jobs[job].mounted)
			return fail_said(cx, -EBUSY, "%s: %s: not while the volume "
					 "is mounted; unmount it, and give its "
					 "device", tool->argv[0],
					 job_option(job, o));
	for (job = 0; job < JOB_COUNT && !status; job++)
		if (is_job_wanted(job, o) && jobs[job].check)
			status = jobs[job].check(tool, o, dev);
	if (status == JOB_UNDONE)
		tool_warn(tool, "%s: nothing was changed", tool->argv[0]);
	if (status)
		return status;
	if (tool->quiet && report_is_text(r)) {
		ret = out_open_nothing(cx, &nothing);
		if (ret)
			return ret;
		r->out = nothing;
	}
	for (job = 0; job < JOB_COUNT && ret >= 0; job++) {
		if (!is_job_wanted(job, o))
			continue;
		ret = jobs[job].run(tool, o, dev);
		if (ret == -ENOSPC && jobs[job].phase == PHASE_BEFORE &&
		    !o->live) {
			/*
			 * The job is one log, which cannot be split to fit the
			 * clean segments.
			 */
			memcpy(text, cx->failure, sizeof(text));
			fail(cx, -ENOSPC, "%.300s for %s; clean the volume "
			     "before, in a run without it; --output makes a "
			     "compact copy, --grow adds segments", text,
			     job_option(job, o));
		}
		if (ret > 0 && status != JOB_UNDONE)
			status = ret;
	}
	r->out = out;
	out_close(nothing, cx);
	return ret < 0 ? ret : status;
}
