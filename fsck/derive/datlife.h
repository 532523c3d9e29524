/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which checkpoints have a block: the correct content of its entry in the DAT.
 */
#ifndef NILFS2_FSCK_DATLIFE_H
#define NILFS2_FSCK_DATLIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/sparse.h"
#include "check/check.h"
#include "check/logs/listings.h"
#include "fsck/plan/plan.h"
#include "vol/blockmap.h"
#include "vol/volume.h"

struct datlife {
	struct volume *vol;
	uint64_t *cnos;		/* valid checkpoints, ascending */
	size_t n;
	bool known;		/* they could be listed */
};

/* Lists the checkpoints of VOL, as far as they can be read.  -ENOMEM, -EINTR. */
int datlife_init(struct datlife *d, struct context *cx, struct volume *vol);
void datlife_fini(struct datlife *d);

/* From START up to, not including, END, or any checkpoint up to MOST. */
struct datlife_span {
	uint64_t start, end, most;
	uint64_t held;	/* it ended not before that; 0: not known */
};

/*
 * The life of the block that L lists, where L says that it is: from when it was
 * written to the last checkpoint that has it.  It may have ended later, with a
 * checkpoint that is gone now, but not later than MOST.  START equals END where
 * none has it.  1, 0 where that cannot be determined, -ENOMEM, -EINTR.
 */
int datlife_find(struct datlife *d, struct context *cx,
		 const struct listing *l, struct datlife_span *span);

/* END where that can be the end of SPAN, which may have been a checkpoint that
   was deleted since; else the least that can be. */
uint64_t datlife_end(const struct datlife_span *span, uint64_t end);

/*
 * The map of inode INO in checkpoint CNO (0: the latest); of cpfile and SUFILE
 * there is one only.  1, 0 where the checkpoint has no such inode, a failure.
 */
int datlife_map(struct volume *vol, struct context *cx, uint64_t cno,
		uint64_t ino, struct blockmap *map);

/* The pointer at a place of a map: 1 and *PTR, 0 where it has none, a failure. */
int datlife_pointer(struct volume *vol, struct context *cx,
		    const struct place *at, uint64_t *ptr);

/*
 * Whether FILE, the cpfile or the SUFILE, has all blocks where the logs list
 * them last: 1, 0, or -ENOMEM, -EINTR.  An older map of it looks sound.
 */
int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file);

/*
 * Makes SET, all zero at first, that of the virtual blocks whose lives findings
 * of PLAN contradict: blocks that do not live as long as the pointer to them,
 * and all that holds that pointer, as what does not live as long as they do may
 * be right, and one of them wrong.  Where the map of the cpfile is an older one,
 * or that of a file lacks blocks that live then, its pointers are what is wrong.
 * -ENOMEM, -EINTR; sparse_fini() in any case.
 */
int datlife_contradicted(struct sparse *set, struct context *cx,
			 const struct check *c, const struct plan *plan);

#endif
