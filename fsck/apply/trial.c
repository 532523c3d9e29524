// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attempts: a change of the overlay, a check of the whole volume, and the
 * return to the state before it.
 *
 * Every step of a repair is made of these; none of them depends on the order of
 * the steps (rounds.c, states.c, repair.c).
 *
 * Different steps often reach the same state, so checks are kept, by a digest of
 * the overlay, and of what else the check depends on. Those that were taken keep
 * their volume and facts, because fixers need them; of others only the verdict is
 * kept.
 *
 * Without a free segment a round is tried with a few segments of old
 * checkpoints, then with more. Those belonged to the volume, so there must be
 * an undo file, and the user must have accepted losses.
 *
 * If memory is exhausted, a message is dropped, not the repair.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "disk/super.h"
#include "vol/logcheck.h"

/* The number of segments to take, in the first and the last attempt. */
#define RECLAIM_FIRST 2u
#define RECLAIM_MAX 2048u

struct look *trial_current(const struct repair *r)
{
	return r->now ? r->now : r->first;
}

bool trial_is_cut_off(const struct look *l)
{
	const struct volume *vol = l->check.vol;
	struct nilfs_geometry geo;

	if (!vol)
		return findings_count(l->check.findings, RULE_SB_DEVICE_SIZE);
	return super_geometry(volume_super(vol), vol->dev->size, &geo) ==
	       RULE_SB_DEVICE_SIZE;
}

void trial_note(void *arg, const char *text)
{
	struct repair *r = arg;
	size_t *n = &r->repaired.n;

	if (*n < REPAIR_LINES_MAX &&
	    array_has_room(&r->repaired.lines, &r->repaired.room, *n) &&
	    (r->repaired.lines[*n] = strdup(text)))
		++*n;
	else
		r->repaired.more++;
}

/* Drops all messages except the first N. */
static void forget_lines(struct repair *r, size_t n)
{
	while (r->repaired.n > n)
		free(r->repaired.lines[--r->repaired.n]);
}

static void free_look(struct look *look)
{
	if (look)
		look_fini(look);
	free(look);
}

/* Takes check number I of those kept. */
static struct look *take_left(struct repair *r, unsigned int i)
{
	struct look *look = r->left[i];

	r->nleft--;
	memmove(r->left + i, r->left + i + 1,
		(r->nleft - i) * sizeof(*r->left));
	return look;
}

void trial_leave(struct repair *r, struct look *look)
{
	uint64_t size = 0, most = r->tool->cx.max_memory / 4;
	unsigned int i;

	if (!look)
		return;
	if (r->nleft == REPAIR_LOOKS_MAX)
		free_look(take_left(r, 0));
	look_rest(look, &r->tool->cx);
	r->left[r->nleft++] = look;
	for (i = r->nleft; i-- > 0;) {
		size += r->left[i]->size;
		if (size > most && r->nleft - i > REPAIR_LOOKS_LEAST)
			break;
	}
	for (i++; i > 0; i--)
		free_look(take_left(r, 0));
}

/* Drops R->now, so that the latest check is R->first. */
static void drop_check(struct repair *r)
{
	trial_leave(r, r->now);
	r->now = NULL;
}

/* A digest of all that a check of the overlay depends on. */
static int digest_state(struct repair *r, struct context *cx, uint64_t *digest)
{
	const struct root_state *s = &r->state;
	uint64_t words[] = {
		0, r->patched ? patched_digest(r->patched) : 0, s->chosen, s->hurt,
		s->newest, s->seq, s->at.pseg_start, s->at.seq, s->at.cno,
		text_hash_words(r->awaited.bits, r->awaited.words,
				(r->awaited.bits + 63) / 64),
		r->dev->stats.failed_reads,
	};
	int err = overlay_digest(r->dev, cx, &words[0]);

	*digest = text_hash_words(0, words, sizeof(words) / sizeof(*words));
	return err;
}

/*
 * Whether check L, of a state with the digest of NOW, has what NOW would have. If all
 * findings were planned, a mode that excludes less has the same plan.
 */
