/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The number of inodes in use of many checkpoints.
 */
#ifndef NILFS2_CHECK_INODECOUNT_H
#define NILFS2_CHECK_INODECOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "disk/ondisk.h"
#include "vol/file.h"

/* The bitmap of a group, as it was last counted. */
struct inodecount_group {
	uint64_t number;
	uint64_t blocknr;	/* 0: not yet */
	uint32_t bits;		/* set in it */
	uint32_t reserved;	/* of these, for numbers that are no inodes */
};

struct inodecount {
	struct inodecount_group *groups;	/* ascending */
	size_t ngroups, room;
};

void inodecount_fini(struct inodecount *ic);

/* Says that some checkpoint has a bitmap for GROUP.  -ENOMEM. */
int inodecount_learn(struct inodecount *ic, struct context *cx,
		     uint64_t group);

/*
 * The inodes in use in IFILE, of a checkpoint whose groups are all known: 1 and
 * *USED, 0 if a bitmap cannot be read.  -ENOMEM, -EINTR.
 */
int inodecount_count(struct inodecount *ic, struct context *cx,
		     struct file *ifile, uint64_t *used);

/* Whether the bits set in the bitmap of GROUP at BLOCKNR are known: *BITS. */
bool inodecount_known(const struct inodecount *ic, uint64_t group,
		      uint64_t blocknr, uint32_t *bits);

#endif
