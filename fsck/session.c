// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check of one volume, and its repair.
 *
 * The first check prints its findings immediately. Repairs and remaining
 * findings are printed after the commit. The summary of the volume at the end
 * comes from its headers, if all of them can be read.
 *
 * Counters are rebuilt without any other repair. A kernel without support for
 * live-block counts leaves them outdated. So only those passes run that show
 * whether DAT, logs and checkpoints can be trusted.
 */
#include "fsck/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/beyond.h"
#include "cli/terminal.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "find/findprint.h"
#include "fsck/apply/repair.h"
#include "log/directwriter.h"
#include "vol/cptable.h"
#include "vol/sutable.h"

enum decision_mode session_mode(const struct tool *tool,
				const struct options *o)
{
	if (o->mode == OPTIONS_AUTO)
		return DECISION_MODE_SAFE;
	if (o->mode == OPTIONS_YES)
		return DECISION_MODE_YES;
	return o->mode == OPTIONS_PLAIN && report_is_text(&tool->report) &&
			       terminal_of(STDIN_FILENO).is &&
			       terminal_of(STDOUT_FILENO).is ?
		       DECISION_MODE_ASK : DECISION_MODE_NO;
}

#define VERDICT_MAX 320

static void put_count(const struct session_summary *s, struct report *r,
		      const char *key, const char *label, uint64_t v)
{
	report_value(r, VALUE_U64, key, label,
		     s->counted ? value_u64(v) : value_absent());
}

void session_report(const struct session_summary *s, struct report *r)
{
	uint64_t errors = s->fatal + s->errors;
	char text[VERDICT_MAX];
	size_t n;

	if (!errors && !s->warnings)
		snprintf(text, VERDICT_MAX, s->repaired ? "repaired" : "clean");
	else
		snprintf(text, VERDICT_MAX,
			 "%s%" PRIu64 " error%s, %" PRIu64 " warning%s%s",
			 s->repaired ? "repaired, but " : "", errors,
			 errors == 1 ? "" : "s", s->warnings,
			 s->warnings == 1 ? "" : "s",
			 s->repaired ? " left" : "");
	n = strlen(text);
	if (s->losses)
		snprintf(text + n, VERDICT_MAX - n, ", %" PRIu64 " loss%s%s",
			 s->losses, s->losses == 1 ? "" : "es",
			 s->losses_known ? "" : " and perhaps more");
	else if (!s->losses_known)
		snprintf(text + n, VERDICT_MAX - n,
			 ", losses could not be determined");
	n = strlen(text);
	if (s->counted)
		snprintf(text + n, VERDICT_MAX - n, ", %" PRIu64 " files, "
			 "checkpoint %" PRIu64 ", %" PRIu64 "/%" PRIu64
			 " segments", s->files, s->cno, s->used_segments,
			 s->segments);
	if (report_is_text(r)) {
		report_text(r, "%s: %s", s->device, text);
		return;
	}
	report_begin(r, "summary", NULL);
	report_string(r, "device", "Device", s->device);
	report_value(r, VALUE_BOOL, "clean", "Clean",
		     value_bool(!s->fatal && !s->errors && s->losses_known));
	report_value(r, VALUE_BOOL, "complete", "Complete",
		     value_bool(s->complete));
	report_value(r, VALUE_BOOL, "repaired", "Repaired",
		     value_bool(s->repaired));
	report_u64(r, "losses", "Losses", s->losses);
	report_value(r, VALUE_BOOL, "losses_known", "Losses known",
		     value_bool(s->losses_known));
	report_u64(r, "fatal", "Fatal", s->fatal);
	report_u64(r, "errors", "Errors", s->errors);
	report_u64(r, "warnings", "Warnings", s->warnings);
	report_u64(r, "history", "History", s->history);
	report_value(r, VALUE_BOOL, "unmounted", "Unmounted",
		     s->open ? value_bool(s->unmounted) : value_absent());
	report_value(r, VALUE_BOOL, "error_state", "Error state",
		     s->open ? value_bool(s->has_errors) : value_absent());
	report_value(r, VALUE_U64, "checkpoint", "Checkpoint",
		     s->open ? value_u64(s->cno) : value_absent());
	put_count(s, r, "snapshots", "Snapshots", s->snapshots);
	put_count(s, r, "files", "Files", s->files);
	put_count(s, r, "segments", "Segments", s->segments);
	put_count(s, r, "used_segments", "Used segments", s->used_segments);
	report_end(r);
}

