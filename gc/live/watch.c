// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Staying with a mounted volume.
 *
 * An idle volume costs two ioctls per look, and looks are the more frequent the fewer
 * segments are left to a fast writer.  When clean segments become few a run of
 * cleaning begins: its facts are counted once, and calls follow until enough are
 * clean.  Between calls it waits, so that on average no more than the permitted number
 * of bytes is moved in a second; the fewer segments are clean, the shorter it waits,
 * and half way from the lower limit to the segments that the kernel reserves, where
 * writers find no space, it does not wait, and writers may wait longer for a call.
 *
 * A run that frees nothing would be repeated in vain, as by a cleaner that goes by age
 * alone where snapshots hold the oldest segments.  So the next one waits until
 * something can have changed: a hundredth of the segments was written, the number of
 * snapshots is another, or a minute has passed, after which blocks may have left the
 * protection period.  The minimum of dead blocks does not apply while clean segments
 * are scarce.
 */
#include "gc/live/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gc/move/target.h"
#include "live/cleanerlock.h"
#include "live/live.h"

/* Seconds to wait for the lock in each attempt. */
#define LOCK_WAIT 5

#define RETRY_MS 60000

/* Milliseconds between two looks: the most, the least, and if superblocks or another
   cleaner are waited for. */
#define CHECK_MS 5000
#define LEAST_MS 50
#define SOON_MS 1000

/* Bytes that a fast writer may write in a millisecond. */
#define FAST_WRITER (UINT64_C(512) << 10)

/* Parts of what could be clean besides the reserve: up to the lower limit, and from it
   to the upper one. */
#define LOW_PART 4
#define HIGH_PART 8

/* Longest wait between two calls. */
#define PAUSE_MS 10000

struct watch {
	struct watch_status *s;
	const struct watch_options *o;
	struct live *live;	/* open during a look or a run */
	struct online last;	/* sums of this run, at the last call */
	uint64_t young;		/* segments that could not be cleaned yet */
	uint64_t pause;		/* the last one between two looks, milliseconds */
	/* The state after a run without success. */
	uint64_t stuck_at, stuck_clean, stuck_snapshots;
};

static void set_state(struct watch *w, enum watch_state state)
{
	w->s->state = state;
	if (w->o->changed)
		w->o->changed(w->o->arg, w->s);
}

/*
 * Limits by what is in use, if none are given.  Of the segments that could be clean
 * besides the reserve a part is kept clean, and the rest is dead blocks among live
 * ones: the more there are of them, the fewer live blocks a victim has.  Blocks of
 * snapshots alone are not known here, so with them more is kept clean, but never more
 * than a twentieth of all segments besides the reserve.
 */
static int find_limits(struct watch *w, struct context *cx, uint64_t segments,
		       uint64_t next_cno)
{
	const struct watch_options *o = w->o;
	struct watch_status *s = w->s;
	struct nilfs_cpinfo info = { .ci_blocks_count = 0 };
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)&info,
		.v_nmembs = 1,
		.v_size = sizeof(info),
		.v_flags = NILFS_CHECKPOINT,
		.v_index = next_cno - 1,
	};
	uint64_t live, least = o->reserve + 1, free, part;
	int ret;

	if (o->high) {
		s->low = o->low;
		s->high = o->high;
		return 0;
	}
	ret = live_request(w->live, cx, NILFS_IOCTL_GET_CPINFO, &argv);
	/* Without a latest checkpoint: it was deleted, and the next one is not written
	   yet. */
	if (ret < 0 || (argv.v_nmembs != 1 && s->high))
		return ret < 0 ? ret : 0;
	/* Metadata is less than a thirty-second of it. */
	live = (info.ci_blocks_count + info.ci_blocks_count / 32) /
	       o->segment_blocks + 1;
	free = segments > live + least ? segments - live - least : 0;
	part = free / LOW_PART;
	s->low = least + 1 + (part < segments / 20 ? part : segments / 20);
	part = free / HIGH_PART;
	s->high = s->low + 1 + (part < segments / 10 ? part : segments / 10);
	return 0;
}

/* So many clean segments, or fewer, are scarce. */
static uint64_t scarce(const struct watch *w)
{
	uint64_t reserve = w->o->reserve, low = w->s->low;

	return reserve < low ? reserve + (low - reserve) / 2 : low;
}

static bool is_scarce(const struct watch *w)
{
	return w->s->clean <= scarce(w);
}

/*
 * Waits until the next look.  If CHANGED, it is due before a fast writer can come to
 * the lower limit; otherwise each pause is twice the one before.
 */
static void wait_for_look(struct watch *w, bool changed)
{
	const struct watch_options *o = w->o;
	uint64_t room = w->s->clean > w->s->low ? w->s->clean - w->s->low : 0;
	uint64_t ms = room * o->segment_blocks * o->block_size / FAST_WRITER;

	w->pause = changed ? LEAST_MS : w->pause * 2;
	w->pause = w->pause < ms ? ms : w->pause;
	w->pause = w->pause < CHECK_MS ? w->pause : CHECK_MS;
	if (w->s->state == WATCH_WAITING)
		w->pause = SOON_MS;
	o->wait(w->pause);
}

