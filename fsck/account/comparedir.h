/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names in a directory of one state, before and after. */
#ifndef NILFS2_FSCK_COMPAREDIR_H
#define NILFS2_FSCK_COMPAREDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirent.h"
#include "fsck/account/sides.h"
#include "vol/file.h"

/* A block of a directory that is not in its place as it was. */
struct comparedir_place {
	uint64_t blkoff;
	uint64_t blocknr; /* before the repair, or 0 */
	bool is_known;	  /* it could be read, or is proved */
};

struct comparedir {
	/* The names that the directory has after the repair, as sorted
	   hashes. */
	uint64_t *names;
	size_t n, room;
	bool read;
	char *block; /* the one that is compared, as it was */
	/* The blocks that were compared, and the names in those known. */
	struct comparedir_place *blocks;
	size_t nblocks, blocks_room;
	uint64_t *known;
	size_t known_count, known_room;
};

/* The name of DE and its inode, as a hash. */
uint64_t comparedir_hash(const struct dirent_entry *de);

/* Whether a block before the repair had the name with HASH. */
bool comparedir_was(const struct comparedir *d, uint64_t hash);

/* Whether the name of DE leads to the same inode after the repair. */
bool comparedir_has(const struct comparedir *d, const struct dirent_entry *de);

/* Whether DE is "." or "..". */
bool comparedir_is_dots(const struct dirent_entry *de);

/*
 * Adds the names in block BLKOFF of directory AFTER, which was at BLOCKNR
 * before, that are not in AFTER any more, and those in it now that replace lost
 * ones.  Where BLOCKNR is 0, cannot be read, or is not a block of the directory,
 * and no checksum proves what it was, the names in it are unknown, and it is the
 * range that is added.  *D is all zero for the first block of a directory.
 * 0, -ENOMEM, -EINTR.
 */
int comparedir_block(struct comparedir *d, struct sides *s, struct context *cx,
		     const struct sides_state *state, struct file *after,
		     uint64_t blkoff, uint64_t blocknr);

/*
 * After all blocks of directory AFTER: where it has names now that it may not
 * have had in STATE, says so in S->unconfirmed.  0, -ENOMEM, -EINTR.
 */
int comparedir_confirm(struct comparedir *d, struct sides *s,
		       struct context *cx, const struct sides_state *state,
		       struct file *after);
void comparedir_fini(struct comparedir *d);

/*
 * Adds the names in directories that the repair made in TOP, the root directory
 * after it: these replace lost ones.  0, -ENOMEM, -EINTR.
 */
int comparedir_made(struct sides *s, struct context *cx,
		    const struct sides_state *state, struct file *top);

#endif
