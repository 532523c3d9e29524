/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account of a repair: the content of the state before it that the state
 * after it lacks.
 *
 * It is computed before the commit, from the device under the overlay and from
 * the overlay, independently of the fixers.
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
	struct dev *overlay;	   /* over UNDER */
	struct volume *after;	   /* on the overlay */
	struct logindex *logs;	   /* of the overlay */
	struct logindex *logs_under; /* of UNDER, filled on demand; or NULL */
	const struct bitmap *used; /* segments in use before; may be empty */
	const struct sparse *unread; /* blocks that no readable log has */
	/* The log that the repair began with, if a mount may find another one;
	   else NULL. */
	const struct recovery *base;
	uint64_t files; /* inodes of the latest state after the repair; 0: not known */
	bool is_whole; /* no log is known to be damaged or missing */
	bool is_sound; /* after the repair all links and names agree */
};

/*
 * Compares both sides: the latest state and every snapshot file by file, plain
 * checkpoints only by their existence. Adds the losses to *L, which is all zero
 * before the call and is freed by the caller. L->incomplete is set if something
 * could not be compared because it is damaged or memory is exhausted. 0, or
 * -EINTR.
 */
int account_run(struct losslist *l, struct context *cx,
		const struct account_sides *sides);

#endif
