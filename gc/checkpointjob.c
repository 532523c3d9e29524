// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of making snapshots, of making them plain checkpoints again, and of
 * deleting checkpoints.
 *
 * Each is one log.  What follows it, as cleaning, counts live blocks again, so
 * a segment that only a deleted checkpoint held can be cleaned at once.
 *
 * Counts of live blocks are made exact with a change of snapshots, since a
 * snapshot keeps blocks.  The check before the first job has not read plain
 * checkpoints.  So one that is to be a snapshot becomes it on an overlay first,
 * which is checked: blocks that it lacks cannot be had later, and would make
 * the volume one with errors.
 *
 * The latest checkpoint is not deleted, since a mount needs it until the log is
 * complete.  The log of a deletion is not marked as a cleaner's: it creates
 * garbage, and nilfs_cleanerd looks for garbage after a log that is not a
 * cleaner's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "cli/range.h"
#include "dev/overlay.h"
#include "gc/job.h"
#include "gc/move/onelog.h"
#include "gc/move/target.h"
#include "gc/precheck.h"
#include "log/checkpoints.h"
#include "log/exactcounts.h"
#include "log/repairwriter.h"
#include "vol/cptable.h"
#include "vol/volume.h"

#define TO_SNAPSHOT "--to-snapshot"
#define TO_CHECKPOINT "--to-checkpoint"
#define DELETE "--delete-checkpoints"

/* A volume and its checkpoints, ascending. */
struct checkpoint_list {
	struct volume *vol;
	uint64_t *cnos, *snapshots;
	size_t n, nsnapshots;
};

/* To be closed also after a failure. */
static int open_list(struct checkpoint_list *l, struct context *cx,
		     struct dev *dev)
{
	int ret = target_open_volume(&l->vol, cx, dev);

	if (!ret)
		ret = cptable_list(l->vol, cx, false, &l->cnos, &l->n);
	if (!ret)
		ret = cptable_list(l->vol, cx, true, &l->snapshots,
				   &l->nsnapshots);
	return ret;
}

static void close_list(struct checkpoint_list *l)
{
	free(l->cnos);
	free(l->snapshots);
	volume_close(l->vol);
	*l = (struct checkpoint_list){ .vol = NULL };
}

static bool has_cno(const uint64_t *cnos, size_t n, uint64_t cno)
{
	size_t i = search_lower_bound(cnos, n, cno);

	return i < n && cnos[i] == cno;
}

static bool is_snapshot(const struct checkpoint_list *l, uint64_t cno)
{
	return has_cno(l->snapshots, l->nsnapshots, cno);
}

static int parse_ranges(struct tool *tool, const char *option,
			const struct option_list *words, struct range_set *set)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < words->count && !ret; i++)
		ret = range_parse_list(&tool->cx, option, words->items[i],
				       set);
	tool->bad_usage |= ret == -EINVAL;
	return ret;
}

static void warn_unmet(struct tool *tool, const char *option,
		       const struct range *r)
{
	char text[RANGE_TEXT_MAX];

	tool_warn(tool, "%s: %s: there is no checkpoint %s", tool->argv[0],
		  option, range_text(r, text));
}

struct snapshot_change {
	struct tool *tool;
	const struct options *o;
	struct checkpoint_list list;
	struct range_set on, off;
	uint64_t *wanted;	/* snapshots that there are to be, ascending */
	size_t nwanted;
	uint64_t made, unmade, taken;	/* TAKEN: its number, or 0 */
};

static bool has_range(struct range_set *set, uint64_t cno)
{
	return set->count && range_has(set, cno);
}

/* Lists the wanted snapshots. */
static int choose_snapshots(struct snapshot_change *c, struct context *cx)
{
	size_t i;

	c->wanted = malloc(c->list.n * sizeof(*c->wanted));
	if (!c->wanted)
		return fail(cx, -ENOMEM, "list of snapshots");
	for (i = 0; i < c->list.n; i++) {
		uint64_t cno = c->list.cnos[i];
		bool was = is_snapshot(&c->list, cno);
		bool on = has_range(&c->on, cno), off = has_range(&c->off, cno);

		if (on && off) {
			c->tool->bad_usage = true;
			return fail(cx, -EINVAL, "%s: checkpoint %" PRIu64
				    " is in a range of " TO_SNAPSHOT " and of "
				    TO_CHECKPOINT, c->tool->argv[0], cno);
		}
		if (on || (was && !off))
			c->wanted[c->nwanted++] = cno;
		c->made += on && !was;
		c->unmade += off && was;
	}
	return 0;
}

