// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning a mounted volume.
 *
 * A pass reads one state of the volume, as for an image: facts of all segments, and
 * the order of a policy.  Then it makes calls with victims in this order until none is
 * left; the blocks that a call moves are counted by the kernel's answers, so the
 * facts may be of some calls before.  Blocks die meanwhile, so another pass follows
 * as long as one gains segments.
 *
 * A program that makes a checkpoint, and then a snapshot of it, as mkcp -s does, waits
 * for the lock of the cleaner in between.  So checkpoints that are made after the caller
 * asked for the lock are kept whatever the protection period is.  They are known by
 * their numbers: no clock matters.  A run may take hours, so the lock is lent to such
 * programs between calls; they may have cleaned, so a new pass follows.
 *
 * The duration of a call is about proportional to its blocks, and writers of the
 * volume wait for less than half of it.  So a call moves as many blocks as the calls
 * before it could in the permitted time; on an idle volume many more, since larger
 * calls have survivors of more similar age, and write less metadata.  Where clean
 * segments are scarce calls are as large, too: writers wait for space there.
 */
#include "gc/live/online.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "disk/ondisk.h"
#include "disk/reserve.h"
#include "gc/live/call.h"
#include "gc/live/livezones.h"
#include "gc/plan/facts.h"
#include "live/cleanerlock.h"
#include "live/live.h"
#include "vol/volume.h"

/* Blocks of a call on an idle volume, and of the first one on a busy volume. */
#define IDLE_BLOCKS 8192
#define FIRST_BLOCKS 1024
#define LEAST_BLOCKS 512

/* Passes that other programs may prevent. */
#define BUSY_MAX 10

/* Milliseconds after which the lock is offered to others, and for a pass at least. */
#define OFFER_MS 1000

/* A volume without a new log for so long is idle, in milliseconds. */
#define IDLE_MS 1500

struct onlinerun {
	struct online *n;
	const struct online_options *o;
	const struct live *live;
	struct dev *dev;
	uint64_t (*clock)(void);
	struct call call;
	struct livezones zones;
	uint32_t blocks_per_segment;
	uint64_t reserve;	/* clean segments that the kernel keeps from writers */
	uint64_t estimate;	/* blocks to be moved in all, if known */
	uint64_t written;	/* time of the last log of a writer, seconds */
	uint64_t changed;	/* when that was found, by the clock */
	uint64_t paced;		/* blocks of a call that writers may wait for */
	uint64_t pass_gained;	/* segments */
	uint64_t *bad;		/* segments with damage, which are not tried again */
	size_t nbad, bad_room;
	bool announced;		/* checkpoints that may be deleted */
	bool stopped;		/* the caller wants no more calls */
	uint64_t offered;	/* the lock, last, by the clock */
	bool lent;		/* since the pass began: the next one follows */
};

/* The limits of the next call. */
static int find_limits(struct onlinerun *r, struct context *cx,
		       struct call_limit *limit)
{
	struct nilfs_sustat stat;
	/* The lists of a call grow by doubling. */
	uint64_t most = cx->max_memory / 4 / sizeof(struct nilfs_vdesc);
	uint64_t bps = r->blocks_per_segment, clean, room;
	int ret = live_request(r->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);

