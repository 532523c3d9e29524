/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of inode numbers of any size. */
#ifndef NILFS2_BASE_INOSET_H
#define NILFS2_BASE_INOSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct inoset_slot;

/* All zero is the empty set. */
struct inoset {
	struct inoset_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t used;
};

bool inoset_has(const struct inoset *set, uint64_t ino);

/*
 * Adds INO: 1 where it is new, 0 where it was there, -ENOMEM where the set
 * would outgrow the memory budget.
 */
int inoset_add(struct inoset *set, struct context *cx, uint64_t ino);

void inoset_fini(struct inoset *set);

#endif
