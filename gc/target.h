/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that is to be cleaned. */
#ifndef NILFS2_GC_TARGET_H
#define NILFS2_GC_TARGET_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"

/*
 * Opens PATH, which nobody may use meanwhile, to be written unless READ_ONLY.
 * -EBUSY where it is mounted or in use, or as devfile_open().
 */
int target_open(struct dev **devp, struct context *cx, const char *path,
		bool read_only);

#endif
