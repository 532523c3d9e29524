/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volume before a repair and after it, and the losses found so far: the state
   that all comparisons of the account (account.h) share. */
#ifndef NILFS2_FSCK_SIDES_H
#define NILFS2_FSCK_SIDES_H

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

/* One data block of a file, as a log wrote or moved it. */
struct version {
	uint64_t ino, blkoff;
	uint64_t cno; /* of the log; 0: not known */
	uint64_t vblocknr;
	uint64_t blocknr; /* on the device */
	uint64_t seq;	  /* of the log; greater is newer */
	bool is_suspect;  /* the checksum of the log does not match */
};

/* Versions that logs list for some inodes. Empty if all zero; freed with
   versions_fini(). */
struct versions {
	struct inoset wanted; /* inodes that are gathered */
	uint64_t first, end;  /* a further range of inodes */
	struct version *items;
	size_t n, room;
	uint64_t newest; /* the newest checkpoint of any log */
	/* The logs with a super root, by checkpoint. */
	struct versions_root {
		uint64_t cno; /* first field */
		uint64_t time;
	} *logs;
	size_t nlogs, logs_room;
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
	/* Of BEFORE: fdatasync() blocks that a mount writes to their files. */
	struct rollforward *synced;
	uint64_t mounted; /* checkpoint that a mount finds before, or 0 */
	/* The latest state, then snapshots that exist on both sides. */
	struct sides_state *states;
	size_t nstates, states_room;
	/* The first comparison only finds the inodes in doubt. The second one
	   has their versions and adds the losses. */
	bool is_first;
	bool doubts;
	struct versions versions; /* of BEFORE */
	/* Of AFTER: blocks in logs after the latest checkpoint of BEFORE;
	   gathered on demand. */
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
	struct sparse whole; /* logs with one wrong block, by their first block; the
				checksum proves the content of that block and of the
				whole log */
	/*
	 * Logs, by their first block, whose checksums were computed, and those
	 * whose checksums match, so that each log is read once. Before, after.
	 */
	struct sparse summed[2], right[2];
	struct witness witness; /* of BEFORE */
	/* Wrong metadata blocks before the repair, and their place after it; 0:
	   none. */
	struct sides_wrong {
		uint64_t before, after;
	} *wrong;
	size_t nwrong, wrong_room;
	/* Logs, by their first block, with more overwritten blocks than the
	   repair restored. */
	uint64_t *suspects;
	size_t nsuspects, suspects_room;
	uint64_t unmarked; /* last checkpoint whose snapshot flag may be lost, or 0 */
	struct losslist *losses;
	char *blocks[2]; /* buffers: before, after */
	unsigned int foreign; /* inodes of one block that have blocks of other files */
	bool contradicted; /* the DAT shows that a file did not have a block */
	bool lost_names; /* found by the first comparison: names may be lost */
	/* Of one state: */
	struct root roots[2]; /* before, after */
	bool has_before;      /* the first of them */
	bool unconfirmed; /* a directory may have names that it did not have before */
	bool recounted;	  /* a link count changed or is not known */
	bool is_complete; /* it has as many inodes as its entry counted before */
};

/* Adds LOSS of STATE. The first comparison only records that the inode is in
   doubt. -ENOMEM. */
int sides_add_loss(struct sides *s, struct context *cx,
		   const struct sides_state *state, const struct loss *loss,
		   const char *name, size_t len);

/* Records that inode INO has to be compared again
   with its versions. -ENOMEM. */
int sides_doubt(struct sides *s, struct context *cx, uint64_t ino);

/* Reads block BLOCKNR of one side into its buffer: 1,
   0 if it cannot be read. */
int sides_read(struct sides *s, struct context *cx, bool after,
	       uint64_t blocknr);

/* Whether block BEFORE, before the repair, and AFTER, after it, have the same
   content; reads both into the buffers. */
bool sides_same_content(struct sides *s, struct context *cx, uint64_t before,
			uint64_t after);

/* Adds a block to S->wrong.  -ENOMEM. */
int sides_note_wrong(struct sides *s, struct context *cx, uint64_t before,
		     uint64_t after);

/* The log of a side that contains block BLOCKNR, of any use of its segment.
   Returns the index that has its extents, NULL if no log is known. */
struct logindex *sides_log(struct sides *s, struct context *cx, bool after,
			   uint64_t blocknr, struct logindex_log *log);

/* Finds the entry for block BLOCKNR in the logs before the repair; false if
   none lists it. */
bool sides_find_listing(struct sides *s, struct context *cx, uint64_t blocknr,
			struct segsum_block *b);

/*
 * Whether the checksum of the log that contains block BLOCKNR on a side
 * matches, and after the repair is the same as before: then the block is
 * proven. 1; 0 if it does not match, -ENOENT without a log. *PSEG: the first
 * block of the log; NULL: not wanted.
 */
