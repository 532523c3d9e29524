/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inodes of any checkpoint: decisions about their content (inodedecide.c),
 * changes in place (inodeedit.c), and their repair (fix_inodes.c, fix_ifile.c)
 * for other repairs.
 */
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
	struct lifetime life;	/* lifetime of its block of the ifile; in the
				   newest checkpoint without end */
	enum rule rule;		/* rule of the finding, else RULE_INODE_EMPTY, */
	uint64_t got;		/* and the value found */
	struct nilfs_inode inode;
	bool must_live;		/* it is marked free: restore it only with
				   live blocks */
	bool named;		/* ... or without blocks, because it has a name */

	/* Results: */
	uint8_t type;		/* NILFS_FT_..., from its names */
	bool misnamed;		/* the inode has another type than its names */
	bool garbage;		/* more than a field is wrong */
	bool asked;
	/* The nearest checkpoint that has the inode, preferably unchanged, or
	   with blocks that this one has too; 0: none. */
	uint64_t other_cno;
	struct nilfs_inode other;
	bool same, fits;
	bool old_map;		/* it gets a map whose blocks may have ended */
};

struct inodeedit {
	struct fixer_job *job;
	const struct nilfs_geometry *geo;
	const struct palloc *palloc;
	uint64_t latest;	/* number of the latest checkpoint */
	struct metafile *ifile;	/* of the latest state; borrowed */
	struct snapblocks *snap;	/* of snapshots; borrowed */

	/* Used for decisions. */
	struct nearcps nearby;
	struct vblocks vblocks;
	uint64_t *inos;		/* inodes to be decided, ascending */
	uint8_t *types;		/* NILFS_FT_..., from their names */
	size_t n, room;
	uint64_t named;		/* checkpoint whose names were read; 0: none */
	struct fileblocks fileblocks;	/* blocks of the inodes INOS */
	bool listed;		/* they were gathered, */
	bool many;		/* or are too many */
	bool last;		/* in the latest state, unknown inodes are
				   cleared */

	/* Results: */
	int64_t more;		/* inodes in use in the latest state, minus
				   those before */
	bool bits;		/* a bit of the latest bitmaps was changed */
	uint64_t *borrowed;	/* inodes with maps of another checkpoint */
	size_t nborrowed, borrowed_room;
	size_t ndirs;		/* directories made readable */
	size_t nlater;		/* inodes whose type is not known yet */
	char *block;		/* of a snapshot, the block read last */
};

/*
 * Prepares repairs of the N inodes INOS, and of their neighbours, which may be
 * damaged too.  SNAP: NULL if only the latest state is changed.  -ENOMEM,
 * -EINTR; call inodeedit_close() also then.
 */
int inodeedit_open(struct inodeedit *e, struct context *cx,
		   struct fixer_job *job, struct snapblocks *snap,
		   const uint64_t *inos, size_t n);

/* Loads inode INO of checkpoint CNO to *C: 1, 0 (and zeros) if its block is
   missing or, in a snapshot, cannot be changed. */
int inodeedit_case(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, struct inodecase *c);

/* Writes C->inode: 1, 0 if it is equal already. */
int inodeedit_write(struct inodeedit *e, struct context *cx,
		    const struct inodecase *c);

/* Repairs inode C, or clears it, unless it must live: 1 if it was changed, 0. */
int inodeedit_decide(struct inodeedit *e, struct context *cx,
		     struct inodecase *c);

/* Whether INO is marked in use: 1, 0, or a failure. */
int inodeedit_is_used(const struct inodeedit *e, struct context *cx,
		      uint64_t cno, uint64_t ino);

/* Marks INO in use, or free, and recounts the group. */
int inodeedit_mark(struct inodeedit *e, struct context *cx, uint64_t cno,
		   uint64_t ino, bool used);

/* Clears INO and marks it free.  Its blocks are leaked. */
int inodeedit_clear(struct inodeedit *e, struct context *cx, uint64_t cno,
		    uint64_t ino);

/* Ends the repairs, with the result ERR so far: passes the changes to the
   writer and repairs maps of other checkpoints. */
int inodeedit_close(struct inodeedit *e, struct context *cx, int err);

/* Whether any field of C is wrong: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_wrong(struct inodeedit *e, struct context *cx,
			 struct inodecase *c);

/*
 * Looks in checkpoints with another block of the ifile for C: 1 if one has it
 * unchanged, 0; the best candidate is stored in C.  -ENOMEM, -EINTR.
 */
