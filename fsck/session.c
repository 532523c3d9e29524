// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check of one volume, and its repair.
 *
 * The first look is printed as it goes; what was repaired, and what is left
 * then, once it is on the device.
 */
#include "fsck/session.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "find/findprint.h"
#include "fsck/apply/repair.h"
#include "fsck/apply/round.h"
#include "fsck/plan/look.h"
#include "fsck/summary.h"

enum decision_mode session_mode(const struct tool *tool,
				const struct options *o)
{
	return options_decision(o, report_is_text(&tool->report) &&
				terminal_is(STDIN_FILENO) &&
				terminal_is(STDOUT_FILENO));
}

static int run_look(struct tool *tool, const struct options *o, struct dev *dev,
		    struct look *l)
{
	struct report *r = &tool->report;
	int err;

	report_list(r, "findings");
	err = look_run(l, tool, o, dev, true);
	if (err)
		return err;
	report_end(r);
	findprint_counts(r, l->check.findings, o->everything);
	return 0;
}

/* What the user might want to know of what was not repaired. */
static void note_left(struct tool *tool, const struct options *o,
		      const struct dev *dev, const struct look *l)
{
	const char *name = tool->argv[0];

	if (!l->left || o->mode == OPTIONS_NO || o->quick)
		return;
	if (session_mode(tool, o) == DECISION_MODE_NO)
		tool_note(tool, "%s: not on a terminal, so nothing was "
			  "repaired; -y repairs", name);
	else if (!dev->writable)
		tool_note(tool, "%s: cannot be written to, so nothing was "
			  "repaired", name);
	else
		tool_note(tool, "%s: %" PRIu64 " finding%s left that %s "
			  "may repair at a cost", name, l->left,
			  l->left == 1 ? " is" : "s are",
			  l->mode == DECISION_MODE_SAFE ? "-y" : "--rebuild");
}

/* The way out where errors of snapshots are left after all repairs. */
static void note_broken(struct tool *tool, const struct options *o,
			const struct look *l)
{
	const struct look_broken *b = &l->broken;
	const char *name = tool->argv[0];

	if (!b->n || !l->complete || o->mode != OPTIONS_YES)
		return;
	tool_note(tool, "%s: snapshot %" PRIu64 "%s cannot be repaired; -y "
		  "--give-up=snapshot=%" PRIu64 " makes a plain checkpoint of it, "
		  "-y --undo-file FILE of all of them", name, b->cno[0],
		  b->n > 1 ? " and others" : "", b->cno[0]);
}

/* A DAT that is in the logs whole was repaired before it is left. */
static void note_dat(struct tool *tool, const struct options *o,
		     const struct dev *dev, const struct look *l)
{
	if (l->check.dat_broken && !o->rebuild && dev->writable &&
	    session_mode(tool, o) != DECISION_MODE_NO)
		tool_note(tool, "%s: its DAT is broken, and not whole in the "
			  "logs; --rebuild makes it of what there is",
			  tool->argv[0]);
}

/* 0, SESSION_REPAIRED or SESSION_UNCORRECTED, by what is left. */
static int print_result(struct tool *tool, const struct look *l, bool repaired,
			const struct losslist *losses)
{
	struct summary s = {
		.device = tool->argv[0],
		.complete = l->complete,
		.repaired = repaired,
		.losses = losslist_count(losses),
		.losses_known = !losses->more && !losses->incomplete,
	};

	summary_gather(&s, &tool->cx, &l->check);
	if (!tool->quiet || !report_is_text(&tool->report))
		summary_report(&s, &tool->report);
	if (s.fatal || s.errors || !s.open)
		return SESSION_UNCORRECTED;
	return repaired ? SESSION_REPAIRED : 0;
}