static bool is_same_look(const struct look *l, const struct look *now,
			 enum improvement_demand demand)
{
	bool same = decision_of(l->mode, RULE_DANGER_SAFE) ==
			    decision_of(now->mode, RULE_DANGER_SAFE) &&
		    decision_of(l->mode, RULE_DANGER_LOSES) ==
			    decision_of(now->mode, RULE_DANGER_LOSES);

	return l->digest == now->digest &&
	       (demand == IMPROVEMENT_ANY || l->against == now->against) &&
	       (l->mode == now->mode ||
		(same && !l->left &&
		 decision_of(l->mode, RULE_DANGER_REBUILD) == DECISION_LEAVE));
}

/* Adds the bits of MORE to *ALL, which starts with those of FIRST if it is
   empty. */
static int unite_bitmaps(struct bitmap *all, struct context *cx,
			 const struct bitmap *first, const struct bitmap *more)
{
	uint64_t bit;
	int err = 0;

	if (!all->bits)
		err = bitmap_copy(all, cx, first->bits ? first : more);
	if (err || all->bits != more->bits)
		return err;
	for (bit = bitmap_next_set(more, 0); bit < more->bits;
	     bit = bitmap_next_set(more, bit + 1))
		bitmap_set(all, bit);
	return 0;
}

int trial_note_state(struct repair *r, struct context *cx,
		     const struct look *now)
{
	const struct check *c = &now->check, *first = &r->first->check;
	struct nilfs_segment_summary was, is;
	struct context quiet;
	bool is_proved;
	uint64_t off;
	int err;

	if (!c->vol)
		return 0;
	/* Whether the log of the latest state existed before the repair. */
	off = c->vol->latest.pseg_start << c->vol->geo.block_bits;
	context_child(cx, &quiet);
	if (dev_read(r->under, &quiet, off, &was, sizeof(was)) ||
	    dev_read(r->dev, &quiet, off, &is, sizeof(is)))
		return 0;
	/* A repair may have corrected the checksums, or what they prove. */
	is_proved = le32_get(is.ss_datasum) == le32_get(was.ss_datasum) &&
		    le32_get(is.ss_sumsum) == le32_get(was.ss_sumsum) &&
		    logcheck_is_right(r->dev, &quiet, &c->vol->geo,
				      c->vol->latest.pseg_start, &is) > 0;
	is.ss_datasum = was.ss_datasum;
	is.ss_sumsum = was.ss_sumsum;
	if (!is_proved && memcmp(&was, &is, sizeof(is)))
		return 0;
	r->base = c->vol->latest;
	r->has_base = true;
	/* A check reads no logs after the latest one that it finds. */
	err = unite_bitmaps(&r->used, cx, &first->used_segments, &c->used_segments);
	return err ? err : unite_bitmaps(&r->broken, cx, &first->broken_segments,
					 &c->broken_segments);
}

/* The rejection of NOW as a result of its BEFORE, or NULL. */
static const struct rejected *find_rejected(const struct repair *r,
					    const struct look *now,
					    enum improvement_demand demand)
{
	const struct rejected *f = r->rejected, *end = f + r->nrejected;

	while (f < end && (f->digest != now->digest ||
			   f->before != now->before->digest ||
			   f->mode != now->mode || f->demand != demand))
		f++;
	return f < end && now->before->known ? f : NULL;
}

int trial_check(struct repair *r, struct context *cx,
		enum improvement_demand demand, struct look **result)
{
	struct look *now = calloc(1, sizeof(*now)), *before = trial_current(r);
	const struct rejected *known = NULL;
	struct rejected rejected;
	unsigned int i = 0;
	int ret;

