/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file or block device with its zones, if any. */
#ifndef NILFS2_DEV_ZONED_H
#define NILFS2_DEV_ZONED_H

#include "dev/dev.h"
#include "dev/zone.h"

/*
 * Sets *SIDE, freed by the caller, to the name of the file beside the image file
 * PATH that describes its zones.  -ENOMEM.
 */
int zoned_side(char **side, struct context *cx, const char *path);

/*
 * Opens UNDER, a devfile of PATH (borrowed), with its zones: those in the file
 * beside an image, or those of a host-managed device; a host-aware one needs none.
 * *DEVP is UNDER itself if there are no zones, and after a failure.  Fails as
 * zoned_emulate() and zonedisk_open().
 */
int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path);

/*
 * Opens the block device UNDER, a devfile (borrowed), with its zones.  Writes to
 * sequential zones bypass the page cache, which would write them in another order:
 * they consist of whole sectors, one write at a time.  If the number of active zones
 * is limited, a zone is finished when another one is written to.
 *
 * -EOPNOTSUPP without libzbd, -EINVAL for zones that struct zones cannot describe,
 * -EIO, -ENOMEM.
 */
int zonedisk_open(struct dev **devp, struct context *cx, struct dev *under);

/*
 * Emulates ZONES (copied) over UNDER (borrowed).  A write to a sequential zone that
 * does not begin at its pointer, or exceeds its capacity, is -EIO and changes
 * nothing.  One write at a time.  Sequential zones are full until they are reset.
 *
 * A flush saves the pointers in the file SIDE (NULL: none) if they have changed; see
 * zonedump.h.  If ZONES is NULL, zones and pointers are those of that file.
 *
 * -EINVAL if the zones are those of a device of another size, -ENOMEM, or as
 * zonedump_read().
 */
int zoned_emulate(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side, const struct zones *zones);

#endif
