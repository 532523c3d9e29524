/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The content of a device, to be checked before the device is written to. */
#ifndef NILFS2_VOL_OWNER_H
#define NILFS2_VOL_OWNER_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"
#include "dev/probe.h"

struct owner {
	bool nilfs;		/* it has a superblock with the magic number */
	bool foreign;		/* it has the signature of something else */
	char what[PROBE_DESCRIPTION_MAX];	/* "is an ext4 file system" */
};

/*
 * Determines the content of DEV, an image file or block device.  If the first
 * superblock has its magic number, partition tables are ignored (boot code resembles
 * one), and so are signatures inside the segments (content of files).  Without a
 * result of libblkid no foreign content is assumed.
 */
void owner_find(struct owner *owner, const struct context *cx,
		struct dev *dev);

/*
 * Fails with -EINVAL, for a writer, as DEV has the foreign content of OWNER.  HINT is
 * appended to the message, or "".
 */
int owner_fail(struct context *cx, const struct dev *dev,
	       const struct owner *owner, const char *hint);

/*
 * Makes FILE, a devfile, detect changes of its volume by other programs
 * (devfile_guard()).  Without a second superblock its place may be in a segment,
 * which on zones is written bypassing FILE.
 */
void owner_guard(struct dev *file);

#endif
