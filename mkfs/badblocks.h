/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Testing a device for bad blocks. */
#ifndef NILFS2_MKFS_BADBLOCKS_H
#define NILFS2_MKFS_BADBLOCKS_H

#include <stdbool.h>

#include "cli/progress.h"
#include "dev/dev.h"

struct badblocks {
	struct progress *progress;
	int fd;			/* of the device, for dropping its cache; -1: none */
};

/*
 * Reads all of DEV.  With WRITE, writes four patterns to the whole device and reads
 * each of them back; the content of the device is lost, zeros remain.  0; -EIO with
 * the number of bad blocks of 4 KiB and the offset of the first one, -ENOMEM, -EINTR.
 */
int badblocks_test(const struct badblocks *b, struct context *cx,
		   struct dev *dev, bool write);

#endif