	if (ret)
		return ret;
	if (stat.ss_nongc_ctime != r->written)
		r->changed = r->clock();
	r->written = stat.ss_nongc_ctime;
	/* With few clean segments calls are large, so that writers wait and do not get
	   ENOSPC. */
	clean = stat.ss_ncleansegs;
	limit->moved = clean > r->o->scarce && r->clock() - r->changed < IDLE_MS ?
			       r->paced : IDLE_BLOCKS;
	limit->moved = limit->moved < most ? limit->moved : most;
	/* Writers cannot use held segments during the call. */
	limit->held = clean > r->reserve + 4 ? (clean - r->reserve) / 4 : 1;
	if (r->dev->zones)
		clean -= limit->held < clean ? limit->held : clean;
	/*
	 * A call that finds no clean segment never ends: the kernel tries again for
	 * ever, and cannot be interrupted.  It writes what is dirty in memory, too, for
	 * which nilfs_near_disk_full() lets writers have all clean segments but the
	 * reserve.  So a call gets half of the reserve, or of what is left; the other
	 * half is for metadata.
	 */
	if (clean < 2)
		return fail_said(cx, -ENOSPC, "%s: clean segments: %" PRIu64 ", too "
				 "few for the kernel to clean with; unmount the "
				 "volume, and run gc.nilfs2 %s", r->live->dir,
				 clean, r->live->device);
	room = clean < r->reserve ? clean : r->reserve;
	limit->written = (room - 1) * bps / 2;
	limit->seq = stat.ss_prot_seq;
	return 0;
}

/* Segments gained by the next call, which may be of one victim, with those before. */
static uint64_t next_gain(const struct onlinerun *r)
{
	uint64_t taken = div_round_up(r->n->moved + call_blocks(&r->call),
				      r->blocks_per_segment);
	uint64_t victims = r->n->victims + r->call.n.victims;

	return victims > taken + r->n->gained ? victims - taken - r->n->gained : 0;
}

/* Makes the call, and counts what it does. */
static int make_call(struct onlinerun *r, struct context *cx)
{
	uint64_t blocks = call_blocks(&r->call), gain = next_gain(r);
	uint64_t victims = r->call.n.victims, freed = r->call.n.freed;
	uint64_t began = r->clock() - r->zones.spent, took;
	struct call_limit limit;
	int ret;

	if (!victims)
		return 0;
	/* Writers may have used clean segments since. */
	ret = find_limits(r, cx, &limit);
	if (ret)
		return ret;
	if (!r->o->forecast && call_need(&r->call) <= limit.written &&
	    call_held(&r->call) <= limit.held) {
		ret = call_make(&r->call, cx);
		if (ret)
			return ret;
	} else {
		r->call.n = (struct call_size){ 0 };
		if (!r->o->forecast)
			return context_cancelled(cx);
	}
	took = r->clock() - r->zones.spent - began;
	r->n->calls++;
	r->n->victims += victims;
	r->n->moved += blocks;
	r->n->freed += freed;
	r->n->longest = took > r->n->longest ? took : r->n->longest;
	r->n->gained += gain;
	r->pass_gained += gain;
	if (r->o->moving)
		r->o->moving(r->o->arg, r->n->moved < r->estimate ?
				     r->n->moved : r->estimate, r->estimate);
	if (r->o->forecast)
		return context_cancelled(cx);
	/* A writer waits for about 40 percent of a call. */
	if (took && blocks > LEAST_BLOCKS)
		r->paced = blocks * r->o->latency * 10 / (took * 4);
	if (r->paced < LEAST_BLOCKS)
		r->paced = LEAST_BLOCKS;
	if (r->paced > IDLE_BLOCKS)
		r->paced = IDLE_BLOCKS;
	/* The superblocks follow: segments since the older one are protected. */
	if (syncfs(r->live->fd) && errno != ENOSPC)
		return fail(cx, -errno, "%s: synchronization", r->live->dir);
	if (r->o->called) {
		ret = r->o->called(r->o->arg, cx, r->n);
		r->stopped = ret > 0;
	}
	if (ret >= 0 && r->o->lock && r->clock() - r->offered >= OFFER_MS) {
		ret = cleanerlock_lend(r->o->lock, cx);
		r->lent = ret > 0;
		r->offered = r->clock();
	}
	return ret < 0 ? ret : context_cancelled(cx);
}

/* Whether S is to be cleaned, if it can be. */
static bool is_wanted(const struct online_options *o, const struct policy_segment *s)
{
	if (s->segnum < o->first || (o->end && s->segnum >= o->end))
		return false;
	return o->empty || (policy_gains(s) && policy_is_worth(s, o->min_dead));
}

