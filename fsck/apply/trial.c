// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attempts: a change of the overlay, a check of the whole volume, and the
 * return to the state before it.
 *
 * Every step of a repair is made of these; none of them depends on the order of
 * the steps (rounds.c, states.c, repair.c).
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
#include "check/damage.h"
#include "dev/overlay.h"
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

static void free_look(const struct repair *r, struct look *l)
{
	if (!l || l == r->first)
		return;
	look_fini(l);
	free(l);
}

void trial_drop_check(struct repair *r)
{
	free_look(r, r->now);
	r->now = NULL;
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

int trial_look(struct repair *r, struct context *cx,
	       enum improvement_demand demand,
	       bool (*accepts)(void *arg, const struct look *now), void *arg)
{
	struct look *now = calloc(1, sizeof(*now)), *before = trial_current(r);
	const struct rule_info *worse;
	int ret;

	if (!now)
		return fail(cx, -ENOMEM, "repair");
	now->mode = before->mode;
	now->first = r->first;
	now->before = before;
	now->awaited = &r->awaited;
	now->state = &r->state;
	ret = look_run(now, r->tool, r->o, r->dev, false);
	if (!ret)
		ret = (now->complete || demand != IMPROVEMENT_SOUND) &&
		      improvement_meets(&now->check, &before->check, demand,
					&worse);
	if (!ret && (demand == IMPROVEMENT_ONLY ||
		     demand == IMPROVEMENT_DERIVED))
		tool_detail(r->tool, "no better than before: %s",
			    worse ? worse->slug : "no improvement");
	plan_forget(&r->ask, &now->plan);
	if (ret <= 0 || (accepts && !accepts(arg, now))) {
		free_look(r, now);
		return ret < 0 ? ret : 0;
	}
	look_mark_compared(now);
	free_look(r, before);
	r->now = now;
	r->looks++;
	ret = trial_note_state(r, cx, now);
	return ret ? ret : 1;
}

int trial_resume(struct repair *r, struct context *cx)
{
	int ret = trial_look(r, cx, IMPROVEMENT_ANY, NULL, NULL);

	return ret < 0 ? ret : 0;
}

struct trial_point trial_point(const struct repair *r)
{
	return (struct trial_point){
		.overlay = overlay_mark(r->dev),
		.nrepaired = r->repaired.n,
		.state = r->state,
	};
}

void trial_return_to(struct repair *r, const struct trial_point *to)
{
	overlay_rewind(r->dev, to->overlay);
	forget_lines(r, to->nrepaired);
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
	bool may_reclaim = r->o->undo_file &&
			   decision_of(r->ask.mode, RULE_DANGER_LOSES) ==
				   DECISION_REPAIR;
	struct trial_point from = trial_point(r);
	bool chosen;
	int ret;

	progress_begin(&r->tool->progress, "repairing", 0, false);
	ret = round_run(round, cx);
	r->no_room |= ret == -ENOSPC;
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
		ret = trial_look(r, cx, chosen ? IMPROVEMENT_ANY : demand,
				  NULL, NULL);
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
		.plan = &l->plan,
		.time = (uint64_t)cx->now,
		.rebuild = r->rebuild,
		.undo = r->o->undo_file,
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
	trial_drop_check(r);
	bitmap_fini(&r->awaited);
	rollforward_free(r->synced);
	r->synced = NULL;
	forget_lines(r, 0);
}

void trial_restart(struct repair *r, size_t mark)
{
	trial_drop(r);
	overlay_rewind(r->dev, mark);
	r->state.chosen = false;
	r->looks++;
	r->asked_synced = r->no_orphan_data = false;
}
