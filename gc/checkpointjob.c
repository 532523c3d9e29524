// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of converting checkpoints to snapshots and back, and of deleting
 * checkpoints.
 *
 * Each is one log, or ioctls of a mounted volume.  Later jobs, such as cleaning, count
 * live blocks again, so a segment that only a deleted checkpoint needed can be cleaned
 * at once.
 *
 * Counts of live blocks are made exact with a change of snapshots, since a
 * snapshot keeps blocks.  The check before the first job has not read plain
 * checkpoints.  So checkpoints are first converted to snapshots on an overlay,
 * which is checked: a missing block cannot be restored later, and the volume
 * would have errors from then on.
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
#include "dev/overlay.h"
#include "gc/job.h"
#include "gc/keeping.h"
#include "gc/move/onelog.h"
#include "gc/move/target.h"
#include "gc/precheck.h"
#include "gc/ranges.h"
#include "live/live.h"
#include "log/checkpoints.h"
#include "log/exactcounts.h"
#include "log/directwriter.h"
#include "vol/cptable.h"
#include "vol/volume.h"

#define TO_SNAPSHOT "--to-snapshot"
#define TO_CHECKPOINT "--to-checkpoint"
#define DELETE "--delete-checkpoints"

/* A volume and its checkpoints, ascending. */
struct checkpoint_list {
	struct volume *vol;	/* NULL if it is mounted */
	uint64_t latest;
	uint64_t *cnos, *snapshots;
	size_t n, nsnapshots;
};

/* To be closed also after a failure. */
static int open_list(struct checkpoint_list *l, struct context *cx,
		     const struct options *o, struct dev *dev)
{
	struct nilfs_cpstat stat;
	int ret;

	if (o->live) {
		ret = live_request(o->live, cx, NILFS_IOCTL_GET_CPSTAT, &stat);
		l->latest = ret ? 0 : stat.cs_cno - 1;
		if (!ret)
			ret = live_checkpoints(o->live, cx, NILFS_CHECKPOINT,
					       &l->cnos, &l->n);
		return ret ? ret : live_checkpoints(o->live, cx, NILFS_SNAPSHOT,
						    &l->snapshots,
						    &l->nsnapshots);
	}
	ret = target_open_volume(&l->vol, cx, dev);
	if (!ret) {
		l->latest = l->vol->latest.cno;
		ret = cptable_list(l->vol, cx, false, &l->cnos, &l->n);
	}
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

static bool is_snapshot(const struct checkpoint_list *l, uint64_t cno)
{
	size_t i = search_lower_bound(l->snapshots, l->nsnapshots, cno);

	return i < l->nsnapshots && l->snapshots[i] == cno;
}

static bool has_range(struct range_set *set, uint64_t cno)
{
	return set->count && range_has(set, cno);
}

struct snapshot_change {
	struct tool *tool;
	const struct options *o;
	struct checkpoint_list list;
	struct range_set on, off;
	struct keeping keeping;	/* of --keep */
	uint64_t *wanted;	/* requested set of snapshots, ascending */
	size_t nwanted;
	uint64_t made, unmade, taken;	/* TAKEN: number of the new one, or 0 */
	bool record;		/* write the record of --keep */
};

/* Determines the requested set of snapshots. */
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
		enum keeping_fate fate = KEEPING_PLAIN;

		if (on && off) {
			c->tool->bad_usage = true;
			return fail(cx, -EINVAL, "%s: checkpoint %" PRIu64
				    " is in a range of " TO_SNAPSHOT " and of "
				    TO_CHECKPOINT, c->tool->argv[0], cno);
		}
		if (keep_is_rule(&c->o->keep))
			fate = keeping_decide(&c->keeping, cno, was, on);
		on |= fate == KEEPING_NEW;
		off |= fate == KEEPING_DROPPED;
		if (on || (was && !off))
			c->wanted[c->nwanted++] = cno;
		c->made += on && !was;
		c->unmade += off && was;
	}
	return 0;
}

/* Changes the set of snapshots, with live-block counts for the new set. */
static int set_snapshots(void *arg, struct context *cx, struct writer *w)
{
	struct snapshot_change *c = arg;
	bool counts = c->list.vol->geo.has_live_blks;
	struct liveness *live = NULL;
	uint64_t changed;
	size_t i, at = 0;
	int ret = 0;

	if (counts)
		ret = liveness_count_with(c->list.vol, cx, UINT64_MAX,
					  c->wanted, c->nwanted, &live);
	if (counts && !ret) {
		ret = exactcounts_enter(w, cx, live, (uint64_t)cx->now,
					&changed);
		liveness_free(live);
	}
	for (i = 0; i < c->list.n && !ret; i++) {
		uint64_t cno = c->list.cnos[i];
		bool was = is_snapshot(&c->list, cno);
		bool is = at < c->nwanted && c->wanted[at] == cno;

		at += is;
		if (is && !was)
			ret = checkpoints_set(w, cx, cno);
		else if (was && !is)
			ret = checkpoints_unset(w, cx, cno);
	}
	if (!ret && counts)
		directwriter_exact(w);
	c->taken = c->o->take_snapshot ? writer_cno(w) : 0;
	return ret;
}

