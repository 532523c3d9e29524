/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A zoned device, emulated over one that has no zones. */
#ifndef NILFS2_DEV_ZONEFILE_H
#define NILFS2_DEV_ZONEFILE_H

#include "dev/dev.h"
#include "dev/zone.h"

/*
 * UNDER (borrowed) with ZONES (copied).  What is written keeps the rules: a
 * write to a sequential zone that begins elsewhere than at its pointer, or
 * passes its capacity, is -EIO and changes nothing.  One write at a time.
 * Sequential zones are full until they are reset.
 *
 * A flush keeps the pointers in the file SIDE (NULL: nowhere) if they have
 * changed; see zonedump.h.
 */
int zonefile_open(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side, const struct zones *zones);

/*
 * The same with zones and pointers as the file SIDE has them.  Fails as
 * zonedump_read(), and with -EINVAL if that is for a device of another size.
 */
int zonefile_load(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side);

#endif
