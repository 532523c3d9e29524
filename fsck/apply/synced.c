// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data that was synced before a crash, and a repair.
 *
 * It lies in logs behind the latest super root, which the next mount puts into
 * their files, unless there is another log with a super root by then: each
 * round of a repair writes one.  So it comes first.  Where metadata is broken
 * no file can be written to; then its segments are not taken by any round, and
 * it comes last, when the sizes of files are known.
 */
#include "fsck/apply/synced.h"

#include <inttypes.h>

#include "dev/overlay.h"
#include "fsck/apply/forward.h"
#include "vol/salvage.h"

static void forget(struct repair *r)
{
	rollforward_free(r->synced);
	r->synced = NULL;
}

/* Writes it, if that makes nothing worse. */
static int write(struct repair *r, struct context *cx)
{
	size_t mark = overlay_mark(r->dev), nmended = r->mended.n;
	struct fixer_job job = repair_job(r, cx);
	int ret = forward_run(&job, cx, r->synced, &r->awaited);

	if (!ret)
		ret = repair_look(r, cx);
	if (ret > 0) {
		forget(r);
		return 0;
	}
	overlay_rewind(r->dev, mark);
	mended_rewind(&r->mended, nmended);
	return repair_tolerate(r, cx, ret);
}

/* A log would hide newer checkpoints that the chain does not lead to. */
static bool hides_checkpoints(const struct repair *r, const struct look *l)
{
	return findings_count(l->check.findings, RULE_LOG_CHAIN) &&
	       !r->given_up[RULE_FIX_ROOT];
}

int synced_first(struct repair *r, struct context *cx)
{
	struct look *l = repair_current(r);
	struct volume *vol = l->check.vol;
	bool sound;
	int ret;

	if (r->asked_synced || !l->complete || repair_is_cut_off(l) ||
	    hides_checkpoints(r, l) ||
	    !(forward_is_due(vol) || r->state.chosen))
		return 0;
	r->asked_synced = true;
	r->behind = vol->latest;
	sound = forward_is_possible(&l->check);
	ret = forward_collect(vol, cx, &r->behind, sound ? vol : NULL,
			      &r->synced, &r->awaited);
	r->no_data_behind = !ret;
	l->check.awaited = &r->awaited;
	if (ret <= 0)
		return repair_tolerate(r, cx, ret);
	return sound ? write(r, cx) : 0;
}

/* Collects it again, now that the files are sound, and writes it. */
static int write_last(struct repair *r, struct context *cx)
{
	struct volume *vol = repair_current(r)->check.vol;
	struct rollforward *rf;
	int ret = salvage_collect(vol, cx, &r->behind, vol, &rf);

	if (ret)
		return repair_tolerate(r, cx, ret);
	forget(r);
	r->synced = rf;
	return write(r, cx);
}

int synced_last(struct repair *r, struct context *cx)
{
	const struct look *l = repair_current(r);
	struct fixer_job job = repair_job(r, cx);
	int ret = 0;

	/* Without a log of this repair the next mount does it. */
	if (!r->synced || !l->complete ||
	    (l->check.vol->latest.orphans_start && !r->state.chosen))
		return 0;
	if (forward_is_possible(&l->check))
		ret = write_last(r, cx);
	if (r->synced)
		fixers_tell(&job, "logs from block %" PRIu64 " to %" PRIu64
			    ": given up", r->behind.orphans_start,
			    r->behind.orphans_end);
	return ret;
}
