/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device to be cleaned, and the volume on it. */
#ifndef NILFS2_GC_TARGET_H
#define NILFS2_GC_TARGET_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"
#include "vol/volume.h"

struct target {
	struct dev *dev;	/* with its zones, if it has any */
	struct dev *file;	/* the device below it, or the same */
};

/*
 * Opens PATH exclusively, for writing unless READ_ONLY.  Zones are those of a
 * host-managed device, or of the file beside an image.  -EBUSY if it is mounted
 * or in use, or as devfile_open() and zoned_open().  T is closed with
 * target_close(), also after a failure.
 */
int target_open(struct target *t, struct context *cx, const char *path,
		bool read_only);

/*
 * Opens the mounted device PATH for reading, with its zones; closed in the same way.
 * Fails as devfile_open() and zoned_open().
 */
int target_open_mounted(struct target *t, struct context *cx, const char *path);
void target_close(struct target *t);

/*
 * Opens the volume on DEV, which writable_check() must accept; *VOLP is to be closed
 * also after a failure.  Fails as these.
 */
int target_open_volume(struct volume **volp, struct context *cx,
		       struct dev *dev);

#endif
