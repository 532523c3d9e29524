/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs of which more was written over than what the repair restored: the data in
 * them.
 */
#ifndef NILFS2_FSCK_SUSPECTS_H
#define NILFS2_FSCK_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/account/sides.h"

/* All zero is empty. */
struct suspects {
	struct logindex_log *logs;
	size_t n, room;
};

/*
 * Finds the logs that have blocks in S->wrong, and whose checksum does not match
 * with what the repair made of these.  A single one that it could not restore
 * explains that.  Those whose checksum matches are in S->whole then.  0, -ENOMEM,
 * -EINTR.
 */
int suspects_find(struct suspects *x, struct context *cx, struct sides *s);

/*
 * The state before has logs past checkpoint MOUNTED that a mount does not
 * accept: adds the blocks of files in those whose checksum does not match, if
 * the files have them after the repair, and the inodes in those of the ifile.
 * The logs are in *X then: snapshots may have blocks that were moved there.  0,
 * -ENOMEM, -EINTR.
 */
int suspects_newer(struct suspects *x, struct context *cx, struct sides *s,
		   const struct bitmap *used, uint64_t mounted);

/*
 * Adds to the losses the blocks of files in these logs that STATE has after the
 * repair as it had them before; it is checkpoint AFTER now (0: the latest).  Logs
 * with a checkpoint past MOUNTED are left out for the latest state.  0, -ENOMEM,
 * -EINTR.
 */
int suspects_compare(const struct suspects *x, struct context *cx,
		     struct sides *s, const struct sides_state *state,
		     uint64_t after, uint64_t mounted);

void suspects_fini(struct suspects *x);

#endif
