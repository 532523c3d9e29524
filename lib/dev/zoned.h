/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file or block device with whatever zones it has. */
#ifndef NILFS2_DEV_ZONED_H
#define NILFS2_DEV_ZONED_H

#include "dev/dev.h"
#include "dev/zone.h"

/*
 * The name of the file beside the image file PATH that says which zones it has,
 * to be freed.  -ENOMEM.
 */
int zoned_side(char **side, struct context *cx, const char *path);

/*
 * UNDER, a devfile of PATH (borrowed), with its zones: those that the file
 * beside an image describes, or those of a host-managed device; a host-aware
 * one needs none.  *DEVP is UNDER itself where there are no zones, and after a
 * failure.  Fails as zoned_load() and zonedisk_open().
 */
int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path);

/*
 * The block device UNDER, a devfile (borrowed), with its zones.  Writes to
 * sequential zones bypass the page cache, which would bring them to the device
 * in an order of its own: they are made of whole sectors, and one at a time.
 * Where only so many zones can be active, a zone that is left for another one
 * is finished.
 *
 * -EOPNOTSUPP without libzbd, -EINVAL for zones that struct zones cannot describe,
 * -EIO, -ENOMEM.
 */
int zonedisk_open(struct dev **devp, struct context *cx, struct dev *under);

/*
 * UNDER (borrowed) with ZONES (copied).  What is written keeps the rules: a
 * write to a sequential zone that begins elsewhere than at its pointer, or
 * passes its capacity, is -EIO and changes nothing.  One write at a time.
 * Sequential zones are full until they are reset.
 *
 * A flush keeps the pointers in the file SIDE (NULL: nowhere) if they have
 * changed; see zonedump.h.
 */
int zoned_emulate(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side, const struct zones *zones);

/*
 * The same with zones and pointers as the file SIDE has them.  Fails as
 * zonedump_read(), and with -EINVAL if that is for a device of another size.
 */
int zoned_load(struct dev **devp, struct context *cx, struct dev *under,
	       const char *side);

#endif
