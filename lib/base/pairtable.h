/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A value for each of some pairs of numbers, such as device and inode. */
#ifndef NILFS2_BASE_PAIRTABLE_H
#define NILFS2_BASE_PAIRTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct pairtable_entry {
	uint64_t dev, ino;	/* as st_dev, st_ino; or any others */
	uint64_t value;		/* the caller's; never 0 */
};

/* All zero is the empty table. */
struct pairtable {
	struct pairtable_entry *slots;
	size_t room;		/* a power of two */
	size_t used;
};

/* The entry of a pair, or NULL; valid until the next pairtable_add(). */
struct pairtable_entry *pairtable_find(const struct pairtable *t, uint64_t dev,
				       uint64_t ino);

/* Adds a new pair.  -ENOMEM beyond the memory budget. */
int pairtable_add(struct pairtable *t, struct context *cx, uint64_t dev,
		  uint64_t ino, uint64_t value);

/* Moves all entries to the front, ascending; after that only free() is allowed. */
void pairtable_sort(struct pairtable *t);

void pairtable_fini(struct pairtable *t);

#endif