/* Makes checkpoint CNO of the mounted volume LIVE a snapshot, or a plain one. */
static int set_mode(const struct live *live, struct context *cx, uint64_t cno,
		    unsigned int mode)
{
	struct nilfs_cpmode change = { .cm_cno = cno, .cm_mode = mode };
	int ret = live_request(live, cx, NILFS_IOCTL_CHANGE_CPMODE, &change);

	if (ret == -EBUSY)
		return fail_said(cx, ret, "%s: checkpoint %" PRIu64 " is mounted; "
				 "unmount it first", live->dir, cno);
	if (ret == -ENOENT)
		return fail_said(cx, ret, "%s: checkpoint %" PRIu64 " was deleted "
				 "meanwhile by another program", live->dir, cno);
	return ret;
}

/* Changes the snapshots of a mounted volume; a new one is of the present state. */
static int change_mounted(struct snapshot_change *c, struct context *cx)
{
	const struct live *live = c->o->live;
	size_t i, at = 0;
	int ret = 0;

	for (i = 0; i < c->list.n && !ret && !c->o->dry_run; i++) {
		uint64_t cno = c->list.cnos[i];
		bool was = is_snapshot(&c->list, cno);
		bool is = at < c->nwanted && c->wanted[at] == cno;

		at += is;
		if (was != is)
			ret = set_mode(live, cx, cno, is ? NILFS_SNAPSHOT :
							   NILFS_CHECKPOINT);
		if (ret)
			ret = keeping_forgive(&c->keeping, c->tool, cx, cno, ret);
	}
	c->made -= c->keeping.vanished;
	c->unmade -= c->keeping.busy;
	if (!ret && c->o->take_snapshot) {
		c->taken = c->list.latest + 1;
		if (!c->o->dry_run)
			ret = live_sync(live, cx, &c->taken);
		if (!ret && !c->o->dry_run)
			ret = set_mode(live, cx, c->taken, NILFS_SNAPSHOT);
	}
	return ret;
}

/* Changes the snapshots of the volume on DEV, in one log; KEEPING stays open. */
static int change_snapshots(struct snapshot_change *c, struct context *cx,
			    struct dev *dev)
{
	struct writer_options options;
	struct writer_end end;
	struct context child;
	int err = 0, ret = open_list(&c->list, cx, c->o, dev);

	context_child(cx, &child);
	if (!ret && keep_is_rule(&c->o->keep))
		ret = keeping_open(&c->keeping, c->tool, cx, c->o, dev,
				   c->list.vol);
	if (!ret)
		ret = choose_snapshots(c, cx);
	if (!ret && c->record)
		ret = keeping_write(&c->keeping, cx, false);
	if (ret)
		goto out;
	if (c->o->live) {
		ret = change_mounted(c, cx);
	} else if (c->made || c->unmade || c->o->take_snapshot) {
		options = writer_options_on(c->list.vol, (uint64_t)cx->now);
		options.snapshot = c->o->take_snapshot;
		options.same_files = !options.snapshot;
		ret = onelog_append(cx, c->list.vol, &options, set_snapshots,
				    c, &end);
		if (ret)
			keeping_undo(&c->keeping, 0);
	}
	if (c->record)
		err = keeping_write(&c->keeping, &child, true);
	if (err && !ret) {
		context_adopt(cx, &child);
		ret = err;
	}
out:
	close_list(&c->list);
	free(c->wanted);
	return ret;
}

static int parse_snapshots(struct snapshot_change *c, struct dev *dev)
{
	int ret = ranges_parse(c->tool, c->o, dev, TO_SNAPSHOT,
			       &c->o->to_snapshot, &c->on);

	return ret ? ret : ranges_parse(c->tool, c->o, dev, TO_CHECKPOINT,
					&c->o->to_checkpoint, &c->off);
}

int checkpointjob_check_snapshots(struct tool *tool, const struct options *o,
				  struct dev *dev)
{
	struct snapshot_change c = { .tool = tool, .o = o };
	bool keep = keep_is_rule(&o->keep);
	struct context *cx = &tool->cx;
	struct dev *overlay;
	size_t i;
	int ret = parse_snapshots(&c, dev);

