/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose a device is: what to ask before it is written to. */
#ifndef NILFS2_VOL_OWNER_H
#define NILFS2_VOL_OWNER_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"
#include "dev/probe.h"

struct owner {
	bool nilfs;		/* it has a superblock with the magic number */
	bool foreign;		/* something else has a signature on it */
	char what[PROBE_DESCRIPTION_MAX];	/* "is an ext4 file system" */
};

/*
 * Finds out whose DEV, an image file or block device, is.  While the first
 * superblock has its magic number, partition tables do not count (boot code
 * looks like one), nor does what lies inside the segments (content of files).
 * Where libblkid cannot tell nobody else is known.
 */
void owner_find(struct owner *owner, const struct context *cx,
		struct dev *dev);

/*
 * For a writer: -EINVAL where DEV is somebody else's.  HINT is what to do then,
 * for the end of the message, or "".
 */
int owner_check(struct context *cx, struct dev *dev, const char *hint);

/* The failure of owner_check() for what was found. */
int owner_fail(struct context *cx, const struct dev *dev,
	       const struct owner *owner, const char *hint);

/*
 * Has FILE, a devfile, notice if somebody else changes its volume from now on
 * (devfile_guard()).  Where no second superblock is, a segment may be, which on
 * zones is written past FILE.
 */
void owner_guard(struct dev *file);

#endif
