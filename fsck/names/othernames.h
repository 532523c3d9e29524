/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and what they lead to in other checkpoints. */
#ifndef NILFS2_FSCK_OTHERNAMES_H
#define NILFS2_FSCK_OTHERNAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirent.h"
#include "fsck/past/around.h"
#include "vol/root.h"

struct othernames {
	struct around around;
	struct root *now;	/* the checkpoint that is repaired; borrowed */
	struct root then;	/* the one that was asked last */
};

/* 1 where inode INO is now what it was then, 0, -ENOMEM, -EINTR. */
int othernames_is_same(struct othernames *o, struct context *cx, uint64_t ino);

/*
 * Sets *INO to what the name of E in directory DIR leads to in the nearest
 * checkpoint in which that is the same as now and COULD_BE says that it can be
 * meant: 1, 0 where there is none, -ENOMEM, -EINTR.
 */
int othernames_find(struct othernames *o, struct context *cx, uint64_t dir,
		    const struct dirent_entry *e,
		    bool (*could_be)(void *arg, const struct dirent_entry *e,
				     uint64_t ino),
		    void *arg, uint64_t *ino);

#endif