static void note_nothing(const struct repair *r)
{
	const struct volume *vol = r->first->check.vol;
	const char *name = r->tool->argv[0];

	if (r->grave)
		tool_note(r->tool, "%s: nothing was changed: of %" PRIu64
			  " files repairs would leave %" PRIu64 "; --rebuild "
			  "does that", name, r->losses.files, r->losses.left);
	else if (!vol && r->o->mode == OPTIONS_YES)
		tool_note(r->tool, "%s: nothing was changed: there is no "
			  "superblock to begin with", name);
	else if (findings_count(r->first->check.findings, RULE_SB_WIPED))
		tool_note(r->tool, "%s: nothing was changed: the first "
			  "superblock was wiped or overwritten, which may be "
			  "intended; -y brings it back", name);
	else if (r->rounds)
		tool_note(r->tool, "%s: nothing was changed: no repair made "
			  "it better", name);
	else if (findings_count(r->first->check.findings,
				RULE_SB_DEVICE_SIZE))
		tool_note(r->tool, "%s: nothing was changed: the device is "
			  "smaller than its volume", name);
	else if (vol && vol->latest.orphans_start)
		tool_note(r->tool, "%s: nothing was changed, for the sake of "
			  "the logs after the latest checkpoint: a mount "
			  "brings them back, -y gives them up", name);
}

/* A log had no place: then something is left, if nothing made one. */
static bool lacks_room(const struct repair *r, const struct look *last)
{
	return r->no_room && !plan_is_empty(&last->plan);
}

static void note_room(const struct repair *r, const struct look *last)
{
	const char *name = r->tool->argv[0];

	if (!lacks_room(r, last))
		return;
	if (r->o->undo_file)
		tool_note(r->tool, "%s: no segment is free for a repair, nor "
			  "to be had for one", name);
	else
		tool_note(r->tool, "%s: no segment is free for a repair; with "
			  "-y --undo-file FILE it may take those of old "
			  "checkpoints", name);
}

/* 1 where something was repaired, 0 where not, or a failure. */
static int run_repair(struct repair *r, struct context *cx)
{
	int ret = repair_run(r, cx);

	if (ret > 0) {
		ret = accounting_run(r, cx);
		if (!ret)
			ret = repair_commit(r, cx);
		return ret ? ret : 1;
	}
	if (!ret)
		note_nothing(r);
	return ret;
}

/* LOSSES is NULL where giving up the present state was what was asked for. */
static void print_repairs(struct tool *tool, const struct repair *r,
			  const struct losslist *losses)
{
	repairlist_report(&r->repaired, &tool->report);
	if (losses)
		losslist_report(losses, &tool->report, tool->verbose);
	if (r->now)
		look_report_kept(r->now, &tool->report, "left");
}

/* What every mount does needs no question. */
static bool is_forward_due(const struct look *l)
{
	return l->mode != DECISION_MODE_NO && l->mode != DECISION_MODE_ASK &&
	       l->complete &&
	       forward_is_due(l->check.vol);
}

/* What looks sound is compared with what is derived as well. */
static bool is_rebuild_due(const struct look *l, const struct options *o)
{
	return o->rebuild && l->mode != DECISION_MODE_NO &&
	       (l->left || (l->mode == DECISION_MODE_YES && l->complete));
}

/* An older state is to become the latest one. */
static bool is_state_due(const struct look *l, const struct options *o)
{
	return o->state && l->mode != DECISION_MODE_NO && l->complete;
}

static int run_check(struct tool *tool, const struct options *o,
		     struct dev *dev,
		     struct dev *patched, struct dev *overlay, struct look *l)
{
	struct repair r = {
		.tool = tool, .o = o, .dev = overlay, .under = dev, .first = l,
		.patched = patched,
		.ask = { .tool = tool, .mode = l->mode, .fd = STDIN_FILENO },
	};
	const struct look *last = l;
	int ret = o->state ? states_take(&r, &tool->cx) : 0;

