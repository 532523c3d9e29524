/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The zones of a zoned block device. */
#ifndef NILFS2_DEV_ZONEDISK_H
#define NILFS2_DEV_ZONEDISK_H

#include "dev/dev.h"
#include "dev/zone.h"

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

#endif