/* Runs the first check, whose findings are printed. */
static int run_look(struct repair *r, bool counts)
{
	struct report *report = &r->tool->report;
	int err;

	report_list(report, "findings");
	err = look_run(r->first, r->tool, r->o, r->dev, true);
	if (err)
		return err;
	report_end(report);
	if (counts)
		findprint_counts(report, r->first->check.findings,
				 r->o->everything);
	return 0;
}

/* Whether repairs are left because no segment was free for a log. */
static bool lacks_room(const struct repair *r, const struct look *last)
{
	return r->no_room && !plan_is_empty(&last->plan);
}

/* Prints notes about findings of L that were not repaired. */
static void note_left(const struct repair *r, const struct look *l)
{
	const struct look_broken *b = &l->broken;
	const struct options *o = r->o;
	const char *name = r->tool->argv[0];
	bool asked = session_mode(r->tool, o) != DECISION_MODE_NO;

	if (lacks_room(r, l))
		tool_note(r->tool, o->undo_file ?
			  "%s: no segment is free for a repair, and none can be "
			  "freed" :
			  "%s: no segment is free for a repair; -y --undo-file "
			  "FILE may take segments of old checkpoints", name);
	if (l->left && o->mode != OPTIONS_NO && !o->quick) {
		if (!asked)
			tool_note(r->tool, "%s: not on a terminal, so nothing "
				  "was repaired; -y repairs", name);
		else if (!r->under->writable)
			tool_note(r->tool, "%s: cannot be written to, so "
				  "nothing was repaired", name);
		else
			tool_note(r->tool, "%s: %" PRIu64 " finding%s left "
				  "that %s may repair at a cost", name, l->left,
				  l->left == 1 ? " is" : "s are",
				  l->mode == DECISION_MODE_SAFE ? "-y" :
								  "--rebuild");
	}
	/* A DAT whose blocks are all in the logs has been repaired. */
	if (l->check.dat_broken && !o->rebuild && r->under->writable && asked)
		tool_note(r->tool, "%s: the DAT is damaged and incomplete in "
			  "the logs; --rebuild uses the remaining blocks",
			  name);
	/* The remaining option for errors of snapshots after all repairs. */
	if (b->n && l->complete && o->mode == OPTIONS_YES)
		tool_note(r->tool, "%s: snapshot %" PRIu64 "%s cannot be "
			  "repaired; -y --give-up=snapshot=%" PRIu64 " converts "
			  "it to a plain checkpoint, -y --undo-file FILE all "
			  "such snapshots", name, b->cno[0],
			  b->n > 1 ? " and others" : "", b->cno[0]);
}

/* Prints what of the volume lies beyond the end of its device, and what to do. */
static int report_beyond(struct repair *r, const struct look *l)
{
	struct report *report = &r->tool->report;
	const char *name = r->tool->argv[0];
	char text[BEYOND_TEXT_MAX];
	struct beyond b;
	int ret = !r->o->quick &&
		  findings_count(l->check.findings, RULE_SB_DEVICE_SIZE) ?
		  beyond_find(&b, &r->tool->cx, r->under) : 0;

	if (ret <= 0)
		return ret;
	if (!report_is_text(report)) {
		beyond_report(&b, report);
		return 0;
	}
	beyond_text(&b, text);
	report_text(report, "beyond: the device has %" PRIu64 " bytes, its volume %"
		    PRIu64 ": %s", b.device, b.volume, text);
	if (r->under->is_block_device)
		report_text(report, "beyond: extend the device, for -y to repair it; or "
			    "-y --output NEW repairs a copy of that size");
	else
		report_text(report, "beyond: truncate -s %" PRIu64 " %s extends the "
			    "image file, for -y to repair it; or -y --output NEW "
			    "repairs a copy of that size", b.volume, name);
	if (beyond_is_nothing(&b) && !r->under->is_block_device)
		report_text(report, "beyond: or gc.nilfs2 --shrink=%" PRIu64 " %s makes "
			    "the volume fit", b.device, name);
	return 0;
}

