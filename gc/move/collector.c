// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The collector.
 *
 * A segment with a block that cannot be read, or a log whose checksum does not
 * match without a flipped bit that explains it, is skipped from then on.  The
 * batch, of which nothing has been written yet, is repeated without it.
 */
#include "gc/move/collector.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/context.h"
#include "base/search.h"
#include "dev/dev.h"
#include "dev/overlay.h"
#include "disk/geometry.h"
#include "gc/move/batch.h"
#include "gc/move/onelog.h"
#include "gc/move/target.h"
#include "gc/plan/zoning.h"
#include "log/move.h"

void collector_init(struct collector *k, struct dev *dev,
		    const struct collector_options *options)
{
	*k = (struct collector){ .o = options, .dev = dev };
}

int collector_open(struct collector *k, struct context *cx)
{
	const struct facts_how how = {
		.protect = k->o->protect,
		.kept = k->whole ? NULL : &k->kept,
		.whole = k->whole,
	};
	int ret = target_open_volume(&k->vol, cx, k->dev);

	if (!ret)
		ret = facts_gather_with(&k->facts, cx, k->vol, &how);
	/* The SUFILE is known to be correct now. */
	if (!ret && !k->settled && !k->whole)
		ret = zoning_settle(cx, k->dev);
	k->settled |= !ret;
	load_init(&k->load, &k->facts);
	k->sated = 0;
	return ret;
}

bool collector_is_bad(const struct collector *k, uint64_t segnum)
{
	size_t i = search_lower_bound(k->bad, k->nbad, segnum);

	return i < k->nbad && k->bad[i] == segnum;
}

/*
 * Skips SEGNUM from now on, because of the failure in CX.  If it FAILS,
 * collector_finish() marks it as erroneous.
 */
static int skip_segment(struct collector *k, struct context *cx,
			uint64_t segnum, bool fails)
{
	size_t i = search_lower_bound(k->bad, k->nbad, segnum);

	if (array_reserve(cx, &k->bad, &k->bad_room, k->nbad + 1) ||
	    array_reserve(cx, &k->failing, &k->failing_room, k->nfailing + 1))
		return -ENOMEM;
	if (fails)
		k->failing[k->nfailing++] = segnum;
	memmove(&k->bad[i + 1], &k->bad[i], (k->nbad++ - i) * sizeof(*k->bad));
	k->bad[i] = segnum;
	if (k->o->left)
		k->o->left(k->o->arg, segnum, cx->failure);
	fail_clear(cx);
	return 0;
}

/* REST and the blocks of CLEAN segments, without those that zones exclude. */
static uint64_t usable_room(const struct collector *k, uint64_t rest,
			    uint64_t clean)
{
	uint64_t lost = k->facts.zones.lost;

	clean -= lost < clean ? lost : clean;
	return rest + clean * k->vol->geo.blocks_per_segment;
}

uint64_t collector_room(const struct collector *k)
{
	const struct nilfs_geometry *g = &k->vol->geo;
	const struct recovery *latest = &k->vol->latest;
	uint64_t rest = geometry_segment_end(g, latest->segnum) -
			geometry_segment_start(g, latest->segnum) -
			latest->offset;

	if (k->facts.zones.torn)
		rest = 0;
	/* One segment is the next already, and one has to be at the end. */
	return usable_room(k, rest, k->facts.clean);
}

uint64_t collector_gain(const struct collector *k)
{
	uint64_t bps = k->vol->geo.blocks_per_segment;
	uint64_t taken = (batch_need(&k->load) + bps - 1) / bps;

	return k->load.has.nvictims > taken ? k->load.has.nvictims - taken : 0;
}

bool collector_is_sated(const struct collector *k)
{
	return k->sated && k->load.has.nvictims >= k->sated;
}

