/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in a directory of the source. */
#ifndef NILFS2_MKFS_LISTING_H
#define NILFS2_MKFS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "mkfs/populate/populate.h"

struct listing_text;

/* All zero is an empty listing. */
struct listing {
	struct populate_name *names;	/* each with a NUL after it */
	size_t n, room;
	struct listing_text *first, *text;	/* storage of the names */
	size_t used;			/* bytes of TEXT */
	char *buf;			/* buffer of one system call */
};

/*
 * Reads the directory open at FD from its beginning, except "." and "..", in the
 * kernel's order.  `ino` is the number in the directory entry, and `type`
 * NILFS_FT_DIR, NILFS_FT_REG_FILE or NILFS_FT_UNKNOWN.  Replaces the previous
 * content.  -ENAMETOOLONG with the name as text, -errno without one.
 */
int listing_read(struct listing *list, struct context *cx, int fd);

/* Sorts by the bytes of names; with BY_INO by `ino` first. */
void listing_sort(struct listing *list, bool by_ino);

/* Compares two struct populate_name by the bytes of the names. */
int listing_by_name(const void *a, const void *b);

void listing_fini(struct listing *list);

#endif
