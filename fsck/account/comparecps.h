/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checkpoints of both sides, and which of their states are compared. */
#ifndef NILFS2_FSCK_COMPARECPS_H
#define NILFS2_FSCK_COMPARECPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/account/sides.h"

/* A state whose files are compared. */
struct comparecps_state {
	uint64_t cno;
	bool is_known; /* its entry could be read: */
	struct nilfs_inode ifile;
	uint64_t inodes; /* how many it had, by that */
};

/* All zero is empty.  The latest state comes first, where there is one. */
struct comparecps {
	struct comparecps_state *states;
	size_t n, room;
};

/*
 * Compares the entries of checkpoints before the repair: missing ones, and
 * snapshots that are plain checkpoints now, are added to the losses.  The
 * latest state and the snapshots that exist on both sides are collected in *C,
 * which is freed with comparecps_fini().  0, -ENOMEM, -EINTR.
 */
int comparecps_run(struct comparecps *c, struct sides *s, struct context *cx,
		   const struct bitmap *used);

void comparecps_fini(struct comparecps *c);

#endif
