/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory for inodes that nothing names. */
#ifndef NILFS2_FSCK_LOSTFOUND_H
#define NILFS2_FSCK_LOSTFOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

struct dirwrite;
struct entrywalk_entry;
struct namefix;

#define LOSTFOUND_NAMES 10

struct lostfound {
	/* Inodes that the root calls "lost+found", "lost+found~1", ... */
	uint64_t taken[LOSTFOUND_NAMES];
	bool is_dir[LOSTFOUND_NAMES];
	bool needed;
	bool made;		/* by this repair */
	uint32_t dir;		/* its index, NAMEFIX_MADE if made */
	uint64_t ino;
	uint32_t subdirs;	/* that go into it */
};

/* ENTRY is a name in the root directory. */
void lostfound_meet(struct lostfound *lost,
		    const struct entrywalk_entry *entry);

/*
 * After all names are known: decides what goes there, which directory it is,
 * and takes an inode for it where there is none.  -ENOSPC, -ENOMEM, -EIO.
 */
int lostfound_settle(struct namefix *f, struct context *cx);

/* Adds the names, and counts them, to the directory, which W writes. */
int lostfound_fill(struct namefix *f, struct context *cx, struct dirwrite *w);

#endif
