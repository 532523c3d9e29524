/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Testing a device for bad blocks. */
#ifndef NILFS2_MKFS_BADBLOCKS_H
#define NILFS2_MKFS_BADBLOCKS_H

#include <stdbool.h>

#include "cli/progress.h"
#include "dev/dev.h"

struct badblocks {
	struct progress *progress;
	int fd;			/* of the device, to empty its cache; or -1 */
};

/*
 * Reads all of DEV; with WRITE it writes four patterns all over DEV and reads
 * each back: what it held is lost, zeros remain.  0, or -EIO with the number of
 * bad blocks of 4 KiB and the place of the first, -ENOMEM, -EINTR.
 */
int badblocks_test(const struct badblocks *b, struct context *cx,
		   struct dev *dev, bool write);

#endif
