/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names kept for comparison, of those that may occur twice in a directory. */
#ifndef NILFS2_CHECK_KEPTNAMES_H
#define NILFS2_CHECK_KEPTNAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirent.h"

struct dupnames_suspect;
struct keptname;

/* All zero is fine at first. */
struct keptnames {
	struct keptname *names;
	size_t count, room;
};

/*
 * Meets the name of ENTRY, which has the tag of S: 1 and the inode of the
 * first such name in *INO where there was one, 0 where it is new, -ENOMEM.
 * Of many different names of one tag not all are remembered.
 */
int keptnames_meet(struct keptnames *k, struct context *cx,
		   struct dupnames_suspect *s,
		   const struct dirent_entry *entry, uint64_t *ino);

void keptnames_fini(struct keptnames *k);

#endif
