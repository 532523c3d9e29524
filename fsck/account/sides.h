/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the account share: both sides, and what they have found. */
#ifndef NILFS2_FSCK_SIDES_H
#define NILFS2_FSCK_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "base/inoset.h"
#include "base/sparse.h"
#include "check/logs/logindex.h"
#include "disk/dirent.h"
#include "disk/palloc.h"
#include "fsck/account/account.h"
#include "fsck/account/losslist.h"
#include "fsck/witness/witness.h"
#include "vol/root.h"
#include "vol/volume.h"

/* One data block of a file, as it was written once or moved to. */
struct version {
	uint64_t ino, blkoff;
	uint64_t cno; /* written with; 0: not known */
	uint64_t vblocknr;
	uint64_t blocknr; /* on the device */
	uint64_t seq;	  /* of the log; greater is newer */
	bool is_suspect;  /* the checksum of the log does not match */
};

/* Those that logs list of some inodes.  All zero is empty; freed with
   versions_fini(). */
struct versions {
	struct inoset wanted; /* inodes, */
	uint64_t first, end;  /* and these */
	struct version *items;
	size_t n, room;
	uint64_t newest; /* the newest checkpoint of any log */
	bool gathered;
};

/* One state of the file system, on both sides. */
struct sides_state {
	uint64_t cno;  /* before the repair */
	bool latest;   /* or a snapshot */
	bool is_known; /* its entry could be read: */
	struct nilfs_inode ifile;
	uint64_t inodes; /* that it counted */
};

struct sides {
	const struct account_sides *in;
	struct volume *before, *after;
	struct logindex *logs[2];  /* before, after; the second is borrowed */
	/* Of BEFORE: blocks of fdatasync() that a mount puts into their
	   files. */
	struct rollforward *synced;
	uint64_t mounted; /* checkpoint that a mount finds before, or 0 */
	/* The latest state, then snapshots that exist on both sides. */
	struct sides_state *states;
	size_t nstates, states_room;
	/*
	 * The first comparison only says which inodes are in doubt; the second
	 * one has their versions, and adds the losses.
	 */
	bool is_first;
	bool doubts;
	struct versions versions; /* of BEFORE */
	/* Of AFTER: blocks in logs past the latest checkpoint of BEFORE;
	   gathered where they are needed. */
	struct versions newer;
	/*
	 * No entry of the DAT was moved, and no block in use was overwritten:
	 * files with unchanged inodes are unchanged.
	 */
	bool is_dat_same;
	/* Virtual blocks that have another entry, or whose block the repair has
	   written, or cannot prove; if that is known. */
	struct sparse changed;
	bool is_changed_known;
	struct sparse written; /* blocks that the repair wrote */
	struct sparse clean; /* blocks of ifiles without a difference */
	struct sparse whole; /* logs with one block that was wrong, by the first
				block; what that was is proved, and so is all
				else in them */
	/* Logs, by the first block, whose checksums were computed, and those of
	   them that match: each log is read once.  Before, after. */
	struct sparse summed[2], right[2];
	struct witness witness; /* of BEFORE */
	/* Blocks of metadata that were not what was written, and where that is
	   after the repair; 0: nowhere. */
	struct sides_wrong {
		uint64_t before, after;
	} *wrong;
	size_t nwrong, wrong_room;
	/* Logs of which more was written over than what the repair restored, by
	   the first block. */
	uint64_t *suspects;
	size_t nsuspects, suspects_room;
	struct losslist *losses;
	char *blocks[2]; /* buffers: before, after */
	unsigned int foreign; /* inodes with blocks of others, of one block */
	bool contradicted; /* the DAT denies that a file had a block */
	bool lost_names; /* found by the first: names may be gone */
	/* Of one state: */
	struct root roots[2]; /* before, after */
	bool has_before;      /* the first of them */
	bool unconfirmed; /* a directory may have names that it had not */
	bool recounted;	  /* an inode has another link count, or is unknown */
};

/*
 * Adds LOSS, of STATE, unless it is the first comparison, in which the inode is
 * in doubt then.  -ENOMEM.
 */
int sides_lose(struct sides *s, struct context *cx,
	       const struct sides_state *state, const struct loss *loss,
	       const char *name, size_t len);

/* Inode INO has to be compared again with its versions.  -ENOMEM. */
int sides_doubt(struct sides *s, struct context *cx, uint64_t ino);

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

/* The log of a side that has block BLOCKNR, of any use of its segment: the
   index that has its extents, NULL where none is known. */
struct logindex *sides_log(struct sides *s, struct context *cx, bool after,
			   uint64_t blocknr, struct logindex_log *log);

/* What a log before the repair says of block BLOCKNR, if any lists it. */
bool sides_listed(struct sides *s, struct context *cx, uint64_t blocknr,
		  struct segsum_block *b);

/*
 * Whether the checksum of the log that has block BLOCKNR on a side matches, and
 * after the repair is the one that it had before: then the block is proven.  1;
 * 0 where it does not match, -ENOENT without a log.  *PSEG: its first block;
 * NULL: not wanted.
 */
int sides_is_right(struct sides *s, struct context *cx, bool after,
		   uint64_t blocknr, uint64_t *pseg);