	l->state = o->state ? &r.state : NULL;
	if (!ret)
		ret = run_look(tool, o, overlay, l);
	if (!ret && (!plan_is_empty(&l->plan) || l->state_error ||
		     is_forward_due(l) || is_rebuild_due(l, o) ||
		     is_state_due(l, o) || giveup_is_due(&r)))
		ret = run_repair(&r, &tool->cx);
	if (ret > 0) {
		print_repairs(tool, &r, &r.account);
		last = r.now ? r.now : l;
	}
	if (ret >= 0) {
		note_room(&r, last);
		note_left(tool, o, dev, last);
		note_dat(tool, o, dev, last);
		note_broken(tool, o, last);
		ret = print_result(tool, last, ret, &r.account);
		if (ret >= 0 && lacks_room(&r, last))
			ret = SESSION_UNCORRECTED;
	}
	repair_fini(&r);
	l->state = NULL;
	return ret;
}

static bool is_sound(const struct look *l)
{
	return l->check.vol && l->complete &&
	       !findings_count_severity(l->check.findings, RULE_ERROR);
}

/* Fails with the first error of the look at what a rollback came to. */
static int refuse_rollback(const struct repair *r, struct context *cx)
{
	const struct look_kept *k = &r->now->kept;
	char place[PLACE_TEXT_MAX] = "cannot be read";
	const char *text = "not all of it is there";
	size_t i;

	for (i = 0; i < k->n; i++) {
		const struct rule_info *rule = rule_info(k->findings[i].rule);

		if (rule->severity < RULE_ERROR)
			continue;
		place_text(&k->findings[i].place, place);
		text = rule->text;
		break;
	}
	return fail(cx, -EUCLEAN, "%s: checkpoint %" PRIu64 " is damaged: %s: "
		    "%s; nothing was changed", r->tool->argv[0],
		    r->o->rollback.cno, place, text);
}

/*
 * Goes back on R's overlay, looks again, and keeps it if it is sound still.  It may
 * have files that were deleted while they were open, as that checkpoint has.
 */
static int roll_back(struct repair *r, struct context *cx)
{
	struct fixer_job job = repair_job(r, cx);
	int err = rollback_run(&job, cx, r->o->rollback.cno);

	if (!err)
		err = repair_resume(r, cx);
	if (err)
		return err;
	return is_sound(r->now) ? repair_commit(r, cx) :
				  refuse_rollback(r, cx);
}

/* What is damaged is to be repaired first: how would one know what is old? */
static int go_back(struct tool *tool, const struct options *o,
		   struct dev *dev, struct dev *overlay, struct look *l)
{
	struct repair r = {
		.tool = tool, .o = o, .dev = overlay, .under = dev, .first = l,
	};
	int ret = run_look(tool, o, overlay, l);

	if (!ret && !is_sound(l)) {
		tool_warn(tool, "%s: damaged, so no rollback; -y repairs",
			  tool->argv[0]);
		ret = print_result(tool, l, false, &r.account);
	} else if (!ret) {
		ret = roll_back(&r, &tool->cx);
		if (!ret)
			print_repairs(tool, &r, NULL);
		if (!ret)
			ret = print_result(tool, r.now, true, &r.account);
	}
	repair_fini(&r);
	return ret;
}

int session_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct look l = { .mode = session_mode(tool, o) };
	struct dev *patched = NULL, *overlay = NULL;
	int err;

	if (!dev->writable || o->quick)
		l.mode = DECISION_MODE_NO;
	if (l.mode != DECISION_MODE_NO || o->rollback.wanted)
		tool_promise(tool);
	err = patched_open(&patched, &tool->cx, dev);
	if (!err)
		err = overlay_open(&overlay, &tool->cx, patched);
	if (!err)
		err = o->rollback.wanted ? go_back(tool, o, dev, overlay, &l) :
				run_check(tool, o, dev, patched, overlay, &l);
	look_fini(&l);
	dev_close(overlay);
	dev_close(patched);
	return err;
}
