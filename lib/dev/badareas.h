/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device of which some areas cannot be read.
 *
 * A copy of a failing device has no data in areas that could not be read.  This device
 * makes the areas unreadable in the copy, too, until they are written to.
 */
#ifndef NILFS2_DEV_BADAREAS_H
#define NILFS2_DEV_BADAREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

/* A device over UNDER (borrowed) without bad areas.  -ENOMEM. */
int badareas_open(struct dev **devp, struct context *cx, struct dev *under);

/*
 * Makes reads of any of the LEN bytes at OFF fail with -EIO from now on.  Must not be
 * called while other threads read.  -ENOMEM.
 */
int badareas_add(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len);

/* Whether any of the LEN bytes at OFF is in a bad area. */
bool badareas_have(const struct dev *dev, uint64_t off, uint64_t len);

/* The number of bad areas, and in *BYTES the sum of their sizes. */
size_t badareas_count(const struct dev *dev, uint64_t *bytes);

#endif