/*
 * Whether BLOCKNR, in the log at PSEG, was BYTES when it was written: with them
 * its checksum matches.  The log, of sides_is_right(), is in S->whole then.
 */
bool sides_was(struct sides *s, struct context *cx, uint64_t pseg,
	       uint64_t blocknr, const void *bytes);

/* Inode I of BLOCK of an ifile. */
static inline const struct nilfs_inode *
sides_inode(const struct sides *s, const char *block, uint64_t i)
{
	return (const void *)(block + i * s->before->geo.inode_size);
}

static inline uint16_t sides_links(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count);
}

/*
 * Reads all logs of a side with a valid summary, of segments in use or not, and
 * sorts the blocks that V wants, or that were written with a checkpoint past
 * BEYOND; of these logs checksums are checked.  -ENOMEM, -EINTR.
 */
int versions_gather(struct versions *v, struct context *cx, struct sides *s,
		    bool after, uint64_t beyond);
void versions_fini(struct versions *v);

/* The versions of blocks [FIRST, END) of inode INO, *N: by block, newest
   first. */
const struct version *versions_of(const struct versions *v, uint64_t ino,
				  uint64_t first, uint64_t end, size_t *n);

/*
 * A walk through the blocks that inode INO had in checkpoint CNO: by its map,
 * or where that cannot be read by the summaries of the logs.
 */
struct filewalk_block {
	uint64_t blkoff;
	uint64_t vblocknr; /* 0: no pointer could be read */
	uint64_t blocknr;  /* 0: the DAT does not say */
};

struct filewalk {
	struct sides *s;
	uint64_t cno, ino;
	const struct nilfs_inode *inode; /* NULL: could not be read */
	/* In the order of the file; 0, or a failure that ends the walk. */
	int (*visit)(void *arg, struct context *cx,
		     const struct filewalk_block *b);
	/*
	 * Blocks [BLKOFF, END) that neither map nor logs have.  NULL: not
	 * wanted; else nodes of the map are compared with those after the
	 * repair.
	 */
	int (*unknown)(void *arg, struct context *cx, uint64_t blkoff,
		       uint64_t end);
	void *arg;
	/* The root after the repair is the same: blocks are not visited whose
	   entries are as before, nor those of nodes on the way. */
	bool is_same_root;
	uint64_t limit; /* set: blocks from here on do not count */
	/* Set: parts of the map could not be read, all of them between
	   these. */
	bool doubt;
	uint64_t doubt_first, doubt_end;
};

/*
 * Walks.  Where the map cannot be read the newest version that can have been of
 * that checkpoint is what the file had, not in the first comparison.  0,
 * -ENOMEM, -EINTR, or what a call failed with.
 */
int versions_walk(struct filewalk *w, struct context *cx);

/* What the DAT says of VBLOCKNR, 0 where none is known, at the checkpoint. */
enum versions_life {
	LIFE_DEAD,
	LIFE_UNKNOWN,
	LIFE_ALIVE,
};

enum versions_life versions_life(const struct filewalk *w, struct context *cx,
				 uint64_t vblocknr);

/*
 * Of the versions of block BLKOFF, the one that the file had: that the DAT says
 * was alive then, or else the newest for which it says nothing else.  VBLOCKNR,
 * unless 0, is the number that it had.  NULL: none is known.
 */
const struct version *versions_had(const struct filewalk *w,
				   struct context *cx, uint64_t blkoff,
				   uint64_t vblocknr);

/*
 * Compares the entries of checkpoints before the repair: missing ones, and
 * snapshots that are plain checkpoints now, are added to the losses.  Collects
 * S->states.  0, -ENOMEM, -EINTR.
 */
int comparecps_run(struct sides *s, struct context *cx);

/*
 * If superblocks name a checkpoint after the latest one of the side before,
 * NEWEST, or logs do unless none is known to be damaged, these are lost, with
 * the content of their logs: adds both to the losses, the latter as of the
 * latest state.  The last comparison.  0, -ENOMEM, -EINTR.
 */
int comparecps_newer(struct sides *s, struct context *cx, uint64_t newest);

/* Compares all files of STATE.  0, -ENOMEM, -EINTR. */
int comparetree_run(struct sides *s, struct context *cx,
		    const struct sides_state *state);

/* A walk through the ifile of a state, and the block that is compared. */
struct ifilewalk {
	struct sides *s;
	const struct sides_state *state;
	struct filewalk w;
	struct file before; /* the ifile, if it is known */
	struct file *ifile; /* that, or NULL */
	bool is_complete; /* as many inodes as its entry counted before */
	const struct filewalk_block *at;
	struct palloc_block what;
	uint64_t blocknr; /* where the block was; 0: not known */
	char *inodes[2];  /* of each side */
	bool has[2];	  /* it could be read */
	bool has_inodes;  /* the block before is one of inodes */
	bool is_proven;	  /* it is what was written, which was found */
	bool is_stale;	  /* it is, but of an older checkpoint */
};

static inline const struct nilfs_inode *
ifilewalk_inode(const struct ifilewalk *w, int side, uint64_t i)
{
	return sides_inode(w->s, w->inodes[side], i);
}