int collector_add(struct collector *k, struct context *cx,
		  const struct policy_segment *s, uint64_t room)
{
	struct load_size before = k->load.has;
	bool sated;
	int ret;

	k->full = collector_is_sated(k);
	if (k->full || collector_is_bad(k, s->segnum))
		return 0;
	ret = load_take(&k->load, cx, s);
	if (!ret && cx->failure[0])
		return skip_segment(k, cx, s->segnum, true);
	sated = (!k->unbounded && load_is_full(&k->load, cx)) ||
		(k->most && k->load.has.nvictims > 1 &&
		 batch_need(&k->load) > k->most);
	if (ret <= 0 || (!sated && batch_need(&k->load) <= room))
		return ret;
	load_rewind(&k->load, cx, &before);
	k->full = true;
	if (sated)
		k->sated = k->load.has.nvictims;
	return 0;
}

void collector_sort(struct collector *k)
{
	if (k->o->order)
		order_apply(k->o->order, &k->load);
	else
		load_sort(&k->load, false);
}

static void report_batch_moved(void *arg, uint64_t blocks)
{
	const struct collector *k = arg;
	uint64_t moved = k->moved + blocks;

	k->o->moving(k->o->arg, moved < k->to_move ? moved : k->to_move,
		     k->to_move);
}

/*
 * Runs one batch: 0; 1 if the failure is that of a segment, which is skipped.
 */
static int collector_run_batch(struct collector *k, struct context *cx,
			       struct batch_options *options,
			       struct batch_totals *totals)
{
	uint64_t bad;
	int ret;

	options->reuse = k->reuse;
	ret = batch_run(&k->load, cx, k->vol, options, totals, &bad);
	k->stale = ret == -EAGAIN;
	if ((ret != -EIO && ret != -EUCLEAN) || !bad)
		return ret;
	/* Segments with a wrong checksum can be repaired in place. */
	ret = skip_segment(k, cx, geometry_segment_of(&k->vol->geo, bad),
			   ret == -EIO);
	return ret ? ret : 1;
}

/* Announces the plain checkpoints outside of the protection period, once. */
static int announce_deletion(struct collector *k, struct context *cx)
{
	uint64_t *cnos;
	size_t n;
	int ret;

	if (!k->o->deleting || k->announced)
		return 0;
	ret = facts_old_checkpoints(&k->facts, cx, &cnos, &n);
	if (!ret && n)
		k->o->deleting(k->o->arg, cnos, n);
	k->announced = !ret;
	free(cnos);
	return ret;
}

int collector_move(struct collector *k, struct context *cx,
		   const struct batch_options *batch)
{
	struct batch_options options = *batch;
	char text[FAILURE_TEXT_MAX];
	int ret = announce_deletion(k, cx);

	if (ret)
		return ret;
	options.moved = k->o->moving ? report_batch_moved : NULL;
	options.arg = k;
	collector_sort(k);
	ret = collector_run_batch(k, cx, &options, &k->totals);
	if (!ret) {
		k->moved += k->load.has.blocks + k->load.has.nmarks;
		k->most *= 2;
		if (k->most > collector_room(k))
			k->most = 0;
	} else if (ret == -ENOSPC) {
		/* Its partly written zones have to be reset. */
		k->settled = false;
		if (k->load.has.nvictims <= 1 || k->whole) {
			memcpy(text, cx->failure, sizeof(text));
			fail(cx, -ENOSPC, "%.400s; --output makes a compact "
			     "copy, --grow adds segments", text);
		} else {
			/* The next batch must be at most half as large. */
			k->most = batch_need(&k->load) / 2;
			fail_clear(cx);
			ret = 1;
		}
	}
	k->again = k->stale || ret > 0;
	if (k->stale)
		fail_clear(cx);
	return k->again ? 0 : ret;
}

