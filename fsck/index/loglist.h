/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the logs say a file consists of, whatever its map says.
 */
#ifndef NILFS2_FSCK_LOGLIST_H
#define NILFS2_FSCK_LOGLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"

/* Instead of an inode number: all of them, and their nodes too. */
#define LOGLIST_ALL UINT64_MAX

/* A block of the file, as it was written once. */
struct loglist_block {
	uint64_t ino;
	uint64_t blkoff;	/* 0 for a node */
	uint64_t vblocknr;
	uint64_t blocknr;	/* where it was put */
	uint64_t rank;		/* greater is newer; 0: of a former life of its
				   segment */
	bool is_node;
};

/* True where A was written before B. */
static inline bool loglist_is_older(const struct loglist_block *a,
				    const struct loglist_block *b)
{
	return a->rank != b->rank ? a->rank < b->rank :
				    a->blocknr < b->blocknr;
}

typedef int loglist_visitor(void *arg, struct context *cx,
			    const struct loglist_block *block);

/*
 * Calls VISIT for every data block of inode INO (a metadata file but the DAT,
 * or a file of a user) that a log lists (lifelogs.h); in the order of segments,
 * which is not that of time.  What is of a former life is there nowhere but
 * where the segment was given up too early: the DAT knows.  What cannot be read
 * is left out.  -ENOMEM, -EINTR, or what VISIT failed with.
 */
int loglist_run(const struct check *c, struct context *cx, uint64_t ino,
		loglist_visitor *visit, void *arg);

/* Whether the logs are all there: a block that lives is in one of them. */
bool loglist_is_whole(const struct check *c);

#endif