int sides_is_right(struct sides *s, struct context *cx, bool after,
		   uint64_t blocknr, uint64_t *pseg);

/*
 * Whether BLOCKNR, in the log at PSEG, was written with the content BYTES: the
 * checksum of the log matches with them. The log, of sides_is_right(), is then
 * added to S->whole.
 */
bool sides_was_written(struct sides *s, struct context *cx, uint64_t pseg,
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
 * Reads all logs of a side with a valid summary, in segments in use or not, and
 * sorts the blocks that V wants or that were written with a checkpoint after
 * BEYOND. The checksums of the latter logs are verified. -ENOMEM, -EINTR.
 */
int versions_gather(struct versions *v, struct context *cx, struct sides *s,
		    bool after, uint64_t beyond);
void versions_fini(struct versions *v);

/* The versions of blocks [FIRST, END) of inode INO by block, newest first;
   their number in *N. */
const struct version *versions_of(const struct versions *v, uint64_t ino,
				  uint64_t first, uint64_t end, size_t *n);

/* Whether a log proves that checkpoint CNO has TIME. */
bool versions_prove_time(const struct versions *v, uint64_t cno, uint64_t time);

/* A walk through the blocks that inode INO had in checkpoint CNO, by its map,
   or by the summaries of the logs if the map cannot be read. */
struct filewalk_block {
	uint64_t blkoff;
	uint64_t vblocknr; /* 0: no pointer could be read */
	uint64_t blocknr;  /* 0: not known from the DAT */
};

struct filewalk {
	struct sides *s;
	uint64_t cno, ino;
	const struct nilfs_inode *inode; /* NULL: could not be read */
	/* In the order of the file; 0, or a failure that ends the walk. */
	int (*visit)(void *arg, struct context *cx,
		     const struct filewalk_block *b);
	/* Blocks [BLKOFF, END) that neither map nor logs have. If it is set,
	   nodes of the map are compared with those after the repair. */
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
 * Walks through the blocks. Where the map cannot be read, the second comparison
 * takes the newest version that can be of that checkpoint. 0, -ENOMEM, -EINTR,
 * or the failure of a callback.
 */
int versions_walk(struct filewalk *w, struct context *cx);

/* The state of VBLOCKNR (0: not known) at the
   checkpoint, according to the DAT. */
enum versions_liveness {
	VERSIONS_DEAD,
	VERSIONS_UNKNOWN,
	VERSIONS_LIVE,
};

enum versions_liveness versions_liveness(const struct filewalk *w, struct context *cx,
					 uint64_t vblocknr);

/*
 * Of the versions of block BLKOFF, the one that the file had: the version that
 * was live then according to the DAT, or else the newest one that the DAT does
 * not contradict. VBLOCKNR, unless 0, is its virtual block number. NULL: not
 * known.
 */
const struct version *versions_choose(const struct filewalk *w,
				      struct context *cx, uint64_t blkoff,
				      uint64_t vblocknr);

/*
 * Compares the entries of checkpoints before the repair: missing ones, and
 * snapshots that are plain checkpoints now, are added to the losses.  Collects
 * S->states.  0, -ENOMEM, -EINTR.
 */
int comparecps_run(struct sides *s, struct context *cx);

/*
 * If superblocks name a checkpoint NEWEST after the latest one of the side
 * before, or if logs have one and some logs are known to be damaged, these
 * checkpoints are lost, with the content of their logs. Adds both to the
 * losses, the latter as of the latest state. The last comparison. 0, -ENOMEM,
 * -EINTR.
 */
int comparecps_newer(struct sides *s, struct context *cx, uint64_t newest);

/* Compares all files of STATE.  0, -ENOMEM, -EINTR. */
int comparetree_run(struct sides *s, struct context *cx,
		    const struct sides_state *state);

/* A walk through the ifile of a state, and the block being compared. */
struct ifilewalk {
	struct sides *s;
	const struct sides_state *state;
	struct filewalk w;
	struct file before; /* the ifile, if it is known */
	struct file *ifile; /* BEFORE, or NULL */
	const struct filewalk_block *at;
	struct palloc_block what;
	uint64_t blocknr; /* where the block was; 0: not known */
	char *inodes[2];  /* of each side */
	bool has[2];	  /* the block could be read */
	bool has_inodes;  /* the block before is one of inodes */
	bool is_proven;	  /* the block is the written content, found by
			     attributes_find() */
	bool is_stale;	  /* the block is of an older checkpoint */
};

static inline const struct nilfs_inode *
ifilewalk_inode(const struct ifilewalk *w, int side, uint64_t i)
{
	return sides_inode(w->s, w->inodes[side], i);
}

/*
 * The bit of inode INO in the bitmap of IFILE, which may be NULL: 1 in use, 0
 * free, negative if it cannot be read or disagrees with the count in its
 * descriptor.
 */
int attributes_is_in_use(struct file *ifile, struct context *cx, uint64_t ino);

/* Whether inode INO does not exist after the repair and did not exist before:
   as many inodes are in use as the entry of the checkpoint counted. */
bool attributes_is_missing(struct sides *s, struct context *cx, uint64_t ino);

/* Whether the block before equals a version that was already replaced at the
   checkpoint. Uses the buffers of the sides. */
bool attributes_is_stale(const struct ifilewalk *w, struct context *cx);

/*
 * The block as it was written, if the checksum of its log proves it: the block
 * after the repair, or with the unused inodes of another version. Borrowed
 * until the buffers of the sides are reused; NULL if nothing is proven.
 */
const char *attributes_find(const struct ifilewalk *w, struct context *cx);

/*
 * Adds the inodes whose attributes changed or may have changed. If more than
 * one inode was changed or refers to blocks of other files, the whole block is
 * treated as another one. 1 if any was added, 0, -ENOMEM, -EINTR.
 */
int attributes_compare(const struct ifilewalk *w, struct context *cx);

/* Compares inode INO of STATE. BEFORE is NULL if it could not be read, AFTER is
   NULL if it does not exist. 0, -ENOMEM, -EINTR. */
int comparefile_run(struct sides *s, struct context *cx,
		    const struct sides_state *state, uint64_t ino,
		    const struct nilfs_inode *before,
		    const struct nilfs_inode *after);

/*
 * The block number that the file of W had for B: that in B, or that of a
 * version if the logs contradict the DAT; 0 if undecided. AFTER is the block
 * after the repair, 0 for a hole; it is returned if it is the same block or a
 * newer version.
 */
uint64_t comparefile_settle(const struct filewalk *w, struct context *cx,
			    const struct filewalk_block *b, uint64_t after);

/*
 * Whether block AFTER is the block that the newest log lists for block BLKOFF
 * of inode INO, which a mount before the repair would not have found: 1, 0,
 * -ENOMEM, -EINTR.
 */
int comparefile_is_newest(struct sides *s, struct context *cx, uint64_t ino,
			  uint64_t blkoff, uint64_t after);

/* A directory being compared. The caller sets SIDES, STATE and AFTER, and
   clears the rest. */
struct comparedir {
	struct sides *s;
	const struct sides_state *state;
	struct file *after;
	bool read;    /* NAMES has the names after the repair */
	bool has_new; /* and some that may be new */
	/* Names with their inodes, and their bits. */
	struct pairtable names;
	char *block; /* the compared block, as it was written */
	/* The compared blocks whose place or content changed. */
	struct comparedir_place {
		uint64_t blkoff;
		uint64_t blocknr; /* before the repair, or 0 */
		bool is_known;	  /* it could be read, or is proven */
	} *blocks;
	size_t nblocks, blocks_room;
};

/*
 * Adds the names in block BLKOFF of the directory, at BLOCKNR before the
 * repair, that the directory no longer has, and present names that replace lost
 * ones. The byte range of the block is added instead if BLOCKNR is 0, cannot be
 * read, or is not a block of the directory, and no checksum proves its content.
 * 0, -ENOMEM, -EINTR.
 */
int comparedir_block(struct comparedir *d, struct context *cx, uint64_t blkoff,
		     uint64_t blocknr);

/* Adds the names in directories that the repair made in D, the root directory
   after the repair. They replace lost names. 0, -ENOMEM, -EINTR. */
int comparedir_made(const struct comparedir *d, struct context *cx);
void comparedir_fini(struct comparedir *d);

/*
 * Whether each name of the directory existed before the repair: it was read
 * there, or another version shows it. All blocks were compared before. 1, 0,
 * -ENOMEM, -EINTR.
 */
int comparedir_confirm(struct comparedir *d, struct context *cx);

/* Adds the blocks that a mount before the repair would have recovered and that
   their files lack after it. 0, -ENOMEM, -EINTR. */
int suspects_synced(struct sides *s, struct context *cx);

/*
 * Finds the logs that have blocks in S->wrong and whose checksum does not match
 * with the repaired blocks. A log is accepted if a single block that the repair
 * could not restore exactly explains the mismatch. Logs whose checksum matches
 * are added to S->whole. 0, -ENOMEM, -EINTR.
 */
int suspects_find(struct sides *s, struct context *cx);

/*
 * The state before has logs after the checkpoint that a mount finds, which a
 * mount rejects. For those whose checksum does not match, adds the blocks of
 * files if the files have them after the repair, and the inodes in blocks of
 * the ifile. These logs become suspects, because snapshots may have blocks that
 * were moved there. 0, -ENOMEM, -EINTR.
 */
int suspects_newer(struct sides *s, struct context *cx);

/*
 * Adds the blocks of files in suspect logs that STATE has unchanged after the
 * repair. For the latest state, logs after the checkpoint that a mount finds
 * are skipped. 0, -ENOMEM, -EINTR.
 */
int suspects_compare(struct sides *s, struct context *cx,
		     const struct sides_state *state);

#endif