/* After a call of a run: adds it to the sums, and waits. */
static int call_made(void *arg, struct context *cx, const struct online *n)
{
	struct watch *w = arg;
	struct watch_status *s = w->s;
	struct nilfs_sustat stat;
	uint64_t bytes = (n->moved - w->last.moved) * w->o->block_size, ms;
	uint64_t least = scarce(w);
	int ret = live_request(w->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);

	if (ret)
		return ret;
	s->clean = stat.ss_ncleansegs;
	s->victims += n->victims - w->last.victims;
	s->calls += n->calls - w->last.calls;
	s->moved += n->moved - w->last.moved;
	s->freed += n->freed - w->last.freed;
	s->longest = n->longest > s->longest ? n->longest : s->longest;
	w->last = *n;
	set_state(w, WATCH_CLEANING);
	if (s->clean >= s->high)
		return 1;
	if (!w->o->speed || is_scarce(w))
		return 0;
	ms = bytes * 1000 / w->o->speed;
	if (s->clean < s->low)
		ms = ms * (s->clean - least) / (s->low - least);
	w->o->wait(ms < PAUSE_MS ? ms : PAUSE_MS);
	return context_cancelled(cx);
}

/* A segment of a run is skipped. */
static void segment_left(void *arg, uint64_t segnum, const char *why)
{
	struct watch *w = arg;

	snprintf(w->s->problem, sizeof(w->s->problem), "%s: segment %" PRIu64
		 ": skipped: %.400s", w->live->dir, segnum, why);
	set_state(w, WATCH_CLEANING);
}

/*
 * One run of cleaning, which keeps checkpoints from SINCE on: 0 also if it freed
 * nothing.  Programs that have made older ones get the lock first.
 */
static int run_once(struct watch *w, struct context *cx, uint64_t since)
{
	struct online_options options = w->o->clean;
	struct cleanerlock *lock = NULL;
	struct target target;
	struct online n = { 0 };
	int ret;

	set_state(w, WATCH_WAITING);
	ret = cleanerlock_take(&lock, cx, w->live, LOCK_WAIT);
	if (ret)
		return ret;
	cx->now = w->o->now();
	w->last = n;
	w->s->runs++;
	set_state(w, WATCH_CLEANING);
	ret = target_open_mounted(&target, cx, w->live->device);
	options.lock = lock;
	options.since = since;
	options.goal = w->s->high - w->s->clean;
	options.scarce = scarce(w);
	options.called = call_made;
	options.left = segment_left;
	options.arg = w;
	options.once = true;
	if (is_scarce(w))
		options.min_dead = 1;
	if (!ret)
		ret = online_run(&n, cx, w->live, target.dev, w->o->clock, &options);
	w->s->skipped += n.left;
	w->young = n.young;
	target_close(&target);
	cleanerlock_release(lock);
	return ret;
}

/* Whether a run may free something, if the last one did not. */
static bool is_worth_a_run(struct watch *w, uint64_t snapshots)
{
	uint64_t part = w->s->segments / 100 + 1;

	return !w->stuck_at || w->stuck_snapshots != snapshots ||
	       w->s->clean + part <= w->stuck_clean ||
	       w->o->clock() - w->stuck_at >= RETRY_MS;
}

/* Looks at the volume once, and cleans it if that is due: its new state, or -errno. */
static int look(struct watch *w, struct context *cx)
{
	const struct watch_options *o = w->o;
	struct watch_status *s = w->s;
	struct nilfs_sustat stat;
	struct nilfs_cpstat cps;
	uint64_t clean;
	int ret = live_request(w->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);

	if (!ret)
		ret = live_request(w->live, cx, NILFS_IOCTL_GET_CPSTAT, &cps);
	if (!ret)
		ret = find_limits(w, cx, stat.ss_nsegs, cps.cs_cno);
	if (ret)
		return ret;
	s->segments = stat.ss_nsegs;
	clean = s->clean = stat.ss_ncleansegs;
	if (clean >= s->low)
		return WATCH_IDLE;
	if (!is_worth_a_run(w, cps.cs_nsss))
		return WATCH_STUCK;
	ret = run_once(w, cx, cps.cs_cno);
	w->stuck_at = 0;
	/* Each run makes the kernel write superblocks, if there is a new segment. */
	if (!ret && !w->last.gained && w->young)
		return WATCH_WAITING;
	if (ret ? ret != -EBUSY && ret != -ENOSPC && ret != -EUCLEAN && ret != -EIO :
		  w->last.gained > 0)
		return ret ? ret : WATCH_CLEANING;
	w->stuck_at = o->clock();
	w->stuck_clean = clean;
	w->stuck_snapshots = cps.cs_nsss;
	if (ret)
		snprintf(s->problem, sizeof(s->problem), "%s", cx->failure);
	else
		snprintf(s->problem, sizeof(s->problem), "%s: no segment is worth "
			 "cleaning", w->live->dir);
	fail_clear(cx);
	return WATCH_STUCK;
}

int watch_run(struct watch_status *status, struct context *cx, const char *path,
	      const struct watch_options *options)
{
	struct watch w = { .s = status, .o = options, .pause = LEAST_MS };
	dev_t number = 0;
	uint64_t clean = 0;
	int ret = 0;

	*status = (struct watch_status){ .state = WATCH_IDLE };
	while (ret >= 0) {
		ret = live_open(&w.live, cx, path);
		if (!ret && number && w.live->number != number)
			ret = fail_said(cx, -ENOTTY, "%s: another volume is mounted "
					"there", path);
		if (!ret) {
			number = w.live->number;
			ret = look(&w, cx);
			live_close(w.live);
		} else if (number && (ret == -ENOTTY || ret == -ENOENT)) {
			set_state(&w, WATCH_UNMOUNTED);
			break;
		}
		if (ret < 0)
			break;
		set_state(&w, (enum watch_state)ret);
		if (ret != WATCH_CLEANING)
			wait_for_look(&w, status->clean != clean);
		clean = status->clean;
		ret = context_cancelled(cx);
	}
	if (ret != -EINTR && status->state != WATCH_UNMOUNTED)
		return ret;
	fail_clear(cx);
	return 0;
}
