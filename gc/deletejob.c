// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of deleting checkpoints.
 *
 * All of them go with one log of its own.  What only they held is dead from
 * then on, and no counter has to be told: the jobs that follow count what
 * lives again, so a segment that a snapshot held is as good a victim at once as
 * any other.
 *
 * The latest checkpoint stays: it is what a mount shows until the log is
 * complete.  The log is none of a cleaner: garbage came with it, and nilfs_
 * cleanerd looks for some where something else than a cleaner wrote last.
 */
#include "gc/deletejob.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "cli/range.h"
#include "gc/onelog.h"
#include "gc/target.h"
#include "gc/zoning.h"
#include "log/checkpoints.h"
#include "log/repairwriter.h"
#include "vol/cptable.h"
#include "vol/volume.h"

#define OPTION "--delete-checkpoints"

struct deletion {
	struct tool *tool;
	const struct options *o;
	struct volume *vol;
	struct range_set ranges;
	uint64_t *cnos, *snapshots;	/* that there are, ascending */
	size_t n, nsnapshots;
	size_t chosen;			/* of CNOS, now at its beginning */
	uint64_t deleted_snapshots, kept_snapshots;
	bool undone;		/* something was wanted that cannot be */
};

static int parse(struct deletion *d)
{
	const struct option_list *words = &d->o->deletions;
	size_t i;
	int ret = 0;

	for (i = 0; i < words->count && !ret; i++)
		ret = range_parse_list(&d->tool->cx, OPTION, words->items[i],
				       &d->ranges);
	d->tool->bad_usage = ret == -EINVAL;
	return ret;
}

static bool is_snapshot(const struct deletion *d, uint64_t cno)
{
	size_t i = search_lower_bound(d->snapshots, d->nsnapshots, cno);

	return i < d->nsnapshots && d->snapshots[i] == cno;
}

/* Whether CNO, which is in a range, is to go. */
static bool is_wanted_away(struct deletion *d, uint64_t cno)
{
	if (cno == d->vol->latest.cno) {
		tool_note(d->tool, "checkpoint %" PRIu64 ": stays: is the "
			  "latest", cno);
		return false;
	}
	if (!is_snapshot(d, cno))
		return true;
	if (d->o->force) {
		d->deleted_snapshots++;
		return true;
	}
	d->kept_snapshots++;
	if (!d->o->keep_snapshots) {
		d->undone = true;
		tool_warn(d->tool, "checkpoint %" PRIu64 ": stays: is a "
			  "snapshot; --force deletes it", cno);
	}
	return false;
}

/* Moves those that are to go to the beginning. */
static void choose(struct deletion *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (range_has(&d->ranges, d->cnos[i]) &&
		    is_wanted_away(d, d->cnos[i]))
			d->cnos[d->chosen++] = d->cnos[i];
}

/* A range that has none that can be deleted is a mistake. */
static void find_empty(struct deletion *d)
{
	uint64_t latest = d->vol->latest.cno;
	const struct range *r;
	size_t i, at;

	for (i = 0; i < d->ranges.count; i++) {
		r = &d->ranges.ranges[i];
		at = search_lower_bound(d->cnos, d->n, r->first);
		if (at == d->n || d->cnos[at] > r->last)
			tool_warn(d->tool, OPTION ": there is no checkpoint "
				  "from %" PRIu64 " to %" PRIu64, r->first,
				  r->last);
		else if (d->cnos[at] < latest)
			continue;
		d->undone = true;
	}
}

static int look(struct deletion *d, struct context *cx)
{
	int ret = cptable_list(d->vol, cx, false, &d->cnos, &d->n);

	if (!ret)
		ret = cptable_list(d->vol, cx, true, &d->snapshots,
				   &d->nsnapshots);
	if (ret)
		return ret;
	find_empty(d);
	choose(d);
	return 0;
}

static int delete_chosen(struct deletion *d, struct context *cx,
			 struct writer *w)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < d->chosen && !ret; i++) {
		if (is_snapshot(d, d->cnos[i]))
			ret = checkpoints_unset(w, cx, d->cnos[i]);
		if (!ret)
			ret = checkpoints_delete(w, cx, d->cnos[i]);
	}
	return ret;
}

static int write_log(struct deletion *d, struct context *cx)
{
	const uint64_t time = (uint64_t)cx->now;
	const struct writer_options options = writer_options_on(d->vol, time);
	struct repairwriter_known known = { .unusable = NULL };
	struct zoning zones = { .vol = NULL };
	struct writer_end end;
	struct writer *w = NULL;
	int ret;

	if (!d->chosen)
		return 0;
	ret = zoning_open(&zones, cx, d->vol);
	zoning_fill(&zones, &known);
	if (!ret)
		ret = repairwriter_open(&w, cx, d->vol, &options, &known);
	if (!ret)
		ret = delete_chosen(d, cx, w);
	if (!ret)
		ret = onelog_commit(w, cx, d->vol, time, &end);
	writer_close(w);
	zoning_close(&zones);
	return ret;
}

static void report(const struct deletion *d)
{
	struct report *r = &d->tool->report;

	report_begin(r, "deleted", NULL);
	report_u64(r, "checkpoints", "Checkpoints deleted as wanted",
		   d->chosen - d->deleted_snapshots);
	report_u64(r, "snapshots", "Snapshots deleted", d->deleted_snapshots);
	report_u64(r, "snapshots_kept", "Snapshots kept", d->kept_snapshots);
	report_end(r);
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct deletion d = { .tool = tool, .o = o };
	struct context *cx = &tool->cx;
	int ret = parse(&d);

	if (!ret)
		ret = volume_open(&d.vol, cx, dev, NULL);
	if (!ret)
		ret = target_check_volume(cx, d.vol);
	if (!ret)
		ret = look(&d, cx);
	if (!ret)
		ret = write_log(&d, cx);
	if (!ret)
		report(&d);
	free(d.cnos);
	free(d.snapshots);
	range_set_free(&d.ranges);
	volume_close(d.vol);
	return ret || !d.undone ? ret : JOB_UNDONE;
}

static bool is_wanted(const struct options *o)
{
	return o->deletions.count;
}

const struct job deletejob = {
	.is_wanted = is_wanted,
	.run = run,
};
