/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes of any checkpoint: what they are to be (inodedecide.c), how they are
   changed in their place (inodeedit.c), and their repair (fix_inodes.c,
   fix_ifile.c) for other repairs. */
#ifndef NILFS2_FSCK_INODEEDIT_H
#define NILFS2_FSCK_INODEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "disk/rule.h"
#include "fsck/derive/fileblocks.h"
#include "fsck/snapshots/snapblocks.h"
#include "fsck/plan/fixers.h"
#include "log/meta/metafile.h"

/* An inode of a checkpoint. */
struct inodecase {
	uint64_t cno, ino;
	struct lifetime life;	/* of its block of the ifile; of the newest
				   checkpoint: without an end */
	enum rule rule;		/* of a finding, else RULE_INODE_EMPTY, */
	uint64_t got;		/* and what that got */
	struct nilfs_inode inode;
	bool must_live;		/* it is marked free: only with blocks that live */
	bool named;		/* ... or with none at all, since a name has it */

	/* Filled in. */
	uint8_t type;		/* NILFS_FT_..., by its names */
	bool misnamed;		/* it has another one, and is wrong */
	bool garbage;		/* more than a field is wrong */
	bool asked;
	/* The nearest checkpoint that has the inode, by preference as it was, or
	   with blocks that this one has too; 0: none. */
	uint64_t other_cno;
	struct nilfs_inode other;
	bool same, fits;
	bool old_map;		/* it is to have a map that may have ended */
};

struct inodeedit {
	struct fixer_job *job;
	const struct nilfs_geometry *geo;
	const struct palloc *palloc;
	uint64_t latest;	/* number of the latest state */
	struct metafile *ifile;	/* of that; borrowed */
	struct snapblocks *snap;	/* of snapshots; borrowed */

	/* For decisions. */
	struct nearcps nearby;
	struct vblocks vblocks;
	uint64_t *inos;		/* that were asked for, ascending */
	uint8_t *types;		/* NILFS_FT_..., by their names */
	size_t n, room;
	uint64_t named;		/* checkpoint whose names were read; 0: none */
	struct fileblocks fileblocks;	/* of those inodes */
	bool listed;		/* these were gathered, */
	bool many;		/* but are too many */
	bool last;		/* inodes of the latest state of which nothing is
				   known are cleared */

	/* What came of them. */
	int64_t more;		/* inodes in use there than before */
	bool bits;		/* any bit there was changed */
	uint64_t *borrowed;	/* whose maps are of another checkpoint */
	size_t nborrowed, borrowed_room;
	size_t ndirs;		/* directories that can be read again */
	size_t nlater;		/* inodes whose type is not known yet */
	char *block;		/* of a snapshot, the one that was read last */
};

/*
 * Prepares repairs of the N inodes INOS, and of those beside them, which may be
 * no better.  PAST: NULL where only the latest state is changed.  -ENOMEM,
 * -EINTR; inodeedit_close() also then.
 */
int inodeedit_open(struct inodeedit *e, struct context *cx,
		   struct fixer_job *job, struct snapblocks *snap,
		   const uint64_t *inos, size_t n);

/* Inode INO of checkpoint CNO in *C: 1, 0 (and zeros) where its block is missing
   or, of a snapshot, cannot be changed. */
int inodeedit_case(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, struct inodecase *c);

/* Inode C becomes C->inode: 1, 0 where it is that already. */
int inodeedit_write(struct inodeedit *e, struct context *cx,
		    const struct inodecase *c);

/* Makes inode C what it is to be, or gives it up, unless it must live: 1 where it
   is another now, 0. */
int inodeedit_decide(struct inodeedit *e, struct context *cx,
		     struct inodecase *c);

/* Whether INO is marked in use: 1, 0, or a failure. */
int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t cno, uint64_t ino);

/* Marks INO in use, or free, and counts the group again. */
int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, bool used);

/* Clears INO and marks it free.  Its blocks leak. */
int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t cno,
		    uint64_t ino);

/* The end, by ERR so far: the writer learns what was changed, and maps of the
   other checkpoints are repaired. */
int inodeedit_close(struct inodeedit *e, struct context *cx, int err);

