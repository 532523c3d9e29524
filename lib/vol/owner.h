/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a device contains, to be checked before it is written to. */
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
 * Determines what DEV, an image file or block device, contains.  If the first
 * superblock has its magic number, partition tables are ignored (boot code
 * looks like one), and so are signatures inside the segments (content of
 * files).  If libblkid does not know, nothing else is assumed.
 */
void owner_find(struct owner *owner, const struct context *cx,
		struct dev *dev);

/*
 * For a writer: -EINVAL if DEV contains something else.  HINT is appended to
 * the message, or "".
 */
int owner_check(struct context *cx, struct dev *dev, const char *hint);

/* The failure of owner_check() for what was found. */
int owner_fail(struct context *cx, const struct dev *dev,
	       const struct owner *owner, const char *hint);

/*
 * Makes FILE, a devfile, detect changes of its volume by other programs
 * (devfile_guard()).  If there is no second superblock, its place may be in a
 * segment, which on zones is written bypassing FILE.
 */
void owner_guard(struct dev *file);

#endif
