/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device that reads from one device and writes to another. */
#ifndef NILFS2_GC_DUALDEV_H
#define NILFS2_GC_DUALDEV_H

#include "base/context.h"
#include "dev/dev.h"

/*
 * Reads come from SOURCE whatever was written, writes go to TARGET (both
 * borrowed), which is as large.  It has no zones.  -ENOMEM.
 */
int dualdev_open(struct dev **devp, struct context *cx, struct dev *source,
		 struct dev *target);

#endif
