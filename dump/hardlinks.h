/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files with several names were exported already, and as what. */
#ifndef NILFS2_DUMP_HARDLINKS_H
#define NILFS2_DUMP_HARDLINKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct hardlink;

/* All zero is the empty table. */
struct hardlinks {
	struct hardlink *slots;
	size_t room, used;
	char *names;
	size_t names_room, names_used;
};

/*
 * The path of inode INO, or NULL where it is not known; valid until the next
 * hardlinks_add().
 */
const char *hardlinks_find(const struct hardlinks *links, uint64_t ino);

/*
 * Remembers PATH (LEN bytes) of inode INO, which is not known yet.  -ENOMEM
 * where the table would outgrow the memory budget.
 */
int hardlinks_add(struct hardlinks *links, struct context *cx, uint64_t ino,
		  const char *path, size_t len);

void hardlinks_fini(struct hardlinks *links);

#endif