/* Prints damaged files and the summary: 0, SESSION_REPAIRED or SESSION_UNCORRECTED; or
   fails as damaged_report(). */
static int print_result(struct repair *r, const struct look *l, bool repaired)
{
	struct context *cx = &r->tool->cx;
	const struct findings *f = l->check.findings;
	struct volume *vol = l->check.vol;
	struct session_summary s = {
		.device = r->tool->argv[0],
		.complete = l->complete,
		.repaired = repaired,
		.losses = losslist_count(&r->account),
		.losses_known = !r->account.more && !r->account.incomplete,
		.fatal = findings_count_severity(f, RULE_FATAL),
		.history = f->nhistory,
		.open = vol,
	};
	struct nilfs_cpfile_header cpfile = { 0 };
	struct nilfs_sufile_header sufile = { 0 };
	struct nilfs_checkpoint cp = { 0 };
	unsigned int state;
	uint64_t nclean;
	int err = report_beyond(r, l);

	/* With --share a finding may be of a block that was moved meanwhile. */
	if (!err && r->o->data && !r->o->share)
		err = damaged_report(&l->places, r->tool, &l->check,
				     r->o->everything);
	if (err)
		return err;
	s.errors = findings_count_severity(f, RULE_ERROR) - s.fatal;
	s.warnings = findings_count_severity(f, RULE_WARNING) - s.errors -
		     s.fatal;
	if (s.open) {
		state = le16_get(volume_super(vol)->s_state);
		s.unmounted = state & NILFS_VALID_FS;
		s.has_errors = state & NILFS_ERROR_FS;
		s.cno = vol->latest.cno;
		s.counted = !cptable_header(vol, cx, &cpfile) &&
			    !cptable_read(vol, cx, s.cno, &cp) &&
			    !sutable_header(vol, cx, &sufile);
		fail_clear(cx);
	}
	if (s.counted) {
		nclean = le64_get(sufile.sh_ncleansegs);
		s.files = le64_get(cp.cp_inodes_count);
		s.snapshots = le64_get(cpfile.ch_nsnapshots);
		s.segments = vol->geo.nsegments;
		/* The count in the SUFILE; a wrong count is a finding. */
		s.used_segments = nclean < s.segments ? s.segments - nclean : 0;
	}
	if (!r->tool->quiet || !report_is_text(&r->tool->report))
		session_report(&s, &r->tool->report);
	if (s.fatal || s.errors || !s.open)
		return SESSION_UNCORRECTED;
	return repaired ? SESSION_REPAIRED : 0;
}

