/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an inode of the newest or of another checkpoint is to be. */
#ifndef NILFS2_FSCK_INODEDECIDE_H
#define NILFS2_FSCK_INODEDECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/vblocks.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "fsck/past/around.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/lostinodes.h"

struct inodedecide {
	struct fixer_job *job;
	struct around around;
	struct vblocks vblocks;
	struct lostinodes lost;
};

/* An inode of a checkpoint. */
struct inodecase {
	uint64_t cno, ino;
	struct lifetime life;	/* of its block of the ifile; of the newest
				   checkpoint: without an end */
	enum rule rule;		/* that it breaks, and what the finding got */
	uint64_t got;
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
	bool from_logs;		/* it gets another map than it has there */
	bool old_map;		/* it is to have a map that may have ended */
};

/*
 * Prepares decisions about the N inodes INOS, and about those beside them, which
 * may be no better.  -ENOMEM, -EINTR.
 */
int inodedecide_open(struct inodedecide *d, struct context *cx,
		     struct fixer_job *job, const uint64_t *inos, size_t n);

void inodedecide_close(struct inodedecide *d);

/* Whether anything is wrong with the fields of C: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_wrong(struct inodedecide *d, struct context *cx,
			 struct inodecase *c);

/*
 * Asks the checkpoints that have another block of the ifile for C: 1 where one
 * has it as it was, 0; what there is stands in C.  -ENOMEM, -EINTR.
 */
int inodedecide_ask(struct inodedecide *d, struct context *cx,
		    struct inodecase *c);

/* Whether those have another file by the number of C: 1, 0, -ENOMEM, -EINTR. */
int inodedecide_is_another(struct inodedecide *d, struct context *cx,
			   struct inodecase *c);

/* Whether the map of C leads to a block that its log has for another file: 1, 0,
   -ENOMEM, -EINTR. */
int inodedecide_is_foreign(struct inodedecide *d, struct context *cx,
			   const struct inodecase *c);

/*
 * Makes C->inode what it is to be, and notes it: 1; 0 where nothing is known of
 * it.  -ENOMEM, -EINTR.
 */
int inodedecide_run(struct inodedecide *d, struct context *cx,
		    struct inodecase *c);

/* As fixers_note(), of C. */
void inodedecide_note(struct inodedecide *d, const struct inodecase *c,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