/* What the bitmap of IFILE, or NULL, says of inode INO: 1 in use, 0 free,
   negative if it cannot be read, or has not as many as its descriptor says. */
int attributes_is_in_use(struct file *ifile, struct context *cx, uint64_t ino);

/*
 * Whether the block before is, byte for byte, a version that another one has
 * replaced by the checkpoint.  Uses the buffers of the sides.
 */
bool attributes_is_stale(const struct ifilewalk *w, struct context *cx);

/*
 * The block as it was written, where the checksum of its log proves it: that
 * after the repair, or with the unused inodes of another version.  Borrowed
 * until the buffers of the sides are used again; NULL where nothing is proved.
 */
const char *attributes_find(const struct ifilewalk *w, struct context *cx);

/*
 * Adds the inodes whose attributes have, or may have, changed.  If more than
 * one was changed, or refers to blocks of others, the whole block is treated as
 * another one.  1 if there is any, 0, -ENOMEM, -EINTR.
 */
int attributes_compare(const struct ifilewalk *w, struct context *cx);

/*
 * Compares inode INO of STATE.  BEFORE is NULL if it could not be read, AFTER
 * if there is none.  0, -ENOMEM, -EINTR.
 */
int comparefile_run(struct sides *s, struct context *cx,
		    const struct sides_state *state, uint64_t ino,
		    const struct nilfs_inode *before,
		    const struct nilfs_inode *after);

/*
 * The block that the file of W had as B: what B says, or what a version says
 * where the logs contradict the DAT; 0 where there is no telling.  AFTER is
 * what it has after the repair, 0 for a hole; where that is the same, or a
 * newer version, it is what comes back.
 */
uint64_t comparefile_settle(const struct filewalk *w, struct context *cx,
			    const struct filewalk_block *b, uint64_t after);

/*
 * Whether block AFTER is what the newest log has for block BLKOFF of inode INO,
 * which a mount before the repair would not have found: 1, 0, -ENOMEM, -EINTR.
 */
int comparefile_is_newest(struct sides *s, struct context *cx, uint64_t ino,
			  uint64_t blkoff, uint64_t after);

/* A directory that is compared: SIDES, STATE and AFTER are set, the rest is
   zero. */
struct comparedir {
	struct sides *s;
	const struct sides_state *state;
	struct file *after;
	bool read;    /* NAMES has those after the repair */
	bool has_new; /* and some that may not have been there */
	/* Names with their inodes, and bits of what is known of them */
	struct pairtable names;
	char *block; /* the one that is compared, as it was */
	/* The blocks that were compared, which are not in their place as they
	   were. */
	struct comparedir_place {
		uint64_t blkoff;
		uint64_t blocknr; /* before the repair, or 0 */
		bool is_known;	  /* it could be read, or is proved */
	} *blocks;
	size_t nblocks, blocks_room;
};

/*
 * Adds the names in block BLKOFF of the directory, which was at BLOCKNR before,
 * that it has not any more, and those in it now that replace lost ones.  Where
 * BLOCKNR is 0, cannot be read, or is not a block of the directory, and no
 * checksum proves what it was, the names in it are unknown, and it is the range
 * that is added.  0, -ENOMEM, -EINTR.
 */
int comparedir_block(struct comparedir *d, struct context *cx, uint64_t blkoff,
		     uint64_t blocknr);

/*
 * Adds the names in directories that the repair made in D, the root directory
 * after it: these replace lost ones.  0, -ENOMEM, -EINTR.
 */
int comparedir_made(const struct comparedir *d, struct context *cx);
void comparedir_fini(struct comparedir *d);

/*
 * Whether each name of the directory, of which all blocks were compared, was in
 * it before the repair: read there, or shown by another version.  1, 0,
 * -ENOMEM, -EINTR.
 */
int comparedir_confirm(struct comparedir *d, struct context *cx);

/*
 * Adds the blocks that a mount before the repair would have recovered, and that
 * their files do not have after it.  0, -ENOMEM, -EINTR.
 */
int suspects_synced(struct sides *s, struct context *cx);

/*
 * Finds the logs that have blocks in S->wrong, and whose checksum does not
 * match with what the repair made of these.  A single one that it could not
 * restore explains that.  Those whose checksum matches are in S->whole
 * then.  0, -ENOMEM, -EINTR.
 */
int suspects_find(struct sides *s, struct context *cx);

/*
 * The state before has logs past the checkpoint that a mount finds, which it
 * does not accept: adds the blocks of files in those whose checksum does not
 * match, if the files have them after the repair, and the inodes in those of
 * the ifile.  The logs are suspects then: snapshots may have blocks that were
 * moved there.  0, -ENOMEM, -EINTR.
 */
int suspects_newer(struct sides *s, struct context *cx);

/*
 * Adds to the losses the blocks of files in suspect logs that STATE has after
 * the repair as it had them before.  For the latest state logs past the
 * checkpoint that a mount finds are left out.  0, -ENOMEM, -EINTR.
 */
int suspects_compare(struct sides *s, struct context *cx,
		     const struct sides_state *state);

#endif