/* Whether nothing is left to be done after the next call. */
static bool is_enough(const struct onlinerun *r)
{
	return r->n->gained + next_gain(r) >= r->o->goal ||
	       (r->o->enough &&
		r->n->moved + call_blocks(&r->call) >= r->o->enough);
}

/* Adds S to the call, which is made first if S does not fit: its fate, or -errno. */
static int take_segment(struct onlinerun *r, struct context *cx,
			const struct policy_segment *s)
{
	struct call_limit limit;
	size_t i;
	int ret;

	for (i = 0; i < r->nbad; i++)
		if (r->bad[i] == s->segnum)
			return CLEAN_LEFT;
	ret = find_limits(r, cx, &limit);
	if (!ret)
		ret = call_add(&r->call, cx, s->segnum, &limit);
	if (ret == CALL_LARGE) {
		ret = make_call(r, cx);
		if (!ret)
			ret = find_limits(r, cx, &limit);
		if (!ret)
			ret = call_add(&r->call, cx, s->segnum, &limit);
	}
	if (ret == CALL_DAMAGED) {
		r->n->left++;
		if (array_push(cx, &r->bad, &r->nbad, &r->bad_room, s->segnum))
			return -ENOMEM;
		if (r->o->left)
			r->o->left(r->o->arg, s->segnum, cx->failure);
		fail_clear(cx);
	}
	r->n->young += ret == CALL_YOUNG;
	return ret < 0 ? ret : ret == CALL_TAKEN ? CLEAN_FREED :
	       ret == CALL_DAMAGED ? CLEAN_LEFT :
	       ret == CALL_LARGE ? CLEAN_FULL : CLEAN_YOUNG;
}

/* Brings the present state to the device.  On a full volume an older one is there. */
static int sync_state(const struct onlinerun *r, struct context *cx)
{
	uint64_t cno;
	int ret = live_sync(r->live, cx, &cno);

	if (ret == -ENOSPC) {
		fail_clear(cx);
		ret = 0;
	}
	return ret;
}

/* Announces the checkpoints that calls may delete, which the first segment precedes. */
static int announce_deletion(struct onlinerun *r, struct context *cx,
			     const struct facts *f)
{
	uint64_t *cnos;
	size_t n;
	int ret;

	if (!r->o->deleting || r->announced)
		return 0;
	r->announced = true;
	ret = facts_old_checkpoints(f, cx, &cnos, &n);
	if (!ret && n)
		r->o->deleting(r->o->arg, cnos, n);
	free(cnos);
	return ret;
}