/* Makes counts of live blocks those with the wanted snapshots. */
static int enter_counts(struct snapshot_change *c, struct context *cx,
			struct writer *w)
{
	struct liveness *live;
	uint64_t changed;
	int ret;

	if (!c->list.vol->geo.has_live_blks)
		return 0;
	ret = liveness_count_with(c->list.vol, cx, UINT64_MAX, c->wanted,
				  c->nwanted, &live);
	if (ret)
		return ret;
	ret = exactcounts_enter(w, cx, live, (uint64_t)cx->now, &changed);
	liveness_free(live);
	return ret;
}

static int set_snapshots(void *arg, struct context *cx, struct writer *w)
{
	struct snapshot_change *c = arg;
	size_t i;
	int ret = enter_counts(c, cx, w);

	for (i = 0; i < c->list.n && !ret; i++) {
		uint64_t cno = c->list.cnos[i];
		bool was = is_snapshot(&c->list, cno);
		bool is = has_cno(c->wanted, c->nwanted, cno);

		if (is && !was)
			ret = checkpoints_set(w, cx, cno);
		else if (was && !is)
			ret = checkpoints_unset(w, cx, cno);
	}
	if (!ret && c->list.vol->geo.has_live_blks)
		repairwriter_exact(w);
	c->taken = c->o->take_snapshot ? writer_cno(w) : 0;
	return ret;
}

/* Makes the change to the volume on DEV, in one log. */
static int change_snapshots(struct snapshot_change *c, struct context *cx,
			    struct dev *dev)
{
	struct writer_options options;
	struct writer_end end;
	int ret = open_list(&c->list, cx, dev);

	if (!ret)
		ret = choose_snapshots(c, cx);
	if (!ret && (c->made || c->unmade || c->o->take_snapshot)) {
		options = writer_options_on(c->list.vol, (uint64_t)cx->now);
		options.snapshot = c->o->take_snapshot;
		ret = onelog_append(cx, c->list.vol, &options, set_snapshots,
				    c, &end);
	}
	close_list(&c->list);
	free(c->wanted);
	return ret;
}

/* Whether all new snapshots are sound: 0, PRECHECK_REFUSED or a failure. */
static int rehearse_snapshots(const struct snapshot_change *change,
			      struct context *cx, struct dev *dev)
{
	struct snapshot_change c = *change;
	struct dev *overlay;
	int ret = overlay_open_trial(&overlay, cx, dev);

	if (!ret)
		ret = change_snapshots(&c, cx, overlay);
	if (!ret && c.made)
		ret = precheck_run(c.tool, overlay, "a checkpoint of "
				   TO_SNAPSHOT " is damaged");
	dev_close(overlay);
	return ret;
}

static void report_snapshots(const struct snapshot_change *c)
{
	struct report *r = &c->tool->report;

	report_begin(r, "snapshots", NULL);
	report_u64(r, "made", "Checkpoints made snapshots", c->made);
	report_u64(r, "unmade", "Snapshots made plain checkpoints", c->unmade);
	report_value(r, VALUE_U64, "taken", "New snapshot",
		     c->taken ? value_u64(c->taken) : value_absent());
	report_end(r);
}

static int parse_snapshots(struct snapshot_change *c)
{
	int ret = parse_ranges(c->tool, TO_SNAPSHOT, &c->o->to_snapshot,
			       &c->on);

	return ret ? ret : parse_ranges(c->tool, TO_CHECKPOINT,
					&c->o->to_checkpoint, &c->off);
}

static void free_snapshots(struct snapshot_change *c)
{
	range_set_free(&c->on);
	range_set_free(&c->off);
}

/* JOB_UNDONE if a range of SET has none of the N checkpoints CNOS. */
static int check_ranges(struct tool *tool, const char *option,
			struct range_set *set, const uint64_t *cnos, size_t n)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n; i++)
		has_range(set, cnos[i]);
	for (i = 0; i < set->count; i++) {
		if (set->ranges[i].met)
			continue;
		warn_unmet(tool, option, &set->ranges[i]);
		ret = JOB_UNDONE;
	}
	return ret;
}