int inodedecide_ask(struct inodeedit *e, struct context *cx,
		    struct inodecase *c);

/* Whether these have another file with the number of C: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_another(struct inodeedit *e, struct context *cx,
			   struct inodecase *c);

/*
 * Computes the new C->inode, and notes it: 1; 0 if nothing is known of it.
 * -ENOMEM, -EINTR.
 */
int inodedecide_run(struct inodeedit *e, struct context *cx,
		    struct inodecase *c);

/* As fixers_note(), with the inode of C. */
void inodedecide_note(struct inodeedit *e, const struct inodecase *c,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Sets *RULE to the first rule that INODE, of number INO, breaks by its fields,
 * except links, or by its symlink target, or to RULE_OK.  -ENOMEM, -EINTR.
 */
int inodefields_check(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, enum rule *rule);

/* Whether the whole map of INODE can be read: 1, 0, -ENOMEM, -EINTR. */
int inodefields_map_is_whole(struct volume *vol, struct context *cx,
			     uint64_t ino, const struct nilfs_inode *inode);

/*
 * Sets i_blocks to the number of blocks in the readable part of the map of
 * INODE, of number INO.  If its size does not end in the last block, it is set
 * to the end of that block.  -ENOMEM, -EINTR.
 */
int inodefields_fit(struct volume *vol, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode);

/*
 * Repairs derivable fields of INODE, the latest checkpoint's INO, from its
 * blocks: times, sizes, and fields given by its type (NILFS_FT_..., from its
 * names, or NILFS_FT_UNKNOWN).  Links and errors of the map are not repaired.
 * 1 if the rest is right now; 0 if it cannot be repaired; -ENOMEM, -EINTR.
 */
int inodefields_repair(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode);

/* Changes the type of INODE to TYPE (NILFS_FT_..., not unknown), and nothing else. */
void inodefields_set_type(uint8_t type, struct nilfs_inode *inode);

/*
 * Fills the ifile of JOB's writer if it begins without blocks, or the holes of
 * FIXES: with its live blocks and, if these cannot be read, with those of the
 * newest older checkpoint.  The cpfile must be repaired before.  Inodes in use
 * in remaining holes are freed.  1 if directories were restored, 0, or a
 * failure of the writer, -ENOMEM, -EINTR.
 */
int fix_ifile_fill(struct fixer_job *job, struct context *cx,
		   const struct finding *fixes, size_t n);

enum fix_inodes_which {
	/* Inodes of FIXES. */
	FIX_INODES_ALL,
	/* Inodes that directories of FIXES name, and that are in use but lost:
	   empty or marked as deleted. */
	FIX_INODES_LOST,
	/* Inodes with fewer names than links: the links become the number of
	   names whatever other checkpoints have. */
	FIX_INODES_COUNTS,
	/*
	 * The rest is of the latest state and used by fix_inodes.c only: inodes
	 * that directories name; all inodes; all, and unknown ones are not
	 * cleared.
	 */
	FIX_INODES_NAMED,
	FIX_INODES_LATEST,
	FIX_INODES_SPARING,
};

/*
 * Adds the new content of inodes of snapshots, not of the latest state, to P,
 * and notes it.  Nothing is written.  -ENOMEM, -EINTR.
 */
int fix_inodes_snapshots(struct snapblocks *p, struct context *cx,
		    const struct finding *fixes, size_t n,
		    enum fix_inodes_which which);

/*
 * Restores inodes of the latest state that directories of FIXES name and that
 * are empty and marked free, and others of their blocks, if logs and other
 * checkpoints show that they are in use.  Returns how many, or -ENOMEM, -EINTR,
 * or a failure of the writer.
 */
int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct finding *fixes, size_t n);

/*
 * Restores those of the N inodes INOS of the latest state that are empty and
 * marked free, but in use by logs and other checkpoints, NAMED (by directories)
 * or not, and with each, once, the others of its block.  Returns how many, or a
 * failure as above.
 */
int freedinodes_restore(struct fixer_job *job, struct context *cx,
			const uint64_t *inos, size_t n, bool named);

/*
 * As freedinodes_restore(), for inodes with listed blocks that are live
 * although no map leads to them, as after damage of bitmaps.  0, or a failure as
 * above.
 */
int freedinodes_leaked(struct fixer_job *job, struct context *cx);

#endif