	if (!ret)
		ret = open_list(&c.list, cx, o, dev);
	for (i = 0; i < c.list.n && !ret; i++) {
		has_range(&c.on, c.list.cnos[i]);
		has_range(&c.off, c.list.cnos[i]);
	}
	if (!ret)
		ret = ranges_warn_unmet(tool, TO_SNAPSHOT, &c.on) |
		      ranges_warn_unmet(tool, TO_CHECKPOINT, &c.off);
	if (!ret && keep)
		ret = keeping_open(&c.keeping, tool, cx, o, dev, c.list.vol);
	if (!ret && keep && !o->dry_run)
		ret = keeping_check(&c.keeping, cx);
	keeping_close(&c.keeping);
	close_list(&c.list);
	if (!ret && (c.on.count || keep) && !o->no_check && !o->live) {
		/* Check that all new snapshots are sound. */
		ret = overlay_open(&overlay, cx, dev, true);
		if (!ret)
			ret = change_snapshots(&c, cx, overlay);
		if (!ret && c.made)
			ret = precheck_run(tool, overlay, keep ?
					   "a checkpoint to be a snapshot is damaged" :
					   "a checkpoint of " TO_SNAPSHOT
					   " is damaged", true, NULL, NULL);
		keeping_close(&c.keeping);
		dev_close(overlay);
	}
	range_set_free(&c.on);
	range_set_free(&c.off);
	return ret;
}

int checkpointjob_snapshots(struct tool *tool, const struct options *o,
			    struct dev *dev)
{
	struct snapshot_change c = {
		.tool = tool, .o = o,
		.record = keep_is_rule(&o->keep) && !o->dry_run,
	};
	struct report *r = &tool->report;
	int ret = parse_snapshots(&c, dev);
	bool undone;

	if (!ret)
		ret = change_snapshots(&c, &tool->cx, dev);
	if (!ret) {
		report_begin(r, "snapshots", NULL);
		report_u64(r, "made", "Checkpoints converted to snapshots", c.made);
		report_u64(r, "unmade", "Snapshots converted to checkpoints",
			   c.unmade);
		report_value(r, VALUE_U64, "taken", "New snapshot",
			     c.taken ? value_u64(c.taken) : value_absent());
		if (keep_is_rule(&o->keep) && (o->dry_run || tool->verbose))
			keeping_report(&c.keeping, r);
		report_end(r);
	}
	undone = c.keeping.busy;
	keeping_close(&c.keeping);
	range_set_free(&c.on);
	range_set_free(&c.off);
	return !ret && undone ? JOB_UNDONE : ret;
}

struct deletion {
	struct tool *tool;
	const struct options *o;
	struct checkpoint_list list;
	struct range_set ranges;
	size_t chosen;		/* checkpoints to delete, moved to the front */
	uint64_t deleted_snapshots, kept_snapshots;
	bool undone;		/* a request could not be fulfilled */
	bool silent;		/* on a trial overlay */
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

/*
 * JOB_UNDONE if a range has no checkpoint, or if all checkpoints in the ranges
 * are kept as snapshots.  Snapshots that an earlier job converts count as
 * checkpoints.
 */
int checkpointjob_check_delete(struct tool *tool, const struct options *o,
			       struct dev *dev)
{
	struct deletion d = { .tool = tool, .o = o };
	struct snapshot_change c = { .tool = tool, .o = o };
	bool keep = keep_is_rule(&o->keep), gone;
	size_t i, chosen = 0, kept = 0;
	int ret = ranges_parse(tool, o, dev, DELETE, &o->deletions, &d.ranges);

	if (!ret)
		ret = parse_snapshots(&c, dev);
	if (!ret)
		ret = open_list(&d.list, &tool->cx, o, dev);
	if (!ret && keep)
		ret = keeping_open(&c.keeping, tool, &tool->cx, o, dev, d.list.vol);
	if (ret)
		goto out;
	for (i = 0; i < d.list.n; i++) {
		uint64_t cno = d.list.cnos[i];

		if (!range_has(&d.ranges, cno) || cno == d.list.latest)
			continue;
		gone = has_range(&c.off, cno) ||
		       (keep && keeping_decide(&c.keeping, cno, true,
					       has_range(&c.on, cno)) ==
				KEEPING_DROPPED);
		if (is_snapshot(&d.list, cno) && !o->force &&
		    !o->keep_snapshots && !gone)
			kept++;
		else
			chosen++;
	}
	ret = ranges_warn_unmet(tool, DELETE, &d.ranges);
	if (!chosen && kept) {
		/* is_deletable() warns with the reason. */
		for (i = 0; i < d.list.n; i++)
			if (range_has(&d.ranges, d.list.cnos[i]) &&
			    d.list.cnos[i] != d.list.latest)
				is_deletable(&d, d.list.cnos[i]);
		ret = JOB_UNDONE;
	}
out:
	keeping_close(&c.keeping);
	close_list(&d.list);
	range_set_free(&c.on);
	range_set_free(&c.off);
	range_set_free(&d.ranges);
	return ret;
}

/* Deletes the checkpoints on DEV, in one log. */
static int delete_chosen_checkpoints(struct deletion *d, struct context *cx,
				     struct dev *dev)
{
	struct writer_options options;
	struct writer_end end;
	size_t i;
	int ret = open_list(&d->list, cx, d->o, dev);

