// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A repair from its first step to the commit.
 *
 * All steps change the overlay (trial.c), so the device only gets changes that
 * were checked as a whole. Nothing is printed before the commit, because a
 * repair that is undone must not be reported.
 */
#include "fsck/apply/repair.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dev/overlay.h"
#include "dev/zone.h"
#include "disk/super.h"
#include "fsck/apply/undo.h"
#include "fsck/witness/witness.h"

void repair_report(const struct repair *r, struct report *report)
{
	bool text = report_is_text(report);
	size_t i;

	if (!text)
		report_list(report, "repairs");
	for (i = 0; i < r->repaired.n; i++) {
		if (text) {
			report_text(report, "repaired: %s",
				    r->repaired.lines[i]);
			continue;
		}
		report_begin(report, "repair", NULL);
		report_string(report, "text", "Text", r->repaired.lines[i]);
		report_end(report);
	}
	if (!text)
		report_end(report);
	else if (r->repaired.more)
		report_text(report, "repaired: %" PRIu64 " more",
			    r->repaired.more);
}

int repair_run(struct repair *r, struct context *cx)
{
	/* Otherwise a mount finds the state of the first check, if any. */
	int err = r->o->state ? trial_note_state(r, cx, r->first) : 0;

	r->overwrites = false;
	if (!err)
		err = trial_begin(r, cx) ?: fix_bits_run(r, cx);
	if (!err && r->ask.mode == DECISION_MODE_SAFE && stages_is_wiped(r)) {
		overlay_drop(r->dev);
		return 0;
	}
	if (!err)
		err = states_run(r, cx);
	/* Releases that are left, and were not verified by each check. */
	if (!err && r->now && r->now->complete &&
	    decision_of(r->ask.mode, RULE_DANGER_LOSES) == DECISION_REPAIR)
		err = witness_verify(&r->now->check, cx);
	/* A repair that loses most of the files is rejected, unless everything
	   is to be rebuilt. */
	r->too_lossy = !err && r->now && !r->o->rebuild &&
		   improvement_loses_most(cx, &r->now->check, &r->first->check,
					  &r->losses);
	if (r->too_lossy)
		overlay_drop(r->dev);
	else if (!err)
		err = accounting_settle(r, cx);
	return err ? err : overlay_is_changed(r->dev);
}

/* In a sequential zone the place of the second superblock is part of a segment.
   The first superblock is written last if the second one is not valid. */
int repair_commit(struct repair *r, struct context *cx)
{
	uint64_t supers[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->dev->size)
	};
	const struct volume *vol = trial_current(r)->check.vol;
	struct undo_volume saved = { .supers = { supers[0], supers[1] } };
	unsigned int n = zone_is_in_place(r->dev->zones, supers[1]) ? 2 : 1;
	struct nilfs_super_block second;
	int err = context_cancelled(cx);

	if (vol) {
		memcpy(saved.uuid, volume_super(vol)->s_uuid,
		       sizeof(saved.uuid));
		saved.block_size = 1u << vol->geo.block_bits;
	}
	if (!err && r->o->undo_file)
		err = undo_save(cx, r->o->undo_file, r->dev, r->under, &saved);
	if (err)
		return err;
	if (n == 2 && (dev_read(r->under, cx, supers[1], &second,
				sizeof(second)) ||
		       super_check(&second) != RULE_OK)) {
		supers[0] = saved.supers[1];
		supers[1] = saved.supers[0];
	}
	fail_clear(cx);
	return overlay_commit_last(r->dev, cx, supers, n);
}

void repair_fini(struct repair *r)
{
	trial_fini(r);
	bitmap_fini(&r->used);
	bitmap_fini(&r->broken);
	while (r->repaired.n)
		free(r->repaired.lines[--r->repaired.n]);
	free(r->repaired.lines);
	losslist_fini(&r->account);
	free(r->unset);
	free(r->failed);
	free(r->rejected);
}
