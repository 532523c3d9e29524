/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The place of the latest super root.
 *
 * The superblock refers to a log with a super root.  If the volume was unmounted
 * cleanly that is the latest one; otherwise the chain of logs after it is followed,
 * because the kernel updates superblocks rarely.
 */
#ifndef NILFS2_VOL_RECOVERY_H
#define NILFS2_VOL_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct nilfs_geometry;
struct volume;

/* A place in the chain of logs. */
struct recovery_place {
	uint64_t pseg, seq, segnum, nextnum;
	unsigned int empty;	/* segments that ended without a log, in a row */
};

/* Advances to the first block of the next segment; false at the end of the chain. */
bool recovery_next_segment(struct recovery_place *at,
			   const struct nilfs_geometry *geo);

/* Advances beyond the log SS at the place; false at the end of the chain. */
bool recovery_next_log(struct recovery_place *at,
		       const struct nilfs_geometry *geo,
		       const struct nilfs_segment_summary *ss);

/* Whether a log can begin there; if not, the next log is in the next segment. */
bool recovery_has_room(const struct recovery_place *at,
		       const struct nilfs_geometry *geo);

struct recovery {
	uint64_t cno;		/* checkpoint of the latest super root */
	uint64_t super_root;	/* its block */
	uint64_t pseg_start;	/* first block of its log */
	uint64_t seq;		/* sequence number of its segment */
	uint64_t segnum;	/* the segment that is being written */
	uint64_t nextnum;	/* the segment that follows it */
	uint64_t offset;	/* blocks of segnum in use, up to that log's end */
	uint64_t ctime;		/* when its log was made, seconds */
	uint64_t passed;	/* super roots found after the superblock's */

	/* Logs that no super root follows: [orphans_start, orphans_end]. */
	uint64_t orphans_start, orphans_start_seq, orphans_end;
	uint64_t last_pseg, last_segnum, last_seq;	/* last valid log found */

	/* The first place in the chain without a valid log, and its number; 0 if the
	   chain was not followed.  The chain may continue in the next segment. */
	uint64_t gap_pseg, gap_seq;
};

/*
 * Finds the latest super root from superblock copy SB, following
 * nilfs_search_super_root().  FOLLOW requests a search after the first one (the kernel
 * does that unless VALID is set).  Fills *REC.  -EUCLEAN if the log to which the
 * superblock refers is not valid or has no super root; -EIO.
 */
int recovery_search(struct volume *vol, struct context *cx,
		    const struct nilfs_super_block *sb, bool follow,
		    struct recovery *rec);

/*
 * Fills the fields of *REC about logs without a super root that follow its log, whose
 * blocks need not be valid.  The next super root ends the walk.  -EIO.
 */
int recovery_follow(struct volume *vol, struct context *cx,
		    struct recovery *rec);

#endif
