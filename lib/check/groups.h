/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks a file of the persistent allocator, DAT or ifile: the counts of free
 * entries against the bitmaps, the bitmaps against the blocks of entries.  The
 * state of its map is reported by mapcheck.h.
 */
#ifndef NILFS2_CHECK_GROUPS_H
#define NILFS2_CHECK_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/palloc.h"
#include "find/finding.h"
#include "vol/file.h"

struct groups {
	struct file *file;		/* its inode number is used in places */
	const struct palloc *palloc;
	struct findings *findings;
	uint64_t cno;			/* for places; 0: as of the super root */
	/* Entries below this are in use without being anything, so that their
	   blocks may be missing: 1 for the DAT, s_first_ino for an ifile. */
	uint64_t reserved;
	/* Whether the bits set in the bitmap of GROUP, which is at BLOCKNR, are
	   known from another checkpoint: *USED.  NULL: none are. */
	bool (*known)(void *arg, uint64_t group, uint64_t blocknr,
		      uint32_t *used);
	void *arg;
	bool *hidden;			/* set where entries in use have no
					   block; NULL: not used */
};

/*
 * The first group from FROM on that has any block, its descriptor counted to
 * the first of those that share it: 1 and *GROUP, 0 after the last, or a
 * failure.
 */
int groups_next(const struct groups *g, struct context *cx, uint64_t from,
		uint64_t *group);

/* Checks all groups, in a time that follows what there is of the file.  Wrong
   ones are findings; 0, -ENOMEM, -EINTR.  The others fail likewise. */
int groups_check(const struct groups *g, struct context *cx);

/*
 * Checks the counts of all groups that share GROUP's descriptor block.  For a
 * file of which most was checked in another checkpoint: once for each
 * descriptor block that is new itself or has a new bitmap.
 */
int groups_check_counts(const struct groups *g, struct context *cx,
			uint64_t group);

/* Checks that GROUP's entries in use have blocks: for groups whose bitmap or
   any of whose blocks of entries is new. */
int groups_check_entries(const struct groups *g, struct context *cx,
			 uint64_t group);

#endif