	if (ret)
		goto out;
	/* Move the checkpoints to be deleted to the beginning of the list. */
	for (i = 0; i < d->list.n; i++) {
		uint64_t cno = d->list.cnos[i];

		if (cno != d->list.latest && range_has(&d->ranges, cno) &&
		    is_deletable(d, cno))
			d->list.cnos[d->chosen++] = cno;
	}
	for (i = 0; i < d->ranges.count; i++)
		d->undone |= !d->ranges.ranges[i].met;
	if (range_has(&d->ranges, d->list.latest) && !d->silent)
		tool_note(d->tool, "%s: checkpoint %" PRIu64 " is the latest, "
			  "kept", d->tool->argv[0], d->list.latest);
	for (i = 0; i < d->chosen && !ret && d->o->live && !d->o->dry_run; i++) {
		uint64_t cno = d->list.cnos[i];

		if (is_snapshot(&d->list, cno))
			ret = set_mode(d->o->live, cx, cno, NILFS_CHECKPOINT);
		if (!ret)
			ret = live_request(d->o->live, cx,
					   NILFS_IOCTL_DELETE_CHECKPOINT, &cno);
		/* A cleaner, or rmcp(8), was faster. */
		if (ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
		}
	}
	if (d->chosen && !d->o->live) {
		options = writer_options_on(d->list.vol, (uint64_t)cx->now);
		ret = onelog_append(cx, d->list.vol, &options, delete_chosen,
				    d, &end);
	}
out:
	close_list(&d->list);
	return ret;
}

int checkpointjob_delete(struct tool *tool, const struct options *o,
			 struct dev *dev)
{
	struct deletion d = { .tool = tool, .o = o };
	struct report *r = &tool->report;
	int ret = ranges_parse(tool, o, dev, DELETE, &o->deletions, &d.ranges);

	if (!ret)
		ret = delete_chosen_checkpoints(&d, &tool->cx, dev);
	range_set_free(&d.ranges);
	if (ret)
		return ret;
	report_begin(r, "deleted", NULL);
	report_u64(r, "checkpoints", "Plain checkpoints deleted",
		   d.chosen - d.deleted_snapshots);
	report_u64(r, "snapshots", "Snapshots deleted", d.deleted_snapshots);
	report_u64(r, "snapshots_kept", "Snapshots kept", d.kept_snapshots);
	report_end(r);
	return d.undone ? JOB_UNDONE : 0;
}

/* Requests that concern existing snapshots. */
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

int checkpointjob_precheck(struct tool *tool, const struct options *o,
			   struct dev *dev)
{
	struct giving g = {
		.change = { .tool = tool, .o = o },
		.deletion = { .tool = tool, .o = o, .silent = true },
	};
	struct context *cx = &tool->cx;
	struct dev *overlay;
	int ret = parse_snapshots(&g.change, dev);

	if (!ret)
		ret = ranges_parse(tool, o, dev, DELETE, &o->deletions,
				   &g.deletion.ranges);
	if (!ret)
		ret = precheck_run(tool, dev, "the volume has errors; run "
				   "fsck.nilfs2", true, is_given_up, &g);
	if (ret == PRECHECK_GIVEN) {
		/* Check that there are no errors without these snapshots. */
		ret = overlay_open(&overlay, cx, dev, true);
		if (!ret && g.change.off.count)
			ret = change_snapshots(&g.change, cx, overlay);
		if (!ret && g.deletion.ranges.count)
			ret = delete_chosen_checkpoints(&g.deletion, cx, overlay);
		if (!ret)
			ret = precheck_run(tool, overlay, "there are errors "
					   "besides those of snapshots to be "
					   "deleted or converted; run fsck.nilfs2", false,
					   NULL, NULL);
		dev_close(overlay);
	}
	range_set_free(&g.change.on);
	range_set_free(&g.change.off);
	range_set_free(&g.deletion.ranges);
	return ret;
}