int collector_try(struct collector *k, struct context *cx, uint64_t *room,
		  uint64_t *segnum)
{
	struct batch_options options = k->o->batch;
	struct batch_totals totals = { 0 };
	struct dev *overlay, *own = k->vol->dev;
	int ret = overlay_open(&overlay, cx, own, true);

	*room = 0;
	if (ret)
		return ret;
	options.forecast = true;
	options.moved = NULL;
	collector_sort(k);
	/* Only the device for writing differs; it is not read. */
	k->vol->dev = overlay;
	ret = collector_run_batch(k, cx, &options, &totals);
	k->vol->dev = own;
	dev_close(overlay);
	if (ret == -ENOSPC)
		fail_clear(cx);
	if (ret > 0 || ret == -ENOSPC)
		return 0;
	*room = usable_room(k, totals.rest, totals.clean);
	*segnum = totals.segnum;
	return ret;
}

void collector_close(struct collector *k)
{
	load_fini(&k->load);
	if (k->stale)
		facts_forget(&k->kept);
	else if (k->vol)
		facts_keep(&k->facts, &k->kept);
	k->stale = false;
	facts_fini(&k->facts);
	volume_close(k->vol);
	k->vol = NULL;
}

int collector_settle(struct collector *k, struct context *cx)
{
	int ret;

	if (k->settled || !k->dev->zones)
		return 0;
	ret = collector_open(k, cx);
	collector_close(k);
	return ret;
}

int collector_rehearse(struct collector *k, struct context *cx,
		       int (*act)(void *arg, struct context *cx), void *arg)
{
	struct collector before = *k;
	struct collector_options how = *k->o;
	struct dev *overlay;
	int ret = overlay_open(&overlay, cx, k->dev, true);

	if (ret)
		return ret;
	how.batch.forecast = true;
	how.moving = NULL;
	how.deleting = NULL;
	k->o = &how;
	k->dev = overlay;
	ret = act(arg, cx);
	/* The skipped segments stay known. */
	before.bad = k->bad;
	before.nbad = k->nbad;
	before.bad_room = k->bad_room;
	before.failing = k->failing;
	before.nfailing = k->nfailing;
	before.failing_room = k->failing_room;
	before.to_move = k->moved;
	facts_forget(&k->kept);
	before.kept = k->kept;
	*k = before;
	dev_close(overlay);
	return ret;
}

/*
 * Segments that cannot be cleaned.
 *
 * If a block cannot be read the medium is failing, and new data there may be
 * lost.  If logs contradict the DAT another cleaner would read them up to the
 * damage, and free live blocks after it.  The flag excludes such segments from
 * both the kernel and nilfs_cleanerd.  It is set after all other jobs, so that
 * one log is enough for all of them.
 *
 * A segment with only a wrong checksum stays unchanged: the medium is not
 * failing, and fsck.nilfs2 may correct it.
 */

static int set_errors(void *arg, struct context *cx, struct writer *w)
{
	const struct collector *k = arg;
	size_t i;
	int ret = 0;

	for (i = 0; i < k->nfailing && !ret; i++)
		ret = move_set_segment(w, cx, k->failing[i], SEGMENTS_ERROR);
	return ret;
}

int collector_finish(struct collector *k, struct context *cx)
{
	struct writer_options options;
	struct writer_end end;
	struct volume *vol;
	int ret;

	if (!k->nfailing)
		return 0;
	ret = volume_open(&vol, cx, k->dev, NULL);
	if (!ret) {
		options = writer_options_on(vol, k->o->batch.time);
		options.minor = true;
		ret = onelog_append(cx, vol, &options, set_errors, k, &end);
	}
	volume_close(vol);
	if (ret)
		return ret;
	k->totals.written += end.blocks;
	k->totals.summaries += end.summaries;
	k->totals.clean = end.clean_segments;
	return 0;
}

void collector_fini(struct collector *k)
{
	facts_forget(&k->kept);
	free(k->bad);
	free(k->failing);
	k->bad = k->failing = NULL;
	k->nbad = k->bad_room = k->nfailing = k->failing_room = 0;
}
