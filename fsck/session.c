// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check of one volume, and its repair.
 *
 * The first look is told as it goes; what was mended, and what is left then,
 * once it is on the device.
 */
#include "fsck/session.h"

#include "dev/overlay.h"
#include "find/tell.h"
#include "fsck/look.h"
#include "fsck/repair.h"
#include "fsck/summary.h"

static void tell(void *arg, const struct finding *f)
{
	struct tool *tool = arg;

	tell_finding(&tool->report, f);
}

static enum decision_mode mode_of(const struct options *o)
{
	switch (o->mode) {
	case OPTIONS_AUTO:
		return DECISION_MODE_SAFE;
	case OPTIONS_YES:
		return o->rebuild ? DECISION_MODE_YES_REBUILD :
				    DECISION_MODE_YES;
	default:
		return DECISION_MODE_NO;
	}
}

static int look(struct tool *tool, const struct options *o, struct dev *dev,
		struct look *l)
{
	struct report *r = &tool->report;
	int err;

	report_list(r, "findings");
	err = look_run(l, tool, o, dev, tell, tool, false);
	if (err)
		return err;
	report_end(r);
	tell_counts(r, l->check.findings, o->everything);
	return 0;
}

/* 0, SESSION_MENDED or SESSION_UNCORRECTED, by what is left. */
static int conclude(struct tool *tool, const struct look *l, bool mended)
{
	struct summary s = {
		.device = tool->argv[0],
		.complete = l->complete,
	};

	summary_gather(&s, &tool->cx, &l->check);
	if (!tool->quiet || !report_is_text(&tool->report))
		summary_report(&s, &tool->report);
	if (s.fatal || s.errors || !s.open)
		return SESSION_UNCORRECTED;
	return mended ? SESSION_MENDED : 0;
}

static int mend(struct repair *r, struct context *cx)
{
	int ret = repair_run(r, cx);

	if (ret > 0) {
		ret = repair_commit(r, cx);
		return ret ? ret : 1;
	}
	if (!ret)
		tool_note(r->tool, "%s: nothing was changed: no repair made "
			  "it better", r->tool->argv[0]);
	return ret;
}

static int check(struct tool *tool, const struct options *o, struct dev *dev,
		 struct look *l)
{
	struct repair r = { .tool = tool, .o = o, .dev = dev, .first = l };
	int ret = look(tool, o, dev, l);

	if (ret)
		return ret;
	if (plan_is_empty(&l->plan) && !l->state_error)
		return conclude(tool, l, false);
	ret = mend(&r, &tool->cx);
	if (ret > 0)
		mended_report(&r.mended, &tool->report);
	if (ret >= 0)
		ret = conclude(tool, ret && r.looked ? &r.now : l, ret);
	repair_fini(&r);
	return ret;
}

int session_run(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct look l = { .mode = mode_of(o) };
	struct dev *overlay = NULL;
	int err;

	err = overlay_open(&overlay, &tool->cx, dev);
	if (!err)
		err = check(tool, o, overlay, &l);
	look_fini(&l);
	dev_close(overlay);
	return err;
}
