/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a file before the repair: by its map, or if that cannot be read
 * by the summaries of the logs.
 */
#ifndef NILFS2_FSCK_EXPECTED_H
#define NILFS2_FSCK_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "find/finding.h"
#include "fsck/account/sides.h"
#include "fsck/account/versions.h"

struct expected_block {
	uint64_t blkoff;
	uint64_t vblocknr; /* 0: no pointer could be read */
	uint64_t blocknr;  /* 0: the DAT does not say */
};

struct expected {
	struct volume *vol;	   /* before the repair */
	struct findings *findings; /* damage that is met, not reported */
	const struct versions *versions;
	uint64_t cno, ino;
	const struct nilfs_inode *inode; /* NULL: could not be read */
	uint64_t limit;			 /* blocks from here on do not count */
	/* In the order of the file; 0, or a failure that ends the walk. */
	int (*visit)(void *arg, struct context *cx,
		     const struct expected_block *b);
	/* Nodes of the map are compared with those after the repair; NULL: not. */
	struct sides *nodes;
	/*
	 * Blocks [BLKOFF, END) that neither map nor logs have; NULL: not
	 * wanted.
	 */
	int (*unknown)(void *arg, struct context *cx, uint64_t blkoff,
		       uint64_t end);
	void *arg;
	/* Set: parts of the map could not be read, all of them between these.
	 */
	bool doubt;
	uint64_t doubt_first, doubt_end;
};

/*
 * Walks the blocks that inode INO had in checkpoint CNO.  Where the map cannot
 * be read and VERSIONS were gathered, the newest version that can have been of
 * that checkpoint is what the file had.  0, -ENOMEM, -EINTR, or what a call
 * failed with.
 */
int expected_run(struct expected *e, struct context *cx);

/* Whether the DAT says that VBLOCKNR was not alive in the checkpoint. */
bool expected_is_dead(const struct expected *e, struct context *cx,
		      uint64_t vblocknr);

/*
 * Of the versions of block BLKOFF, the one that the file had in CNO: that the
 * DAT says was alive then, or else the newest for which it says nothing else.
 * VBLOCKNR, unless 0, is the number that it had.  NULL: none is known.
 */
const struct version *expected_version(const struct expected *e,
				       struct context *cx, uint64_t blkoff,
				       uint64_t vblocknr);

#endif