/* One pass over the segments of the present state. */
static int run_pass(struct onlinerun *r, struct context *cx, bool first)
{
	const struct online_options *o = r->o;
	const struct facts_how how = {
		.protect = o->protect,
		.since = o->since,
		.policy = o->most && !o->max_search ? o->policy : NULL,
		.most = o->most,
	};
	struct policy_order order = { .rank = NULL };
	struct facts f = { .vol = NULL };
	const struct nilfs_super_block *super;
	struct policy_segment *s;
	struct volume *vol = NULL;
	uint64_t protect = 0;
	int64_t i;
	int ret = sync_state(r, cx);

	if (!ret)
		ret = volume_open(&vol, cx, r->dev, NULL);
	if (!ret)
		ret = facts_gather_with(&f, cx, vol, &how);
	if (!ret && o->policy->uses_metadata)
		ret = facts_count_metadata(&f, cx);
	if (!ret) {
		f.env.max_search = o->max_search;
		f.env.metadata_weight = o->metadata_weight;
		f.env.scarce = vol->geo.nsegments / 20;
		protect = f.protect_cno;
		r->blocks_per_segment = vol->geo.blocks_per_segment;
		super = volume_super(vol);
		r->reserve = reserve_segments(vol->geo.nsegments,
					      le32_get(super->s_r_segments_percentage));
		ret = policy_open(&order, o->policy, &f.env, f.segments, f.n);
		if (ret)
			fail(cx, ret, "order of segments");
	}
	if (!ret && first)
		r->n->clean_before = f.clean;
	if (!ret && first && !o->empty)
		ret = facts_estimate(&f, cx, o->policy, o->goal, o->min_dead,
				     &r->estimate);
	r->pass_gained = 0;
	if (!ret && r->dev->zones)
		ret = livezones_count(&r->zones, cx, vol);
	if (!ret)
		ret = call_open(&r->call, cx, r->live, r->dev, protect);
	r->call.verify = o->verify;
	r->call.zones = r->dev->zones ? &r->zones : NULL;
	r->lent = false;
	r->offered = r->clock();
	while (!ret && !r->stopped && !r->lent && !is_enough(r) &&
	       (i = policy_next(&order, f.clean)) >= 0) {
		s = &f.segments[i];
		if (!is_wanted(o, s) ||
		    zoning_is_unusable(&f.zones, s->segnum)) {
			if (o->fate && first)
				o->fate(o->arg, s, CLEAN_SPARED);
			continue;
		}
		ret = take_segment(r, cx, s);
		if (ret >= 0 && o->fate)
			o->fate(o->arg, s, (enum clean_fate)ret);
		if (ret == CLEAN_FREED) {
			ret = announce_deletion(r, cx, &f);
			/* Its dead blocks will be gone. */
			s->live = s->written = 0;
		}
		ret = ret < 0 ? ret : 0;
	}
	if (!ret)
		ret = make_call(r, cx);
	if (!ret)
		clean_measure_rest(&r->n->rest, &f, o->min_dead);
	r->n->short_memory = f.dropped;
	call_close(&r->call);
	policy_close(&order);
	facts_fini(&f);
	volume_close(vol);
	return ret;
}

/*
 * On a device with zones: makes the clean segments fit to be written, first and after
 * others had the lock.
 */
static int prepare_zones(struct onlinerun *r, struct context *cx)
{
	struct volume *vol = NULL;
	int ret = sync_state(r, cx);

	if (!ret)
		ret = volume_open(&vol, cx, r->dev, NULL);
	if (!ret && !r->zones.live)
		ret = livezones_open(&r->zones, cx, r->live, vol, r->clock);
	if (!ret)
		ret = livezones_finish(&r->zones, cx, vol);
	volume_close(vol);
	return ret;
}

int online_run(struct online *n, struct context *cx, const struct live *live,
	       struct dev *dev, uint64_t (*clock)(void),
	       const struct online_options *options)
{
	struct onlinerun r = {
		.n = n, .o = options, .live = live, .dev = dev, .clock = clock,
		.changed = clock(), .paced = FIRST_BLOCKS, .estimate = UINT64_MAX,
	};
	struct nilfs_sustat stat;
	unsigned int busy = 0;
	bool first = true, again;
	int ret = 0;

	*n = (struct online){ 0 };
	while (!ret) {
		if (dev->zones && !options->forecast && (first || r.lent))
			ret = prepare_zones(&r, cx);
		if (!ret)
			ret = run_pass(&r, cx, first);
		again = r.lent || (r.pass_gained && !options->once);
		/* A snapshot was made meanwhile: the order is of another state.  Or
		   the kernel cleans already, for a program that takes no lock. */
		if (ret == -EBUSY && busy++ < BUSY_MAX) {
			fail_clear(cx);
			ret = 0;
			again = true;
		}
		first = false;
		if (ret || !again || r.stopped || is_enough(&r) || options->forecast)
			break;
	}
	if (!ret)
		ret = live_request(live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);
	n->resets = r.zones.resets;
	livezones_close(&r.zones);
	n->clean_after = ret ? 0 : options->forecast ? n->clean_before + n->gained :
						       stat.ss_ncleansegs;
	free(r.bad);
	return ret;
}
