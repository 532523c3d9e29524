/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account of a repair: what the state before it had that the state after it
 * lacks.
 *
 * It is computed before the commit, from the device underneath the overlay and
 * from the overlay, independently of the fixers.
 */
#ifndef NILFS2_FSCK_ACCOUNT_H
#define NILFS2_FSCK_ACCOUNT_H

#include "base/context.h"
#include "base/sparse.h"
#include "dev/dev.h"
#include "fsck/account/losslist.h"
#include "vol/recovery.h"
#include "vol/volume.h"

struct logindex;

struct account_sides {
	struct dev *under;	   /* before the repair */
	struct dev *overlay;	   /* over it */
	struct volume *after;	   /* on the overlay */
	struct logindex *logs;	   /* of it */
	struct logindex *logs_under; /* as far as it was asked; or NULL */
	const struct bitmap *used; /* segments in use before; may be empty */
	const struct sparse *unread; /* blocks that no readable log has */
	/* The log that the repair began with, if it may be another than a
	   mount would have found, or NULL. */
	const struct recovery *base;
	uint64_t files; /* inodes of the latest state after it; 0: not known */
	bool is_whole; /* no log is known to be damaged or missing */
	bool is_sound; /* after the repair all links and names agree */
};

/*
 * Compares both sides: the latest state and every snapshot file by file, plain
 * checkpoints by whether they are there.  What is lost is added to *L, all zero
 * before, and freed by the caller.  What could not be compared, because it is
 * damaged or there is no memory for it, makes L->incomplete.  0, or -EINTR.
 */
int account_run(struct losslist *l, struct context *cx,
		const struct account_sides *sides);

#endif
