/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subdirectories of one directory that are still to be visited, in order. */
#ifndef NILFS2_MKFS_SUBDIRS_H
#define NILFS2_MKFS_SUBDIRS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "mkfs/populate/populate.h"

struct subdir {
	uint64_t ino;		/* on the volume */
	uint64_t told;		/* what the directory above says */
	uint8_t len;
	char name[];		/* with a NUL */
};

/* All zero: none. */
struct subdirs {
	char *items;		/* one after the other */
	size_t at, bytes, room;
};

/* Appends NAME, whose own number is TOLD in the source.  -ENOMEM. */
int subdirs_add(struct subdirs *s, struct context *cx,
		const struct populate_name *name, uint64_t told);

/* The next one, valid until subdirs_fini(), or NULL. */
const struct subdir *subdirs_next(struct subdirs *s);

void subdirs_fini(struct subdirs *s);

#endif
