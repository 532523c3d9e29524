/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device of which some ranges read as other data.
 *
 * The derived content of a damaged block can be tried before anything is written:
 * all reads through the patched device return it.  Writes go to the device
 * underneath.
 */
#ifndef NILFS2_DEV_PATCHED_H
#define NILFS2_DEV_PATCHED_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

/* A device over UNDER (borrowed) without patches.  -ENOMEM. */
int patched_open(struct dev **devp, struct context *cx, struct dev *under);

/*
 * Makes the LEN bytes at OFF read as BUF (copied) from now on, whether or not the
 * device underneath can read them.  All patches have the same length and are aligned
 * to it.  1, 0 if there was a patch at OFF, -ENOMEM.  Like patched_remove() it
 * must not be called while other threads read.
 */
int patched_set(struct dev *dev, struct context *cx, uint64_t off,
		const void *buf, size_t len);

/*
 * Removes the patches inside the LEN bytes at OFF, all of them inside UINT64_MAX bytes
 * at 0; not while other threads read.
 */
void patched_remove(struct dev *dev, uint64_t off, uint64_t len);

/* A digest of all patches. */
uint64_t patched_digest(const struct dev *dev);

#endif
