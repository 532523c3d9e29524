/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checkpoints and snapshots, before and after. */
#ifndef NILFS2_FSCK_COMPARECPS_H
#define NILFS2_FSCK_COMPARECPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "fsck/account/sides.h"

/* A state whose files are to be compared. */
struct comparecps_state {
	uint64_t cno;
	bool is_known; /* its entry could be read: */
	struct nilfs_inode ifile;
};

/* All zero is empty.  The latest state comes first, where there is one. */
struct comparecps {
	struct comparecps_state *states;
	size_t n, room;
};

/*
 * Compares the entries of checkpoints that were there before the repair: those
 * that are not there any more, and snapshots that are none any more, are added
 * to the losses.  The latest state and the snapshots that are there on both
 * sides are gathered in *C, which is freed with comparecps_fini().  0, -ENOMEM,
 * -EINTR.
 */
int comparecps_run(struct comparecps *c, struct sides *s, struct context *cx,
		   const struct bitmap *used);
void comparecps_fini(struct comparecps *c);

#endif
