/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device of which some areas cannot be read.
 *
 * A copy of a failing device has nothing where that could not be read.  Over the
 * copy, these areas are as unreadable as they were, until they are written to.
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
 * From now on reads of any of the LEN bytes at OFF fail with -EIO.  Not while
 * others read.  -ENOMEM.
 */
int badareas_add(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len);

/* Whether any of the LEN bytes at OFF is in one. */
bool badareas_have(const struct dev *dev, uint64_t off, uint64_t len);

/* How many there are, and in *BYTES how large they are together. */
size_t badareas_count(const struct dev *dev, uint64_t *bytes);

#endif
