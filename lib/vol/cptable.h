/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checkpoints of a volume, from its cpfile.
 */
#ifndef NILFS2_VOL_CPTABLE_H
#define NILFS2_VOL_CPTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "vol/blockscan.h"

struct volume;

/* Copies the header of the cpfile.  -EUCLEAN where it is a hole, -EIO. */
int cptable_header(struct volume *vol, struct context *cx,
		   struct nilfs_cpfile_header *header);

/*
 * Copies checkpoint CNO.  -ENOENT where it does not exist or is invalid,
 * -EUCLEAN, -EIO.  Follows nilfs_cpfile_get_checkpoint().
 */
int cptable_read(struct volume *vol, struct context *cx, uint64_t cno,
		 struct nilfs_checkpoint *cp);

/*
 * Finds the newest checkpoint that was made at TIME (seconds since 1970) or before.
 * -ENOENT if all are newer; the text names the oldest.  -EUCLEAN, -EIO.
 */
int cptable_at(struct volume *vol, struct context *cx, int64_t time,
	       uint64_t *cno);

/* A cursor over the valid checkpoints, oldest first. */
struct cptable_cursor {
	struct volume *vol;
	struct blockscan scan;
	uint64_t first;		/* smallest number to be yielded */
	uint64_t cno;		/* the next entry */
	uint64_t block_end;	/* one past the last entry of the block */
};

int cptable_cursor_open(struct cptable_cursor *cur, struct context *cx,
			struct volume *vol);
/* The same from checkpoint CNO (> 0) on. */
int cptable_cursor_open_at(struct cptable_cursor *cur, struct context *cx,
			   struct volume *vol, uint64_t cno);
/* 1 and *CP, 0 at the end, -EUCLEAN or -EIO. */
int cptable_cursor_next(struct cptable_cursor *cur, struct context *cx,
			struct nilfs_checkpoint *cp);
void cptable_cursor_close(struct cptable_cursor *cur);
/*
 * Lists the numbers of all valid checkpoints (or only snapshots), ascending, in *CNOS
 * (freed by the caller) and *COUNT; empty after a failure.  -ENOMEM beyond the memory
 * budget.
 */
int cptable_list(struct volume *vol, struct context *cx, bool snapshots,
		 uint64_t **cnos, size_t *count);

#endif
