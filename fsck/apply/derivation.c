// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair by derivation.
 *
 * The derived blocks are patches over the device first: the whole volume is
 * checked as if they had never been damaged.  If that is better, they are
 * written as blocks of their files to one more log, and the patches are
 * dropped.  The check after that must find no more than the one with them.
 */
#include "fsck/apply/derivation.h"

#include <errno.h>
#include <inttypes.h>

#include "dev/overlay.h"
#include "dev/patched.h"
#include "fsck/derive/derived.h"
#include "fsck/round.h"
#include "log/mend.h"
#include "log/metafile.h"

/* Kinds of repair whose findings a derivation may explain. */
static const enum rule_fix kinds[] = {
	RULE_FIX_DAT, RULE_FIX_ALLOCATOR, RULE_FIX_SEGMENTS,
	RULE_FIX_CHECKPOINTS, RULE_FIX_IFILE, RULE_FIX_INODES, RULE_FIX_MAPS,
	RULE_FIX_COUNTS,
};

/* Whether the user wants it, where something is found: 1, 0, -EINTR. */
static int is_wanted(struct repair *r, struct context *cx)
{
	struct look *l = repair_current(r);
	size_t i;
	int err;

	if (decision_of(r->ask.mode, RULE_DANGER_LOSES) != DECISION_MEND) {
		err = ask_stage(&r->ask, cx, &l->plan, RULE_STAGE_DAT);
		return err ? err :
		       r->ask.mode != DECISION_MODE_SAFE &&
		       (l->plan.kinds[RULE_FIX_DAT].n ||
			l->plan.kinds[RULE_FIX_ALLOCATOR].n);
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (l->plan.kinds[kinds[i]].n)
			return 1;
	return l->check.dat_broken;
}

/* Writes the derived blocks to the log of JOB. */
static int rewrite(struct fixer_job *job, struct context *cx,
		   const struct fix *fixes, size_t n)
{
	const struct derived *d = job->derived;
	size_t i;
	int err = 0;

	(void)fixes;
	(void)n;
	for (i = 0; i < d->n && !err; i++)
		err = metafile_touch(mend_file(job->writer, d->blocks[i].ino),
				     cx, 0, d->blocks[i].blkoff);
	return err ? err : mend_changed(job->writer, cx);
}

static void report(struct repair *r, const struct derived *d)
{
	struct fixer_job job = repair_job(r, &r->tool->cx);

	if (d->entries)
		fixers_tell(&job, "DAT: %" PRIu64 " entries restored from the "
			    "logs", d->entries);
	if (d->lost)
		fixers_tell(&job, "DAT: %" PRIu64 " entries freed that no log "
			    "lists", d->lost);
	fixers_tell(&job, "%zu %s of metadata restored", d->n,
		    d->n == 1 ? "block" : "blocks");
}

/* One more log with the blocks, on the overlay. */
static int write_log(struct repair *r, struct context *cx, struct derived *d)
{
	static const bool none[RULE_FIX_COUNT];
	struct round round = {
		.job = repair_job(r, cx),
		.stage = RULE_STAGE_DAT,
		.taken = none,
		.instead = rewrite,
	};
	int err;

	round.job.derived = d;
	err = round_run(&round, cx);
	if (!err)
		report(r, d);
	patched_drop(r->patched);
	return err;
}

/* Back to the device as it was before; LOOKED: R->now is of something else. */
static int go_back(struct repair *r, struct context *cx, struct derived *d,
		   size_t mark, bool looked)
{
	derived_drop(d);
	overlay_rewind(r->dev, mark);
	return looked ? repair_resume(r, cx) : 0;
}

static int try_derived(struct repair *r, struct context *cx, struct derived *d)
{
	size_t mark = overlay_mark(r->dev), nmended = r->mended.n;
	bool looked = false;
	int ret = derive_dat(d, cx, &repair_current(r)->check), err;

	if (!ret && d->n) {
		tool_detail(r->tool, "%zu blocks of metadata derived from the "
			    "logs", d->n);
		ret = repair_improves(r, cx);
		looked = ret > 0;
	}
	if (ret > 0) {
		ret = write_log(r, cx, d);
		ret = ret ? ret : repair_look(r, cx);
	}
	if (ret > 0)
		return 0;
	mended_rewind(&r->mended, nmended);
	ret = repair_tolerate(r, cx, ret);
	err = go_back(r, cx, d, mark, looked);
	return ret ? ret : err;
}

int derivation_run(struct repair *r, struct context *cx)
{
	struct derived d = { .dev = r->dev, .patched = r->patched };
	struct look *now = repair_current(r);
	int ret;

	if (r->derived == r->looks + 1 || !now->complete || !now->check.vol ||
	    !r->patched || repair_is_cut_off(now))
		return 0;
	ret = is_wanted(r, cx);
	if (ret > 0)
		ret = try_derived(r, cx, &d);
	derived_fini(&d);
	r->derived = r->looks + 1;
	return ret;
}
