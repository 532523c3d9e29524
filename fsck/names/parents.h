/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of directories: one parent for each, and no loops. */
#ifndef NILFS2_FSCK_PARENTS_H
#define NILFS2_FSCK_PARENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct namefix;

/* Directory CHILD has a name in directory BY, but not its first one. */
struct parents_other {
	uint32_t child, by;	/* index */
};

struct parents {
	struct parents_other *others;
	size_t count, room;
};

/* Directory number DIR names directory INO, which is not the root.  -ENOMEM. */
int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 uint64_t ino);

/*
 * After all names: of several parents that which ".." names stays, else the
 * one met first.
 */
void parents_choose(struct namefix *f);

/*
 * Gives a directory of each loop another parent, or none.  -ENOMEM.
 */
int parents_break_loops(struct namefix *f, struct context *cx);

/* Marks directories whose ".." does not name the parent. */
void parents_mark(struct namefix *f);

void parents_fini(struct parents *p);

#endif