	if (!now)
		return fail(cx, -ENOMEM, "repair");
	now->mode = r->ask.mode;
	now->first = r->first;
	now->before = before;
	now->awaited = &r->awaited;
	now->state = &r->state;
	now->against = text_hash_words(before->check.nsnapshots,
				       before->check.snapshots,
				       before->check.nsnapshots);
	now->known = true;
	ret = digest_state(r, cx, &now->digest);
	rejected = (struct rejected){
		.digest = now->digest, .before = before->digest,
		.mode = now->mode, .demand = demand,
	};
	while (i < r->nleft && !is_same_look(r->left[i], now, demand))
		i++;
	known = find_rejected(r, now, demand);
	if (known || i < r->nleft)
		tool_detail(r->tool, "this state was checked before");
	if (known) {
		rejected.worse = known->worse;
	} else if (i < r->nleft) {
		free(now);
		now = take_left(r, i);
		look_reset(now, r->ask.mode);
	} else if (!ret) {
		ret = look_run(now, r->tool, r->o, r->dev, false);
	}
	if (!ret && !known)
		ret = (now->complete || demand != IMPROVEMENT_SOUND) &&
		      improvement_meets(&now->check, &before->check, demand,
					&rejected.worse);
	r->worse = rejected.worse;
	if (!ret && (demand == IMPROVEMENT_ONLY ||
		     demand == IMPROVEMENT_DERIVED))
		tool_detail(r->tool, "no better than before: %s",
			    r->worse ? r->worse->slug : "no improvement");
	if (ret > 0) {
		plan_forget(&r->ask, &now->plan);
		look_mark_compared(now);
		*result = now;
		return ret;
	}
	if (!ret && !known)
		ret = array_push(cx, &r->rejected, &r->nrejected,
				 &r->rejected_room, rejected);
	free_look(now);
	return ret;
}

int trial_take(struct repair *r, struct context *cx, struct look *look,
	       struct look **before)
{
	if (before)
		*before = r->now;
	else
		trial_leave(r, r->now);
	r->now = look;
	r->looks++;
	return trial_note_state(r, cx, trial_current(r));
}

int trial_look(struct repair *r, struct context *cx,
	       enum improvement_demand demand)
{
	struct look *now;
	int ret = trial_check(r, cx, demand, &now);

	if (ret > 0)
		ret = trial_take(r, cx, now, NULL) ?: 1;
	return ret;
}

uint64_t trial_digest_of(const struct repair *r, enum rule_fix kind)
{
	const struct look *l = trial_current(r);

	return plan_digest(&l->plan, kind,
			   l->check.vol ? l->check.vol->latest.cno : 0);
}

bool trial_has_failed(const struct repair *r, uint64_t digest)
{
	const struct failed_repair *f = r->failed;
	size_t i;

	for (i = 0; i < r->nfailed; i++)
		if (f[i].digest == digest &&
		    (f[i].kind == RULE_FIX_NONE ||
		     f[i].before == trial_digest_of(r, f[i].kind)))
			return true;
	return false;
}

int trial_add_failed(struct repair *r, struct context *cx, uint64_t digest)
{
	struct failed_repair f = {
		.digest = digest,
		.kind = r->worse ? r->worse->fix : RULE_FIX_NONE,
	};

	if (trial_has_failed(r, digest))
		return 0;
	f.before = trial_digest_of(r, f.kind);
	return array_push(cx, &r->failed, &r->nfailed, &r->failed_room, f);
}

int trial_begin(struct repair *r, struct context *cx)
{
	r->first->known = r->first->check.failed_reads ==
			  r->dev->stats.failed_reads;
	return digest_state(r, cx, &r->first->digest);
}

int trial_resume(struct repair *r, struct context *cx)
{
	struct look now = { .mode = r->ask.mode };
	int ret;

	drop_check(r);
	ret = digest_state(r, cx, &now.digest);
	/* The first check searched for flipped bits, too. */
	if (!ret && r->first->known &&
	    !r->first->plan.kinds[RULE_FIX_BITS].found &&
	    is_same_look(r->first, &now, IMPROVEMENT_ANY)) {
		tool_detail(r->tool, "this state was checked before");
		look_reset(r->first, now.mode);
		plan_forget(&r->ask, &r->first->plan);
		return trial_take(r, cx, NULL, NULL);
	}
	if (!ret)
		ret = trial_look(r, cx, IMPROVEMENT_ANY);
	return ret < 0 ? ret : 0;
}

