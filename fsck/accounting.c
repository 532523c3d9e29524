// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the account of a repair compares.
 *
 * The state before the repair is that of a log on the device: the one that a
 * mount finds, or a newer one that the repair found where a mount does not get.
 * What the repair has appended to it is the state after.
 */
#include "fsck/accounting.h"

#include <string.h>

#include "fsck/account/account.h"
#include "fsck/index/loglist.h"

/* Whether the log of the latest state was there before the repair. */
static bool is_original(const struct repair *r, struct context *cx,
			const struct volume *vol)
{
	struct nilfs_segment_summary now, before;
	uint64_t off = vol->latest.pseg_start << vol->geo.block_bits;
	struct context quiet;
	bool is_read;

	context_child(cx, &quiet);
	is_read = !dev_read(r->under, &quiet, off, &before, sizeof(before)) &&
		  !dev_read(r->dev, &quiet, off, &now, sizeof(now));
	/* A repair may have set them right. */
	now.ss_datasum = before.ss_datasum;
	now.ss_sumsum = before.ss_sumsum;
	return is_read && !memcmp(&before, &now, sizeof(now));
}

void accounting_note(struct repair *r, struct context *cx,
		     const struct look *now)
{
	if (!now->check.vol || !is_original(r, cx, now->check.vol))
		return;
	r->base = now->check.vol->latest;
	r->has_base = true;
}

int accounting_run(struct repair *r, struct context *cx)
{
	const struct account_sides sides = {
		.under = r->under,
		.overlay = r->dev,
		.after = repair_current(r)->check.vol,
		.used = &r->first->check.used_segments,
		.base = r->has_base ? &r->base : NULL,
		.is_whole = r->first->check.vol &&
			    loglist_is_whole(&r->first->check) &&
			    !findings_count(r->first->check.findings,
					    RULE_SB_NO_SUPER_ROOT),
	};
	int err;

	if (!sides.after) {
		r->account.incomplete = true;
		return 0;
	}
	progress_begin(&r->tool->progress, "comparing", 0, false);
	err = account_run(&r->account, cx, &sides);
	progress_end(&r->tool->progress);
	return err;
}
