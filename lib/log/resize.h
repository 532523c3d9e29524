/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A volume that gets more segments, or fewer.
 *
 * Three things say how many there are: the SUFILE, by its entries and the
 * counts in its header; the superblocks; and the place of the second one, at
 * the end of the device.  They change together when a superblock is written.
 */
#ifndef NILFS2_LOG_RESIZE_H
#define NILFS2_LOG_RESIZE_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "log/repairwriter.h"
#include "log/writer.h"
#include "vol/volume.h"

/*
 * The layout of a volume of BYTES in G, as VOL has it otherwise: as many whole
 * segments as come before the second superblock.  -EINVAL where BYTES are too
 * few for any.
 */
int resize_layout(const struct volume *vol, struct context *cx,
		  uint64_t bytes, struct nilfs_geometry *g);

/*
 * Makes KNOWN say what a writer must be told so that its logs are found by the
 * new superblocks only: with the old ones, whose layout is another, a mount
 * must not come upon them.
 */
void resize_apart(const struct volume *vol, struct repairwriter_known *known);

/*
 * The volume has NSEGMENTS from the checkpoint of W on, one of
 * repairwriter_open() that nothing was done to yet.  -EBUSY where something is
 * in a segment that is to go; as metafile_change().  Follows
 * nilfs_sufile_resize(): segments that come are clean, whatever stands in their
 * entries.
 */
int resize_segments(struct writer *w, struct context *cx, uint64_t nsegments);

/*
 * Superblocks that name the log of END, on a volume that has the layout G and
 * BYTES from now on; TIME and STATE as for newsupers_fill().  At any moment the
 * one that counts is whole, and the other no newer one of another size:
 *
 * - at the end of the BYTES, where it will be found once the device is as
 *   small as that;
 * - at the end of the device and at its beginning, the copy that VOL was not
 *   opened by first;
 * - what still stands at the end of the volume as it was is wiped.
 *
 * -EIO, -EROFS.  Follows nilfs_resize_fs(), which leaves the old copy.
 */
int resize_supers(struct context *cx, struct dev *dev,
		  const struct volume *vol, const struct nilfs_geometry *g,
		  uint64_t bytes, const struct writer_end *end, uint64_t time,
		  uint16_t state);

#endif
