// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making room for a repair by dropping old checkpoints.
 *
 * The kernel reserves eight segments from its users, but not from removing
 * files or changing their times, so a volume can be without a clean segment for
 * a log.  The last segments are then filled with versions of metadata, whose
 * live blocks are of plain checkpoints only.  A cleaner would free these first,
 * with the checkpoints, and so does a repair: overwriting them loses nothing of
 * the latest state or of a snapshot, even if it is interrupted.
 *
 * The DAT shows which blocks are live, and the checkpoint file, repaired
 * before, which checkpoints are snapshots.  If either is in doubt no segment is
 * used.
 */
#include "fsck/apply/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "disk/segusage.h"
#include "log/checkpoints.h"
#include "log/repairwriter.h"
#include "log/move.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/liveness.h"
#include "vol/sutable.h"

/* The content of the segments that are dropped. */
struct dead {
	const struct nilfs_geometry *g;
	const struct writer *writer;
	struct bitmap segments;
	uint64_t *numbers;
	size_t n, room;
	uint64_t first, end;	/* checkpoints that have some of it */
};

static bool is_dead(const struct fixer_job *job, const struct liveness *l,
		    uint64_t segnum)
{
	const struct recovery *latest = &job->vol->latest;
	const struct check *c = job->check;
	struct liveness_counts counts = liveness_of(l, segnum);

	return segnum != latest->segnum && segnum != latest->nextnum &&
	       bitmap_test(&c->used_segments, segnum) &&
	       !(c->awaited && bitmap_test(c->awaited, segnum)) &&
	       !counts.current && !counts.snapshot;
}

/* Nothing can be written to one that is marked as erroneous. */
static int is_writable(const struct fixer_job *job, struct context *cx,
		       uint64_t segnum)
{
	struct nilfs_segment_usage_ext su;
	int err = sutable_read(job->vol, cx, segnum, &su);

	return err ? err : !segusage_is_error(&su.su);
}

/* Fills H with up to WANT segments, the lowest ones. */
static int choose_segments(struct reclaim *h, struct context *cx,
			   const struct fixer_job *job, size_t want)
{
	uint64_t segnum;
	struct liveness *l;
	int ret = liveness_count(job->vol, cx, UINT64_MAX, &l);

	if (ret)
		return ret;
	for (segnum = 0; segnum < job->vol->geo.nsegments && h->n < want;
	     segnum++) {
		ret = is_dead(job, l, segnum) ? is_writable(job, cx, segnum) :
						0;
		if (ret < 0)
			break;
		if (!ret)
			continue;
		ret = array_reserve(cx, &h->segments, &h->room, h->n + 1);
		if (ret)
			break;
		h->segments[h->n++] = segnum;
	}
	liveness_free(l);
	return ret;
}

static int visit_entry(void *arg, struct context *cx, unsigned int worker,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	uint64_t blocknr = le64_get(de->de_blocknr);
	struct dead *d = arg;

	(void)worker;
	if (!geometry_has_block(d->g, blocknr) ||
	    !bitmap_test(&d->segments, geometry_segment_of(d->g, blocknr)))
		return 0;
	if (start < end && repairwriter_has_snapshot(d->writer, start, end))
		return fail(cx, -ENOSPC, "virtual block %llu: may be of a "
			    "snapshot", (unsigned long long)vblocknr);
	if (array_reserve(cx, &d->numbers, &d->room, d->n + 1))
		return -ENOMEM;
	d->numbers[d->n++] = vblocknr;
	if (start < end && start < d->first)
		d->first = start;
	if (start < end && end > d->end)
		d->end = end;
	return 0;
}

/* Dead blocks belong to no checkpoint that is kept. */
static int free_checkpoints(const struct dead *d, struct context *cx,
			    struct fixer_job *job)
{
	uint64_t latest = job->vol->latest.cno, *cnos;
	size_t i, n;
	int ret = cptable_list(job->vol, cx, false, &cnos, &n);

	if (ret)
		return ret;
	i = search_lower_bound(cnos, n, d->first);
	for (; i < n && cnos[i] < d->end && cnos[i] < latest && !ret; i++) {
		ret = checkpoints_delete(job->writer, cx, cnos[i]);
		if (ret != -EBUSY)
			continue;
		fail_clear(cx);
		ret = 0;
	}
	free(cnos);
	return ret;
}

static int give_up(const struct reclaim *h, struct context *cx,
		   struct fixer_job *job)
{
	struct dead d = {
		.g = &job->vol->geo,
		.writer = job->writer,
		.first = UINT64_MAX,
	};
	const struct datscan_visitor visitor = {
		.used = visit_entry,
		.arg = &d,
	};
	size_t i;
	int ret = bitmap_init(&d.segments, cx, d.g->nsegments);

	for (i = 0; i < h->n && !ret; i++)
		bitmap_set(&d.segments, h->segments[i]);
	if (!ret)
		ret = datscan_run_alone(job->vol, cx, &visitor);
	for (i = 0; i < d.n && !ret; i++)
		ret = move_forget(job->writer, cx, d.numbers[i]);
	if (!ret)
		ret = free_checkpoints(&d, cx, job);
	for (i = 0; i < h->n && !ret; i++) {
		bitmap_clear(&job->check->live_segments, h->segments[i]);
		ret = move_free(job->writer, cx, h->segments[i]);
	}
	if (!ret)
		ret = repairwriter_changed(job->writer, cx);
	if (!ret && d.first < d.end)
		fixers_note(job, "plain checkpoints from %llu to %llu: given "
			    "up, for room in %zu segments",
			    (unsigned long long)d.first,
			    (unsigned long long)d.end - 1, h->n);
	bitmap_fini(&d.segments);
	free(d.numbers);
	return ret;
}

int reclaim_take(struct reclaim *h, struct context *cx, struct fixer_job *job,
		 size_t want)
{
	const struct check *c = job->check;
	int ret;

	if (c->dat_broken || job->plan->kinds[RULE_FIX_DAT].n ||
	    findings_have_stage(c->findings, RULE_STAGE_NUMBERS) ||
	    findings_count(c->findings, RULE_BMAP_LIFETIME) ||
	    job->dev->zones ||
	    job->vol->latest.orphans_start)
		return fail(cx, -ENOSPC, "no clean segment is left");
	ret = choose_segments(h, cx, job, want);
	if (ret)
		return ret;
	if (!h->n)
		return fail(cx, -ENOSPC, "no segment is left that only old "
			    "checkpoints need");
	return give_up(h, cx, job);
}

void reclaim_fini(struct reclaim *h, struct fixer_job *job)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		bitmap_set(&job->check->live_segments, h->segments[i]);
	free(h->segments);
	memset(h, 0, sizeof(*h));
}