static int run_check(struct repair *r, struct context *cx)
{
	const struct look *last = r->first, *l = last;
	const struct findings *f;
	const struct volume *vol;
	const char *why = NULL;
	bool repairs = l->mode != DECISION_MODE_NO, due;
	int ret = r->o->state ? states_take(r, cx) : 0;

	r->first->state = r->o->state ? &r->state : NULL;
	if (!ret)
		ret = run_look(r, true);
	if (ret)
		return ret;
	/*
	 * A recovery that every mount does needs no question. With --rebuild
	 * sound metadata is compared with derived metadata too; with --state an
	 * older state becomes the latest one.
	 */
	due = !plan_is_empty(&l->plan) || l->state_error ||
	      (repairs && l->mode != DECISION_MODE_ASK && l->complete &&
	       forward_is_due(l->check.vol)) ||
	      (repairs && r->o->rebuild &&
	       (l->left || (l->mode == DECISION_MODE_YES && l->complete))) ||
	      (repairs && r->o->state && l->complete) || giveup_next(r);
	if (due)
		ret = repair_run(r, cx);
	if (ret > 0)
		ret = accounting_run(r, cx) ?: repair_commit(r, cx) ?: 1;
	if (ret < 0)
		return ret;
	f = l->check.findings;
	vol = l->check.vol;
	if (ret) {
		repair_report(r, &r->tool->report);
		losslist_report(&r->account, &r->tool->report,
				r->tool->verbose);
		if (r->now)
			look_report_kept(r->now, &r->tool->report, "left");
		last = trial_current(r);
	} else if (due && r->too_lossy) {
		tool_note(r->tool, "%s: nothing was changed: repairs would "
			  "keep only %" PRIu64 " of %" PRIu64 " files; "
			  "--rebuild accepts that", r->tool->argv[0],
			  r->losses.left, r->losses.files);
	} else if (due && findings_count(f, RULE_SB_DEVICE_SIZE) && !r->rounds) {
		why = ": the device is smaller than its volume";
	} else if (due && !vol && r->o->mode == OPTIONS_YES) {
		why = ": no usable starting log found";
	} else if (due && findings_count(f, RULE_SB_WIPED)) {
		why = ": the first superblock was wiped or overwritten, which "
		      "may be intended; -y restores it";
	} else if (due && r->rounds) {
		why = ": no repair was an improvement";
	} else if (due && vol && vol->latest.orphans_start) {
		why = " because of the logs after the latest checkpoint: "
		      "a mount recovers them, -y gives them up";
	}
	if (why)
		tool_note(r->tool, "%s: nothing was changed%s",
			  r->tool->argv[0], why);
	note_left(r, last);
	ret = print_result(r, last, ret);
	return ret >= 0 && lacks_room(r, last) ? SESSION_UNCORRECTED : ret;
}

static bool is_sound(const struct look *l)
{
	return l->check.vol && l->complete &&
	       !findings_count_severity(l->check.findings, RULE_ERROR);
}

/*
 * Rolls back on R's overlay, checks the result, and commits it if it is sound.
 * It may have files that were deleted while they were open in that checkpoint.
 * A damaged volume must be repaired first.
 */
static int roll_back(struct repair *r, struct context *cx)
{
	char place[PLACE_TEXT_MAX] = "cannot be read";
	const char *text = "incomplete";
	const struct look_kept *k;
	uint64_t cno = 0;
	int err = run_look(r, true);
	size_t i;

	if (err)
		return err;
	if (!is_sound(r->first)) {
		tool_warn(r->tool, "%s: damaged, no rollback; repair it with -y",
			  r->tool->argv[0]);
		return print_result(r, r->first, false);
	}
	err = rollback_run(r, cx, r->o->rollback.moment, &cno) ?:
	      trial_resume(r, cx);
	if (!err && is_sound(r->now))
		err = repair_commit(r, cx);
	if (err)
		return err;
	/* The first error in the result. */
	k = &r->now->kept;
	for (i = 0; i < k->n && !is_sound(r->now); i++) {
		const struct rule_info *rule = rule_info(k->findings[i].rule);

		if (rule->severity < RULE_ERROR)
			continue;
		findprint_place(&k->findings[i].place, place);
		text = rule->text;
		break;
	}
	if (!is_sound(r->now))
		return fail(cx, -EUCLEAN, "%s: checkpoint %" PRIu64 " is "
			    "damaged: %s: %s; nothing was changed",
			    r->tool->argv[0], cno, place, text);
	repair_report(r, &r->tool->report);
	look_report_kept(r->now, &r->tool->report, "left");
	return print_result(r, r->now, true);
}

