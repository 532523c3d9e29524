// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The states that the account of a repair compares, and the state that the
 * superblocks record after it.
 *
 * The state before the repair is that of a log on the device: the one that a
 * mount uses, or a newer one found by the repair that a mount does not reach.
 *
 * A volume without errors is marked as cleanly unmounted, so that a mount uses
 * the log that the superblocks name, and its error flag is cleared.
 */
#include "fsck/apply/repair.h"

#include <stdlib.h>
#include <string.h>

#include "check/logs/listings.h"
#include "check/logs/logbits.h"
#include "dev/overlay.h"
#include "disk/checkpoint.h"
#include "disk/super.h"
#include "fsck/account/account.h"
#include "log/newsupers.h"
#include "vol/cptable.h"

int accounting_settle(struct repair *r, struct context *cx)
{
	const struct look *l = trial_current(r);
	struct volume *vol = l->check.vol;
	unsigned int before, state;
	struct nilfs_super_block sb;
	int ret;

	if (!vol || improvement_errors(&l->check, false))
		return 0;
	sb = *volume_super(vol);
	state = before = le16_get(sb.s_state);
	/* With this flag a mount uses the log that the superblocks name. */
	if (overlay_is_changed(r->dev) && !forward_is_due(vol) &&
	    !vol->latest.passed)
		state |= NILFS_VALID_FS;
	if (l->state_error) {
		ret = plan_ask_state(&r->ask, cx);
		if (ret < 0)
			return ret;
		if (ret)
			state &= ~(unsigned int)NILFS_ERROR_FS;
	}
	if (state == before)
		return 0;
	sb.s_state = le16_make((uint16_t)state);
	sb.s_wtime = le64_make((uint64_t)cx->now);
	sb.s_sum = le32_make(super_checksum(&sb));
	vol->super[vol->super_used] = sb;
	ret = newsupers_write(cx, r->dev, &sb, newsupers_offset2(vol));
	if (ret || !(before & ~state))
		return ret;
	trial_note(r, "superblocks: error flag cleared");
	ret = trial_look(r, cx, IMPROVEMENT_ONLY);
	return ret < 0 ? ret : 0;
}

/* Adds the blocks from *NEXT to END, except those of logs whose checksum proves
   them. */
static int add_unread_gap(struct sparse *unread, struct context *cx,
			  struct logbits *lb, uint64_t *next, uint64_t end)
{
	uint64_t nblocks;
	int ret = 1;

	while (ret > 0 && *next < end) {
		ret = logbits_payload(lb, cx, *next, end - *next, &nblocks);
		if (ret > 0)
			*next += nblocks;
	}
	for (; *next < end && ret >= 0; ++*next)
		ret = sparse_add(unread, cx, *next);
	return ret < 0 ? ret : 0;
}

/* Adds the losses of snapshots that were given up, including those that only
   the repair had restored. */
static void name_unset(struct repair *r, struct context *cx,
		       struct volume *after)
{
	struct loss loss = { .kind = LOSS_MARK };
	struct nilfs_checkpoint cp;
	size_t i, k;

	for (i = 0; i < r->nunset; i++) {
		loss.cno = loss.last = r->unset[i];
		if (cptable_read(after, cx, loss.cno, &cp) ||
		    checkpoint_is_snapshot(&cp)) {
			fail_clear(cx);
			continue;
		}
		for (k = 0; k < r->account.n; k++)
			if (r->account.items[k].kind == LOSS_MARK &&
			    r->account.items[k].cno == loss.cno)
				break;
		loss.time = le64_get(cp.cp_create);
		if (k == r->account.n)
			losslist_add(&r->account, cx, &loss, NULL, 0);
	}
}

int accounting_run(struct repair *r, struct context *cx)
{
	const struct findings *f = r->first->check.findings;
	const struct check *now = &trial_current(r)->check;
	const struct bitmap *broken = r->broken.bits ?
		&r->broken : &r->first->check.broken_segments;
	struct logbits lb = { .dev = r->under };
	struct sparse unread = { 0 };
	const struct account_sides sides = {
		.unread = &unread,
		.under = r->under,
		.overlay = r->dev,
		.after = now->vol,
		.logs = now->logindex,
		.logs_under = r->first->logs_under,
		.used = r->used.bits ? &r->used :
				       &r->first->check.used_segments,
		.base = r->has_base ? &r->base : NULL,
		.files = now->files_known ? now->files : 0,
		.is_sound = !improvement_errors(now, false) &&
			    !findings_count(now->findings,
					    RULE_INODE_LINKS_UNKNOWN),
		.is_whole = r->first->check.vol &&
			    listings_are_whole(&r->first->check) &&
			    !findings_count(f, RULE_SB_NO_SUPER_ROOT) &&
			    !findings_count(f, RULE_LOG_CHAIN),
	};
	const struct nilfs_geometry *geo;
	struct logindex_log log;
	uint64_t segnum, next;
	struct listings_walk l;
	int ret, err;

	if (!sides.after || !sides.logs) {
		r->account.incomplete = true;
		return 0;
	}
	progress_begin(&r->tool->progress, "comparing", 0, false);
	/* Blocks of no readable log, in segments with unreadable logs: no
	   checksum proves their content. */
	lb.geo = geo = &now->vol->geo;
	err = sparse_init(&unread, cx, geo->nblocks);
	for (segnum = bitmap_next_set(broken, 0); segnum < broken->bits && !err;
	     segnum = bitmap_next_set(broken, segnum + 1)) {
		next = geometry_segment_start(geo, segnum);
		ret = listings_open(&l, cx, now, segnum);
		while (ret > 0 && !err &&
		       (ret = listings_next(&l, cx, &log)) > 0) {
			if (l.is_former)
				continue;
			err = add_unread_gap(&unread, cx, &lb, &next, log.pseg);
			next = log.pseg + log.nblocks;
		}
		if (ret >= 0 && !err)
			err = add_unread_gap(&unread, cx, &lb, &next,
					     geometry_segment_end(geo, segnum));
		err = ret < 0 ? ret : err;
	}
	logbits_fini(&lb);
	if (!err)
		err = account_run(&r->account, cx, &sides);
	if (!err)
		name_unset(r, cx, now->vol);
	sparse_fini(&unread);
	progress_end(&r->tool->progress);
	return err;
}
