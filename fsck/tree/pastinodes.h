/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inodes of snapshots, repaired. */
#ifndef NILFS2_FSCK_PASTINODES_H
#define NILFS2_FSCK_PASTINODES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/past/pastblocks.h"

/*
 * Puts in P what the inodes of FIXES, those that are of a snapshot and not of
 * the newest checkpoint, are to be, and notes it.  Nothing is written.
 * -ENOMEM, -EINTR.
 */
int pastinodes_repair(struct pastblocks *p, struct context *cx,
		      const struct fix *fixes, size_t n);

/*
 * The same for inodes that directories of FIXES name, and that are in use, but
 * were lost: nothing but zeros is left of them.
 */
int pastinodes_find(struct pastblocks *p, struct context *cx,
		    const struct fix *fixes, size_t n);

/*
 * Sets the links of the inodes of FIXES that have fewer names to the number of
 * these, whatever other checkpoints have: where no name can be found.
 */
int pastinodes_count(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n);

#endif