/* Whether anything is wrong with the fields of C: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_wrong(struct inodeedit *e, struct context *cx,
			 struct inodecase *c);

/*
 * Asks the checkpoints that have another block of the ifile for C: 1 where one
 * has it as it was, 0; what there is stands in C.  -ENOMEM, -EINTR.
 */
int inodedecide_ask(struct inodeedit *e, struct context *cx,
		    struct inodecase *c);

/* Whether those have another file by the number of C: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_another(struct inodeedit *e, struct context *cx,
			   struct inodecase *c);

/*
 * Makes C->inode what it is to be, and notes it: 1; 0 where nothing is known of
 * it.  -ENOMEM, -EINTR.
 */
int inodedecide_run(struct inodeedit *e, struct context *cx,
		    struct inodecase *c);

/* As fixers_note(), of C. */
void inodedecide_note(struct inodeedit *e, const struct inodecase *c,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Sets *RULE to the first rule that INODE, of number INO, breaks by itself, links
 * left out, or by the target that it leads to, or to RULE_OK.  -ENOMEM, -EINTR.
 */
int inodeedit_check(struct volume *vol, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode, enum rule *rule);

/* Whether all of the map of INODE can be read: 1, 0, -ENOMEM, -EINTR. */
int inodeedit_map_is_whole(struct volume *vol, struct context *cx,
			   uint64_t ino, const struct nilfs_inode *inode);

/*
 * Sets i_blocks to what the map of INODE, of number INO, has as far as it can
 * be read, and its size where that does not end in the last block: then it is
 * the end of that.  -ENOMEM, -EINTR.
 */
int inodeedit_fit(struct volume *vol, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode);

/*
 * Repairs what can be derived from INODE, the latest checkpoint's INO, and its
 * blocks: times, sizes, and what the type (NILFS_FT_..., as its names say, or
 * NILFS_FT_UNKNOWN) has to be.  Links, and what is wrong with the map, are left
 * alone.  1 where the rest is right now; 0 where nothing can be made of it;
 * -ENOMEM, -EINTR.
 */
int inodeedit_fields(struct volume *vol, struct context *cx, uint64_t ino,
		     uint8_t type, struct nilfs_inode *inode);

/* Makes INODE one of TYPE (NILFS_FT_..., not unknown), and nothing else. */
void inodeedit_set_type(uint8_t type, struct nilfs_inode *inode);

/*
 * Fills the ifile of JOB's writer where it begins without blocks, or the holes
 * that FIXES name: with the blocks that it had and, in place of what cannot be
 * read, with what the newest older checkpoint has.  The cpfile is repaired
 * before.  Inodes in use of holes that stay are freed.  1 where directories were
 * restored, 0, or a failure of the writer, -ENOMEM, -EINTR.
 */
int fix_ifile_fill(struct fixer_job *job, struct context *cx,
		   const struct finding *fixes, size_t n);

enum fix_inodes_which {
	/* Those of FIXES. */
	FIX_INODES_ALL,
	/* Those that directories of FIXES name, and that are in use, but were
	   lost: empty or marked as deleted. */
	FIX_INODES_LOST,
	/* Those that have fewer names than links: the links become the number
	   of the names whatever other checkpoints have. */
	FIX_INODES_COUNTS,
	/* The rest is of the latest state, and for fix_inodes.c alone: those that
	   directories name, all, all but none is given up. */
	FIX_INODES_NAMED,
	FIX_INODES_LATEST,
	FIX_INODES_SPARING,
};

/*
 * Puts in P what inodes of snapshots, not of the latest state, are to be, and
 * notes it.  Nothing is written.  -ENOMEM, -EINTR.
 */
int fix_inodes_snapshots(struct snapblocks *p, struct context *cx,
		    const struct finding *fixes, size_t n,
		    enum fix_inodes_which which);

/*
 * Inodes that directories of FIXES name, in the latest state, and that are
 * empty and marked free, as are others of their blocks: those come back that
 * logs and other checkpoints show to be in use.  How many, or -ENOMEM, -EINTR,
 * or a failure of the writer.
 */
int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct finding *fixes, size_t n);

/*
 * The same for inodes for which the logs have blocks that live although no map
 * leads to them: after damage of bitmaps.  0, or a failure as above.
 */
int fix_inodes_leaked(struct fixer_job *job, struct context *cx);

#endif
