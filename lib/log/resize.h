/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changing the number of segments.
 *
 * It is recorded in three places: the SUFILE, by its entries and the counts in
 * its header; the superblocks; and the position of the second one at the end of
 * the device.  They take effect together when a superblock is written.
 */
#ifndef NILFS2_LOG_RESIZE_H
#define NILFS2_LOG_RESIZE_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "log/writer.h"
#include "vol/volume.h"

/*
 * The layout of a volume of BYTES in *G, otherwise as that of VOL: as many
 * whole segments as fit before the second superblock.  -EINVAL if BYTES are too
 * few for any.
 */
int resize_layout(const struct volume *vol, struct context *cx,
		  uint64_t bytes, struct nilfs_geometry *g);

/*
 * Sets the number of segments to NSEGMENTS in the checkpoint of W, one of
 * directwriter_open() that is unused so far; its logs begin in a fresh segment,
 * with a sequence number that the old chain of logs does not reach.  -EBUSY if
 * a segment to be removed is in use; fails as metafile_change().  Follows
 * nilfs_sufile_resize(): added segments are clean, regardless of their old
 * entries.
 */
int resize_segments(struct writer *w, struct context *cx, uint64_t nsegments);

/*
 * Writes superblocks that name the log of END, on a volume with the new layout
 * G and BYTES; TIME and STATE as for newsupers_fill().  At any moment the
 * active one is intact, and the other is not a newer one of another size.  The
 * order is:
 *
 * - at the end of the BYTES, where it is found once the device is that small;
 * - at the end of the device and at its beginning, first the copy that VOL was
 *   not opened by;
 * - a copy at the old end of the volume is wiped.
 *
 * -EIO, -EROFS.  Follows nilfs_resize_fs(), which leaves the old copy.
 */
int resize_supers(struct context *cx, struct dev *dev,
		  const struct volume *vol, const struct nilfs_geometry *g,
		  uint64_t bytes, const struct writer_end *end, uint64_t time,
		  uint16_t state);

#endif