/* Runs instead of all fixers. */
static int rebuild_counters(struct fixer_job *job, struct context *cx)
{
	const struct findings *f = job->check->findings;
	const struct finding recount = { .rule = RULE_SU_NLIVE };
	uint64_t changed;
	void *header;
	bool stale;
	int err = fix_segments_all(job, cx, NULL, &changed) ?:
		  fix_counts(job, cx, &recount, 1);

	if (err)
		return err;
	/* A wrong header is sufficient reason for a new log. */
	stale = job->vol->geo.has_live_blks &&
		sutable_is_exact(job->vol, cx) != 1;
	fail_clear(cx);
	if (stale || findings_count(f, RULE_SU_NCLEAN) ||
	    findings_count(f, RULE_SU_NDIRTY)) {
		fixers_note(job, "segment usage file: header rebuilt");
		err = metafile_change(
			directwriter_file(job->writer, NILFS_SUFILE_INO), cx, 0,
			&header, NULL);
	}
	return err ? err : directwriter_changed(job->writer, cx);
}

static int recount_blocks(struct repair *r, struct context *cx)
{
	struct round round = {
		.stage = RULE_STAGE_METADATA,
		.begin = rebuild_counters,
	};
	const struct check *c = &r->first->check;
	const struct rule_info *rule;
	bool errors;
	int ret = run_look(r, false);
	size_t i;

	if (ret)
		return ret;
	/* Errors that would make the counts wrong. Errors of the SUFILE are
	   repaired here, and those of zones do not affect counts. */
	errors = !c->vol || c->dat_broken;
	for (i = 0; (rule = rule_at(i)) && !errors; i++)
		errors = rule->severity >= RULE_ERROR &&
			 rule->fix != RULE_FIX_SEGMENTS &&
			 rule->second != RULE_FIX_SEGMENTS &&
			 rule->fix != RULE_FIX_COUNTS &&
			 rule->fix != RULE_FIX_ZONES &&
			 rule->fix != RULE_FIX_LOG &&
			 findings_count(c->findings, rule->rule);
	if (errors) {
		tool_note(r->tool, "%s: nothing was counted: repair the errors "
			  "first", r->tool->argv[0]);
		return SESSION_UNCORRECTED;
	}
	if (c->vol->latest.orphans_start)
		return fail(cx, -EBUSY, "%s: not cleanly unmounted; mount it or "
			    "repair it with -y first", r->tool->argv[0]);
	round.job = trial_job(r, cx);
	ret = round_run(&round, cx);
	if (ret)
		return ret;
	if (overlay_is_changed(r->dev))
		ret = repair_commit(r, cx) ?: SESSION_REPAIRED;
	else
		tool_note(r->tool, "%s: the counters of all segments are correct",
			  r->tool->argv[0]);
	if (ret >= 0)
		repair_report(r, &r->tool->report);
	return ret;
}

int session_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	bool counters = o->mode == OPTIONS_COUNTERS;
	struct look l = { .mode = session_mode(tool, o) };
	struct repair r = {
		.tool = tool, .o = o, .under = dev, .first = &l,
		.ask = { .tool = tool, .fd = STDIN_FILENO },
		.overwrites = o->undo_file,
	};
	int err = 0;

	if (!dev->writable || o->quick)
		l.mode = DECISION_MODE_NO;
	r.ask.mode = l.mode;
	if (l.mode != DECISION_MODE_NO || o->rollback.wanted || counters)
		tool_promise(tool);
	if (!counters && !o->rollback.wanted)
		err = patched_open(&r.patched, &tool->cx, dev);
	if (!err)
		err = overlay_open(&r.dev, &tool->cx,
				   r.patched ? r.patched : dev, false);
	if (!err && o->share)
		err = shared_run(&l, tool, o, r.dev) ?:
		      print_result(&r, &l, false);
	else if (!err)
		err = counters ? recount_blocks(&r, &tool->cx) :
		      o->rollback.wanted ? roll_back(&r, &tool->cx) :
					   run_check(&r, &tool->cx);
	repair_fini(&r);
	look_fini(&l);
	dev_close(r.dev);
	dev_close(r.patched);
	return err;
}
