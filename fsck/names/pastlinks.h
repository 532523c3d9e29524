/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the names of a snapshot lead to, against the links of the inodes. */
#ifndef NILFS2_FSCK_PASTLINKS_H
#define NILFS2_FSCK_PASTLINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/names/pastentry.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"

/* A repair of names in snapshots. */
struct pastnames {
	struct pastblocks *p;
	struct volume *vol;
	struct pastentry e;
	bool listed;		/* all inodes of the current snapshot */
	/* What is done with each entry of it. */
	int (*each_entry)(struct pastnames *s, struct context *cx,
			  const struct dirent_entry *e);
	bool all_counted;	/* names that are one too many */
	const void *data;	/* the current block as it is */
};

/* The inodes of snapshot CNO: 1, 0 where not all can be read. */
int pastnames_open(struct pastnames *s, struct context *cx, uint64_t cno);

/* Finds the current block, to be changed: 1, 0. */
int pastnames_block(struct pastnames *s, struct context *cx);

/* Counts the inodes of snapshot CNO without names, and names without inodes. */
void pastnames_count(struct pastnames *s, const struct fix *fixes, size_t n,
		     uint64_t cno);

/* Lets entries of snapshot CNO lead to the inodes that lack a name.  0, -ENOMEM,
   -EINTR. */
int pastlinks_turn(struct pastnames *s, struct context *cx,
		   const struct fix *fixes, size_t n, uint64_t cno);

/*
 * Removes names of snapshot CNO of inodes that have too many: those in blocks
 * that are older versions, if there are as many.  0, -ENOMEM, -EINTR.
 */
int pastlinks_remove(struct pastnames *s, struct context *cx,
		     const struct fix *fixes, size_t n, uint64_t cno);

#endif