int checkpointjob_check_snapshots(struct tool *tool, const struct options *o,
				  struct dev *dev)
{
	struct snapshot_change c = { .tool = tool, .o = o };
	struct checkpoint_list list = { .vol = NULL };
	struct context *cx = &tool->cx;
	int ret = parse_snapshots(&c);

	if (!ret)
		ret = open_list(&list, cx, dev);
	if (!ret)
		ret = check_ranges(tool, TO_SNAPSHOT, &c.on, list.cnos,
				   list.n) |
		      check_ranges(tool, TO_CHECKPOINT, &c.off, list.cnos,
				   list.n);
	close_list(&list);
	if (!ret && c.on.count && !o->no_check)
		ret = rehearse_snapshots(&c, cx, dev);
	free_snapshots(&c);
	return ret;
}

int checkpointjob_snapshots(struct tool *tool, const struct options *o,
			    struct dev *dev)
{
	struct snapshot_change c = { .tool = tool, .o = o };
	int ret = parse_snapshots(&c);

	if (!ret)
		ret = change_snapshots(&c, &tool->cx, dev);
	if (!ret)
		report_snapshots(&c);
	free_snapshots(&c);
	return ret;
}

struct deletion {
	struct tool *tool;
	const struct options *o;
	struct checkpoint_list list;
	struct range_set ranges;
	size_t chosen;		/* of the checkpoints, now at its beginning */
	uint64_t deleted_snapshots, kept_snapshots;
	bool undone;		/* a request could not be fulfilled */
	bool silent;		/* a rehearsal */
};

/* Whether CNO, which is in a range, is to be deleted. */
static bool is_deletable(struct deletion *d, uint64_t cno)
{
	if (!is_snapshot(&d->list, cno))
		return true;
	if (d->o->force) {
		d->deleted_snapshots++;
		return true;
	}
	d->kept_snapshots++;
	if (!d->o->keep_snapshots) {
		d->undone = true;
		if (d->silent)
			return false;
		tool_warn(d->tool, "%s: checkpoint %" PRIu64 " is a snapshot, "
			  "kept; --force deletes it", d->tool->argv[0], cno);
	}
	return false;
}

/* Moves those that are deleted to the beginning of the list. */
static void choose_deleted(struct deletion *d)
{
	uint64_t cno, latest = d->list.vol->latest.cno;
	size_t i;

	for (i = 0; i < d->list.n; i++) {
		cno = d->list.cnos[i];
		if (cno != latest && range_has(&d->ranges, cno) &&
		    is_deletable(d, cno))
			d->list.cnos[d->chosen++] = cno;
	}
	for (i = 0; i < d->ranges.count; i++)
		d->undone |= !d->ranges.ranges[i].met;
	if (range_has(&d->ranges, latest) && !d->silent)
		tool_note(d->tool, "%s: checkpoint %" PRIu64 " is the latest, "
			  "kept", d->tool->argv[0], latest);
}

static int delete_chosen(void *arg, struct context *cx, struct writer *w)
{
	struct deletion *d = arg;
	const uint64_t *cnos = d->list.cnos;
	size_t i;
	int ret = 0;

	for (i = 0; i < d->chosen && !ret; i++) {
		if (is_snapshot(&d->list, cnos[i]))
			ret = checkpoints_unset(w, cx, cnos[i]);
		if (!ret)
			ret = checkpoints_delete(w, cx, cnos[i]);
	}
	return ret;
}

static void report_deletion(const struct deletion *d)
{
	struct report *r = &d->tool->report;

	report_begin(r, "deleted", NULL);
	report_u64(r, "checkpoints", "Plain checkpoints deleted",
		   d->chosen - d->deleted_snapshots);
	report_u64(r, "snapshots", "Snapshots deleted", d->deleted_snapshots);
	report_u64(r, "snapshots_kept", "Snapshots kept", d->kept_snapshots);
	report_end(r);
}

/*
 * JOB_UNDONE if a range has no checkpoint, or none of all can be deleted as all
 * are snapshots, those aside that are none by now.
 */
