// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the account of a repair compares.
 *
 * The state before the repair is that of a log on the device: the one that a
 * mount finds, or a newer one that the repair found where a mount does not get.
 * What the repair has appended to it is the state after.
 */
#include "fsck/apply/accounting.h"

#include <string.h>

#include "check/lifelogs.h"
#include "check/listings.h"
#include "fsck/account/account.h"

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

/* Adds the blocks of SEGNUM that no readable log has. */
static int add_unread(struct sparse *unread, struct context *cx,
		      const struct check *c, uint64_t segnum)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t next = geometry_segment_start(geo, segnum);
	struct lifelogs l;
	struct log log;
	int ret = lifelogs_open(&l, cx, c, segnum), err = 0;

	while (ret > 0 && !err && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		if (l.is_former)
			continue;
		for (; next < log.pseg && err >= 0; next++)
			err = sparse_add(unread, cx, next);
		next = log.pseg + log.nblocks;
		err = err < 0 ? err : 0;
	}
	lifelogs_close(&l);
	for (; next < geometry_segment_end(geo, segnum) && ret >= 0 && err >= 0;
	     next++)
		err = sparse_add(unread, cx, next);
	return ret < 0 ? ret : err < 0 ? err : 0;
}

/*
 * Blocks in segments with logs that could not be read: no checksum says whether
 * they are what was written.
 */
static int find_unread(struct sparse *unread, struct context *cx,
		       const struct repair *r)
{
	const struct bitmap *broken = &r->first->check.broken_segments;
	const struct check *now = &repair_current(r)->check;
	uint64_t segnum = broken->bits ? bitmap_next_set(broken, 0) : 0;
	int err = sparse_init(unread, cx, now->vol->geo.nblocks);

	for (; segnum < broken->bits && !err;
	     segnum = bitmap_next_set(broken, segnum + 1))
		err = add_unread(unread, cx, now, segnum);
	return err;
}

int accounting_run(struct repair *r, struct context *cx)
{
	const struct findings *f = r->first->check.findings;
	struct sparse unread = { 0 };
	const struct account_sides sides = {
		.unread = &unread,
		.under = r->under,
		.overlay = r->dev,
		.after = repair_current(r)->check.vol,
		.used = &r->first->check.used_segments,
		.base = r->has_base ? &r->base : NULL,
		.is_whole = r->first->check.vol &&
			    listings_are_whole(&r->first->check) &&
			    !findings_count(f, RULE_SB_NO_SUPER_ROOT) &&
			    !findings_count(f, RULE_LOG_CHAIN),
	};
	int err;

	if (!sides.after) {
		r->account.incomplete = true;
		return 0;
	}
	progress_begin(&r->tool->progress, "comparing", 0, false);
	err = find_unread(&unread, cx, r);
	if (!err)
		err = account_run(&r->account, cx, &sides);
	sparse_fini(&unread);
	progress_end(&r->tool->progress);
	return err;
}
