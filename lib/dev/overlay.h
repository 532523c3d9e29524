/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device whose writes are buffered, to be committed or dropped together.
 *
 * The result can be checked by reading through it, before the device underneath
 * changes.
 */
#ifndef NILFS2_DEV_OVERLAY_H
#define NILFS2_DEV_OVERLAY_H

#include "dev/dev.h"

/* The part of the memory budget that the pages of an overlay take: 1 / this. */
#define OVERLAY_SHARE 4
#define OVERLAY_TRIAL_SHARE 8	/* a trial often lies upon another */

/*
 * An overlay over UNDER (borrowed).  It can be written to even where UNDER
 * cannot; only the commit needs that.  Writes cost memory until then, and past
 * their share of the budget of CX room in CX->scratch_dir: -ENOMEM where there is none.
 * Discards and flushes are forgotten.  One that was made another size than UNDER has can
 * only be dropped: a commit is -EOPNOTSUPP.
 *
 * The zones of UNDER are its own, too.  Its write pointers go on from those of
 * UNDER; a write that does not follow them is -EIO at once.  Zones are reset
 * and finished as on any device, at the commit.
 */
int overlay_open(struct dev **devp, struct context *cx, struct dev *under);

/*
 * The same for what is dropped in the end: a commit is -EOPNOTSUPP.  Pages are
 * larger, where zones have no say, so that they cost less memory and time.
 */
int overlay_open_trial(struct dev **devp, struct context *cx,
		       struct dev *under);

/*
 * Writes the last state of all that was changed to UNDER, none of those on the
 * way: first all but the pages (OVERLAY_PAGE_BYTES) of the N bytes LATE, and a
 * flush, then these one after another, each flushed.  Until the first of them
 * is there, what LATE names is as before.  After a failure everything is still
 * in the overlay.
 *
 * On a device with zones, a commit begins with the resets of zones that
 * are written to, and of those that were asked for by dev_zone_reset().  Those
 * of overlay_reset_last(), unless the zone was written to since, and all that
 * is to be finished, are its end.  One that fails may have changed the zones of
 * UNDER, and cannot be tried again.
 */
#define OVERLAY_PAGE_BYTES 1024u
int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n);

/*
 * Steps through what a commit would write, each byte once: true and the range
 * of *LEN bytes at *OFF, false at the end.  *CURSOR begins as 0.
 */
bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len);

/*
 * A mark for overlay_rewind(), which forgets all that was written since; marks
 * made since are gone then too, those before are not.
 */
size_t overlay_mark(struct dev *dev);
void overlay_rewind(struct dev *dev, size_t mark);

/*
 * Resets a sequential ZONE whose content is needed until the rest of the commit
 * is on the device.  Fails as dev_zone_report().
 */
int overlay_reset_last(struct dev *dev, struct context *cx, uint64_t zone);

/* Whether there is something to commit. */
bool overlay_is_changed(const struct dev *dev);

/* Forgets what was written. */
void overlay_drop(struct dev *dev);

#endif
