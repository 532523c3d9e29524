/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that a repair adds to directories. */
#ifndef NILFS2_FSCK_ADDNAMES_H
#define NILFS2_FSCK_ADDNAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct addnames_item {
	uint64_t ino;
	uint32_t dir;	/* index */
	uint32_t at;	/* of the name, in `text` */
	uint8_t len;
};

/* All zero is fine at first. */
struct addnames {
	struct addnames_item *items;
	size_t count, room;
	char *text;
	size_t used, text_room;
};

/* Adds NAME (LEN bytes) of INO to directory number DIR.  -ENOMEM. */
int addnames_add(struct addnames *a, struct context *cx, uint32_t dir,
		 uint64_t ino, const char *name, uint8_t len);

/* Sorts them by directory; before addnames_of(). */
void addnames_sort(struct addnames *a);

/* The first of those for directory number DIR, and how many, in *COUNT. */
const struct addnames_item *addnames_of(const struct addnames *a, uint32_t dir,
					size_t *count);

void addnames_fini(struct addnames *a);

#endif
