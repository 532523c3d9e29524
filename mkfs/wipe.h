/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wiping the old content of a device. */
#ifndef NILFS2_MKFS_WIPE_H
#define NILFS2_MKFS_WIPE_H

#include "dev/dev.h"

/* How far from either end of a device libblkid looks for signatures. */
#define WIPE_RANGE (1u << 20)

/*
 * Makes [OFF, END) of DEV read as zeros.  What is zero already is not written
 * again, so that a sparse image stays sparse.  Failures: as dev_read() and
 * dev_write(), -ENOMEM.
 */
int wipe_range(struct context *cx, struct dev *dev, uint64_t off,
	       uint64_t end);

#endif
