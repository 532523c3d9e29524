// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state that superblocks declare after a repair.
 *
 * A volume without errors is marked as cleanly unmounted, so that the log that
 * superblocks name is taken for the latest, and as free of the errors that the
 * kernel met.
 */
#include "fsck/apply/settle.h"

#include <stdlib.h>

#include "dev/overlay.h"
#include "disk/super.h"
#include "fsck/apply/forward.h"
#include "log/newsupers.h"

/* Superblocks with STATE, on the overlay. */
static int write_state(struct repair *r, struct context *cx,
		       unsigned int state)
{
	struct volume *vol = repair_current(r)->check.vol;
	struct nilfs_super_block sb = *volume_super(vol);

	sb.s_state = le16_make((uint16_t)state);
	sb.s_wtime = le64_make((uint64_t)cx->now);
	sb.s_sum = le32_make(super_checksum(&sb));
	vol->super[vol->super_used] = sb;
	return newsupers_write(cx, r->dev, &sb, newsupers_offset2(vol));
}

int settle_run(struct repair *r, struct context *cx)
{
	const struct look *l = repair_current(r);
	unsigned int before, state;
	int ret;

	if (!l->check.vol ||
	    findings_count_severity(l->check.findings, RULE_ERROR))
		return 0;
	before = le16_get(volume_super(l->check.vol)->s_state);
	state = before;
	/* Marked so, the log that they name is taken for the latest. */
	if (overlay_is_changed(r->dev) && !forward_is_due(l->check.vol) &&
	    !l->check.vol->latest.passed)
		state |= NILFS_VALID_FS;
	if (l->state_error) {
		ret = ask_state(&r->ask, cx);
		if (ret < 0)
			return ret;
		if (ret)
			state &= ~(unsigned int)NILFS_ERROR_FS;
	}
	if (state == before)
		return 0;
	ret = write_state(r, cx, state);
	if (ret || !(before & ~state))
		return ret;
	repairlist_add(&r->repaired, "superblocks: no longer say that there were "
		       "errors");
	ret = repair_improves(r, cx);
	return ret < 0 ? ret : 0;
}
