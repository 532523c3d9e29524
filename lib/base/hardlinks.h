/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with several names: a value for each, by device and inode. */
#ifndef NILFS2_BASE_HARDLINKS_H
#define NILFS2_BASE_HARDLINKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct hardlink {
	uint64_t dev, ino;	/* as st_dev, st_ino */
	uint64_t value;		/* the caller's; never 0 */
};

/* All zero is the empty table. */
struct hardlinks {
	struct hardlink *slots;
	size_t room;		/* a power of two */
	size_t used;
};

/* The entry of a file, or NULL; valid until the next hardlinks_add(). */
struct hardlink *hardlinks_find(const struct hardlinks *links, uint64_t dev,
				uint64_t ino);

/* Adds a new file.  -ENOMEM past the memory budget. */
int hardlinks_add(struct hardlinks *links, struct context *cx, uint64_t dev,
		  uint64_t ino, uint64_t value);

/* Puts all entries in front, ascending; afterwards it can only be freed. */
void hardlinks_sort(struct hardlinks *links);

void hardlinks_fini(struct hardlinks *links);

#endif
