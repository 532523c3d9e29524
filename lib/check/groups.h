/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks a file of the persistent allocator, DAT or ifile: the counts of free
 * entries against the bitmaps, and the bitmaps against the blocks of entries.
 * mapcheck.h checks the map of the file.
 */
#ifndef NILFS2_CHECK_GROUPS_H
#define NILFS2_CHECK_GROUPS_H

#include "base/context.h"
#include "disk/palloc.h"
#include "find/finding.h"
#include "vol/file.h"

struct groups {
	struct file *file;		/* also gives the inode number of places */
	const struct palloc *palloc;
	struct findings *findings;
	uint64_t cno;			/* checkpoint of places; 0: the super root */
	/* Entries below this number are in use without content, so that their
	   blocks may be missing: 1 for the DAT, s_first_ino for an ifile. */
	uint64_t reserved;
	/*
	 * Whether the number of bits set in the bitmap of GROUP, at BLOCKNR, is
	 * known from another checkpoint; then it is in *USED.  NULL: unknown.
	 */
	bool (*known)(void *arg, uint64_t group, uint64_t blocknr,
		      uint32_t *used);
	void *arg;
	bool *hidden;			/* set if entries in use have no
					   block; NULL: not wanted */
};

/*
 * The first group from FROM on that has any block; a descriptor block counts as
 * a block of the first group that it describes.  1 and *GROUP, 0 after the last
 * group, or a failure.
 */
int groups_next(const struct groups *g, struct context *cx, uint64_t from,
		uint64_t *group);

/* Checks all groups, in time proportional to the existing blocks.  Errors are
   findings.  0, -ENOMEM, -EINTR, as the functions below. */
int groups_check(const struct groups *g, struct context *cx);

/*
 * Checks the counts of all groups that share GROUP's descriptor block.  For a
 * file that was mostly checked in another checkpoint: call it once for each
 * descriptor block that is new or has a new bitmap.
 */
int groups_check_counts(const struct groups *g, struct context *cx,
			uint64_t group);

/* Checks that GROUP's entries in use have blocks: for groups with a new bitmap
   or a new block of entries. */
int groups_check_entries(const struct groups *g, struct context *cx,
			 uint64_t group);

#endif
