/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The zones of the device to be formatted. */
#ifndef NILFS2_MKFS_ZONETARGET_H
#define NILFS2_MKFS_ZONETARGET_H

#include "mkfs/target.h"

/*
 * Finds out whether the zones of T, which is open if it exists, are to be
 * followed: t->zones.  A block device with zones gets a new t->dev over
 * t->file.  Fails where --zoned and the device do not agree.
 */
int zonetarget_open(struct context *cx, const struct mkfs_options *o,
		    struct target *t);

/* Gives the image file, which now has its size, its zones: a new t->dev. */
int zonetarget_prepare(struct context *cx, struct target *t);

/* Closes what the two have opened, but not t->file. */
void zonetarget_close(struct target *t, bool failed);

#endif
