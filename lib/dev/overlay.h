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

/* Pages of an overlay use this fraction of the memory budget: 1 / OVERLAY_SHARE. */
#define OVERLAY_SHARE 4
#define OVERLAY_TRIAL_SHARE 8	/* trials are often stacked */

/*
 * Opens an overlay over UNDER (borrowed).  It can be written to even if UNDER
 * cannot; only the commit needs that.  Writes use memory until the commit, and
 * beyond their share of the budget of CX space in CX->scratch_dir: -ENOMEM if there
 * is none.  Discards and flushes have no effect.  An overlay that was resized can
 * only be dropped: a commit is -EOPNOTSUPP.
 *
 * A TRIAL is never committed: a commit is -EOPNOTSUPP.  Without zones its pages are
 * larger, so that they need less memory and time.
 *
 * The overlay has the zones of UNDER.  Its write pointers begin as those of UNDER; a
 * write that does not follow them is -EIO at once.  The commit resets and finishes
 * zones.
 */
int overlay_open(struct dev **devp, struct context *cx, struct dev *under,
		 bool trial);

/*
 * Writes the last state of all changes to UNDER, without intermediate states: first
 * all pages (OVERLAY_PAGE_BYTES) except those of the N bytes LATE, and a flush, then
 * these one after another, each flushed.  Until the first of them is written, the
 * data to which LATE refers is unchanged.  After a failure all changes are still in
 * the overlay.
 *
 * On a device with zones, a commit begins with the resets of zones that are written
 * to, and with those requested by dev_zone_change().  It ends with those of
 * overlay_reset_last(), unless the zone was written to since, and with the finishes.
 * A commit that fails may have changed the zones of UNDER, and cannot be repeated.
 */
#define OVERLAY_PAGE_BYTES 1024u
int overlay_commit_last(struct dev *dev, struct context *cx,
			const uint64_t *late, unsigned int n);

/*
 * Steps through the ranges that a commit would write, each byte once: true and the
 * range of *LEN bytes at *OFF, false at the end.  *CURSOR begins as 0.
 */
bool overlay_next_range(struct dev *dev, size_t *cursor, uint64_t *off,
			size_t *len);

/*
 * Sets a mark for overlay_rewind(), which drops all later writes.  A rewind
 * invalidates the marks after MARK, but not those before.
 */
size_t overlay_mark(struct dev *dev);
void overlay_rewind(struct dev *dev, size_t mark);

/*
 * Resets a sequential ZONE whose content is needed until the rest of the commit is
 * on the device.  Fails as dev_zone_report().
 */
int overlay_reset_last(struct dev *dev, struct context *cx, uint64_t zone);

/*
 * Whether a part of the range was written to DEV and not yet to the device underneath.
 * False if DEV is not an overlay.
 */
bool overlay_hides(struct dev *dev, uint64_t off, uint64_t len);

/*
 * A digest of all changes: the same for the same content of the same pages, in whatever
 * order they were written, and the same zones.  -ENOMEM, -EIO.
 */
int overlay_digest(struct dev *dev, struct context *cx, uint64_t *digest);

/* Whether there are changes to commit. */
bool overlay_is_changed(const struct dev *dev);

/* Drops all changes. */
void overlay_drop(struct dev *dev);

#endif
