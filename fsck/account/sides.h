/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two sides of an account, and how a file of one differs on the other. */
#ifndef NILFS2_FSCK_SIDES_H
#define NILFS2_FSCK_SIDES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/logs/logindex.h"
#include "find/finding.h"
#include "fsck/account/losslist.h"
#include "fsck/account/versions.h"
#include "fsck/witness/witness.h"
#include "vol/volume.h"

struct sides {
	struct volume *before, *after;
	struct findings *findings; /* of walks through damage */
	/* Of BEFORE: blocks of fdatasync() that a mount puts into their files. */
	struct rollforward *synced;
	struct versions versions; /* gathered for the second comparison */
	/* Of AFTER: blocks in logs past the latest checkpoint of BEFORE; gathered
	   where they are needed. */
	struct versions newer;
	struct witness *witness; /* of BEFORE */
	struct sparse whole; /* logs with one block that was wrong, by the first
				block; what that was is proved, and so is all
				else in them */
	struct logindex *logs_before, *logs_after; /* the second is borrowed */
	const struct sparse *unread; /* blocks that no readable log has */
	/* Logs, by the first block, whose checksums were computed, and those of
	   them that match: each log is read once. */
	struct sides_sums {
		struct sparse known, right;
	} sums[2]; /* before, after */
	struct sparse written;	  /* blocks that the repair wrote */
	/* Blocks of metadata that were not what was written, and where that is
	   after the repair; 0: nowhere. */
	struct sides_wrong {
		uint64_t before, after;
	} *wrong;
	size_t nwrong, wrong_room;
	struct losslist *losses;
	bool is_sound; /* after the repair all links and names agree */
	char *blocks[2]; /* buffers: before, after */
	/*
	 * The first comparison only says which inodes are in doubt; the second
	 * one has their versions, and adds the losses.
	 */
	bool doubts;
	unsigned int foreign; /* inodes with blocks of others, of one block */
	bool contradicted; /* the DAT denies that a file had a block */
	bool lost_names; /* found by the first: names may be gone */
	/* Of one state: */
	bool unconfirmed; /* a directory may have names that it had not */
	bool recounted;	  /* an inode has another link count, or is unknown */
};

/* For a volume of NBLOCKS.  -ENOMEM; sides_fini_sums() also then. */
int sides_init_sums(struct sides *s, struct context *cx, uint64_t nblocks);
void sides_fini_sums(struct sides *s);

/* One state of the file system, on both sides. */
struct sides_state {
	uint64_t cno; /* before the repair */
	uint64_t inodes; /* that its entry counted then; 0: not known */
	bool latest, snapshot;
};

/*
 * Adds LOSS, of STATE, unless it is the first comparison, in which the inode is
 * in doubt then.  -ENOMEM.
 */
int sides_lose(struct sides *s, struct context *cx,
	       const struct sides_state *state, const struct loss *loss,
	       const char *name, size_t len);

/* Inodes [FIRST, END) have to be compared again with their versions. */
int sides_doubt(struct sides *s, struct context *cx, uint64_t first,
		uint64_t end);

/* Reads block BLOCKNR of one side into its buffer: 1, 0 where it cannot be. */
int sides_read(struct sides *s, struct context *cx, bool after,
	       uint64_t blocknr);

/* Whether block BEFORE, before the repair, and AFTER, after it, have the same
   content; reads both into the buffers. */
bool sides_same_content(struct sides *s, struct context *cx, uint64_t before,
			uint64_t after);

/* Adds a block to S->wrong.  -ENOMEM. */
int sides_note_wrong(struct sides *s, struct context *cx, uint64_t before,
		     uint64_t after);

/*
 * Notes node VBLOCKNR, which a log lists at BLOCKNR, as wrong if it is not the same
 * after the repair.  0, -ENOMEM.
 */
int sides_compare_node(struct sides *s, struct context *cx, uint64_t vblocknr,
		       uint64_t blocknr);

/* The log before the repair that has block BLOCKNR: false where none is known. */
bool sides_log(struct sides *s, struct context *cx, uint64_t blocknr,
	       struct logindex_log *log);

/*
 * Whether block BLOCKNR is proven after the repair: the checksum of the log
 * that has it matches, and is the one that it had before.
 */
bool sides_is_proven(struct sides *s, struct context *cx, uint64_t blocknr);

/*
 * Whether the log that had block BLOCKNR before the repair has a checksum that
 * does not match: then *PSEG is its first block.
 */
bool sides_wrong_log(struct sides *s, struct context *cx, uint64_t blocknr,
		     uint64_t *pseg);

/*
 * Whether BLOCKNR, in the log at PSEG, was BYTES when it was written: with them
 * its checksum matches.  The log, of sides_wrong_log(), is in S->whole then.
 */
bool sides_was(struct sides *s, struct context *cx, uint64_t pseg,
	       uint64_t blocknr, const void *bytes);

#endif
