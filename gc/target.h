/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that is to be cleaned, and the volume on it. */
#ifndef NILFS2_GC_TARGET_H
#define NILFS2_GC_TARGET_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"
#include "vol/volume.h"

struct target {
	struct dev *dev;	/* with its zones, where it has some */
	struct dev *file;	/* what that is over, or the same */
};

/*
 * Opens PATH, which nobody may use meanwhile, to be written unless READ_ONLY.
 * Zones are those of a host-managed device, or of the file beside an image.
 * -EBUSY where it is mounted or in use, or as devfile_open() and zoned_open().
 * T is closed with target_close(), also after a failure.
 */
int target_open(struct target *t, struct context *cx, const char *path,
		bool read_only);
void target_close(struct target *t);

/*
 * -EUCLEAN where VOL must be recovered or repaired before anything is
 * moved.  Of logs after its latest one nothing is to be had then.  -EIO,
 * -ENOMEM.
 */
int target_check_volume(struct context *cx, struct volume *vol);

#endif
