// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check of one volume.
 *
 * The passes know neither the terminal nor the options; what they find, note
 * and have done goes through here.  At boot a volume that was unmounted, with
 * sound superblocks and no word of an error, is taken for clean: what is read
 * for that does not grow with the volume.
 */
#include "fsck/session.h"

#include "find/tell.h"
#include "fsck/check.h"
#include "fsck/passes.h"
#include "fsck/summary.h"

static void tell(void *arg, const struct finding *f)
{
	struct tool *tool = arg;

	tell_finding(&tool->report, f);
}

/* What there is to do was an estimate, from a volume that may be damaged. */
static void show_progress(void *arg, uint64_t done)
{
	struct tool *tool = arg;
	struct progress *p = &tool->progress;

	progress_update(p, p->total && done > p->total ? p->total : done);
}

static void note(void *arg, const char *text)
{
	struct tool *tool = arg;

	tool_note(tool, "%s: %s", tool->argv[0], text);
}

static bool is_clean(const struct check *c)
{
	unsigned int state = le16_get(volume_super(c->vol)->s_state);

	return (state & NILFS_VALID_FS) && !(state & NILFS_ERROR_FS) &&
	       !findings_count_severity(c->findings, RULE_ERROR);
}

static bool is_enough(const struct check *c, const struct options *o)
{
	return o->quick ||
	       (o->mode == OPTIONS_AUTO && !o->force && is_clean(c));
}

static int run_pass(struct tool *tool, struct check *c,
		    const struct pass *pass)
{
	uint64_t total = pass->estimate ? pass->estimate(c) : 0;
	int err = context_cancelled(&tool->cx);

	if (err)
		return err;
	tool_detail(tool, "%s: %s", pass->name, pass->doing);
	progress_begin(&tool->progress, pass->doing, total, false);
	err = pass->run(c, &tool->cx);
	progress_end(&tool->progress);
	return err;
}

/* Sets *COMPLETE where there was no reason to leave anything out. */
static int run_passes(struct tool *tool, struct check *c,
		      const struct options *o, bool *complete)
{
	const struct pass *pass;
	int err = pass_super(c, &tool->cx);
	size_t i;

	if (err || !c->vol || is_enough(c, o))
		return err;
	for (i = 0; (pass = passes_at(i)) && !err; i++)
		err = run_pass(tool, c, pass);
	*complete = !err;
	return err;
}

static int check(struct tool *tool, const struct options *o, struct check *c)
{
	struct report *r = &tool->report;
	struct summary s = { .device = tool->argv[0] };
	int err;

	report_list(r, "findings");
	err = run_passes(tool, c, o, &s.complete);
	if (err)
		return err;
	check_reads(c);
	report_end(r);
	tell_counts(r, c->findings, o->everything);
	summary_gather(&s, &tool->cx, c);
	if (!tool->quiet || !report_is_text(r))
		summary_report(&s, r);
	return s.fatal || s.errors || !s.open ? SESSION_UNCORRECTED : 0;
}

int session_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct check c = {
		.dev = dev,
		.data = o->data,
		.progress = show_progress,
		.progress_arg = tool,
		.note = note,
		.note_arg = tool,
	};
	int err = findings_open(&c.findings, &tool->cx, tell, tool,
				o->everything);

	if (!err)
		err = check(tool, o, &c);
	check_fini(&c);
	findings_close(c.findings);
	return err;
}