struct trial_point trial_point(const struct repair *r)
{
	return (struct trial_point){
		.overlay = overlay_mark(r->dev),
		.nrepaired = r->repaired.n,
		.nunset = r->nunset,
		.borrowed = r->borrowed,
		.state = r->state,
	};
}

void trial_return_to(struct repair *r, const struct trial_point *to)
{
	overlay_rewind(r->dev, to->overlay);
	forget_lines(r, to->nrepaired);
	r->nunset = to->nunset;
	r->borrowed = to->borrowed;
	r->state = to->state;
}

int trial_tolerate(struct repair *r, struct context *cx, int ret)
{
	if (!damage_is(ret) && ret != -ENOSPC)
		return ret;
	tool_detail(r->tool, "%s", cx->failure);
	fail_clear(cx);
	return 0;
}

int trial_attempt(struct repair *r, struct context *cx, struct round *round,
		  enum improvement_demand demand)
{
	bool may_reclaim = r->overwrites &&
			   decision_of(r->ask.mode, RULE_DANGER_LOSES) ==
				   DECISION_REPAIR;
	struct trial_point from = trial_point(r);
	bool chosen;
	int ret;

	progress_begin(&r->tool->progress, "repairing", 0, false);
	ret = round_run(round, cx);
	r->no_room |= ret == -ENOSPC;
	r->by_means |= ret == -ENOSPC || round->stage > RULE_STAGE_DAT;
	for (round->reclaim = RECLAIM_FIRST; ret == -ENOSPC && may_reclaim &&
	     round->reclaim <= RECLAIM_MAX; round->reclaim *= 4) {
		trial_return_to(r, &from);
		fail_clear(cx);
		ret = round_run(round, cx);
	}
	progress_end(&r->tool->progress);
	round->unchanged = overlay_mark(r->dev) == from.overlay;
	/* The result for a chosen state is known only after all rounds. */
	chosen = r->state.chosen && !from.state.chosen;
	if (!ret && !round->unchanged)
		ret = trial_look(r, cx, chosen ? IMPROVEMENT_ANY : demand);
	if (ret <= 0)
		trial_return_to(r, &from);
	else if (chosen)
		r->state.overwritten = findings_have(
			trial_current(r)->check.findings, RULE_OVERWRITTEN);
	return trial_tolerate(r, cx, ret);
}

struct fixer_job trial_job(struct repair *r, struct context *cx)
{
	struct look *l = trial_current(r);

	return (struct fixer_job){
		.check = &l->check,
		.dev = r->dev,
		.vol = l->check.vol,
		.first_log = l->check.vol && r->first->check.vol &&
			     l->check.vol->latest.pseg_start ==
				     r->first->check.vol->latest.pseg_start,
		.plan = &l->plan,
		.time = (uint64_t)cx->now,
		.rebuild = r->rebuild,
		.undo = r->overwrites,
		.state = &r->state,
		.state_number = r->state_number,
		.synced = r->synced,
		.borrowed = &r->borrowed,
		.style = report_is_text(&r->tool->report) ? r->tool->out :
							    NULL,
		.note = trial_note,
		.arg = r,
	};
}

void trial_drop(struct repair *r)
{
	drop_check(r);
	bitmap_fini(&r->awaited);
	rollforward_free(r->synced);
	r->synced = NULL;
}

void trial_fini(struct repair *r)
{
	trial_drop(r);
	while (r->nleft)
		free_look(take_left(r, r->nleft - 1));
}

void trial_set_means(struct repair *r, enum decision_mode mode, bool overwrites)
{
	r->rebuild = mode == DECISION_MODE_YES_REBUILD ||
		     mode == DECISION_MODE_ASK_REBUILD;
	r->overwrites = overwrites;
	r->ask.mode = mode;
	r->derived = 0;
	r->nfailed = 0;
}

void trial_restart(struct repair *r, const struct trial_point *from)
{
	trial_drop(r);
	trial_return_to(r, from);
	r->looks++;
	r->nfailed = 0;
	r->asked_synced = r->no_orphan_data = false;
}