static int check_deletion(struct deletion *d, struct range_set *unmade)
{
	uint64_t cno, latest = d->list.vol->latest.cno;
	size_t i, chosen = 0, kept = 0;
	bool stays;
	int ret = 0;

	for (i = 0; i < d->list.n; i++) {
		cno = d->list.cnos[i];
		if (!range_has(&d->ranges, cno) || cno == latest)
			continue;
		stays = is_snapshot(&d->list, cno) && !d->o->force &&
			!d->o->keep_snapshots && !has_range(unmade, cno);
		kept += stays;
		chosen += !stays;
	}
	for (i = 0; i < d->ranges.count; i++) {
		if (d->ranges.ranges[i].met)
			continue;
		warn_unmet(d->tool, DELETE, &d->ranges.ranges[i]);
		ret = JOB_UNDONE;
	}
	if (chosen || !kept)
		return ret;
	for (i = 0; i < d->list.n; i++)
		if (range_has(&d->ranges, d->list.cnos[i]) &&
		    d->list.cnos[i] != latest)
			is_deletable(d, d->list.cnos[i]);
	return JOB_UNDONE;
}

int checkpointjob_check_delete(struct tool *tool, const struct options *o,
			       struct dev *dev)
{
	struct deletion d = { .tool = tool, .o = o };
	struct range_set unmade = { .count = 0 };
	int ret = parse_ranges(tool, DELETE, &o->deletions, &d.ranges);

	if (!ret)
		ret = parse_ranges(tool, TO_CHECKPOINT, &o->to_checkpoint,
				   &unmade);
	if (!ret)
		ret = open_list(&d.list, &tool->cx, dev);
	if (!ret)
		ret = check_deletion(&d, &unmade);
	close_list(&d.list);
	range_set_free(&unmade);
	range_set_free(&d.ranges);
	return ret;
}

/* Makes the deletion on DEV, in one log. */
static int delete_checkpoints(struct deletion *d, struct context *cx,
			      struct dev *dev)
{
	struct writer_options options;
	struct writer_end end;
	int ret = open_list(&d->list, cx, dev);

	if (!ret)
		choose_deleted(d);
	if (!ret && d->chosen) {
		options = writer_options_on(d->list.vol, (uint64_t)cx->now);
		ret = onelog_append(cx, d->list.vol, &options, delete_chosen,
				    d, &end);
	}
	close_list(&d->list);
	return ret;
}

int checkpointjob_delete(struct tool *tool, const struct options *o,
			 struct dev *dev)
{
	struct deletion d = { .tool = tool, .o = o };
	int ret = parse_ranges(tool, DELETE, &o->deletions, &d.ranges);

	if (!ret)
		ret = delete_checkpoints(&d, &tool->cx, dev);
	if (!ret)
		report_deletion(&d);
	range_set_free(&d.ranges);
	return ret || !d.undone ? ret : JOB_UNDONE;
}

/* What is requested for snapshots that there are. */
struct giving {
	struct snapshot_change change;
	struct deletion deletion;
};

static bool is_given_up(void *arg, uint64_t cno)
{
	struct giving *g = arg;

	return has_range(&g->change.off, cno) ||
	       (g->deletion.o->force && has_range(&g->deletion.ranges, cno));
}

/* Whether the volume on DEV has no errors without the snapshots given up. */
static int rehearse_giving(struct giving *g, struct context *cx,
			   struct dev *dev)
{
	struct tool *tool = g->deletion.tool;
	struct dev *overlay;
	int ret = overlay_open_trial(&overlay, cx, dev);

	if (!ret && g->change.off.count)
		ret = change_snapshots(&g->change, cx, overlay);
	if (!ret && g->deletion.ranges.count)
		ret = delete_checkpoints(&g->deletion, cx, overlay);
	if (!ret)
		ret = precheck_again(tool, overlay, "there are errors besides "
				     "those of snapshots that are given up; "
				     "run fsck.nilfs2");
	dev_close(overlay);
	return ret;
}

int checkpointjob_precheck(struct tool *tool, const struct options *o,
			   struct dev *dev)
{
	struct giving g = {
		.change = { .tool = tool, .o = o },
		.deletion = { .tool = tool, .o = o, .silent = true },
	};
	int ret = parse_snapshots(&g.change);

	if (!ret)
		ret = parse_ranges(tool, DELETE, &o->deletions,
				   &g.deletion.ranges);
	if (!ret)
		ret = precheck_run_for(tool, dev, "the volume has errors; run "
				       "fsck.nilfs2", is_given_up, &g);
	if (ret == PRECHECK_GIVEN)
		ret = rehearse_giving(&g, &tool->cx, dev);
	free_snapshots(&g.change);
	range_set_free(&g.deletion.ranges);
	return ret;
}
