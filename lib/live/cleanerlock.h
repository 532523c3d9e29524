/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lock of nilfs-utils that only the cleaner of a mounted volume holds. */
#ifndef NILFS2_LIVE_CLEANERLOCK_H
#define NILFS2_LIVE_CLEANERLOCK_H

#include "base/context.h"

struct cleanerlock;
struct live;

/*
 * Takes the lock of the cleaner of L, for which others, such as nilfs_cleanerd, wait:
 * as long as it is held, no block that a checkpoint needs moves, and no segment is
 * freed.  Others that use it already are first, for a second: a program that has made a
 * checkpoint before the caller looked has a snapshot of it then.  A lock whose owner has
 * ended without giving it back is taken over.  Waits at most SECONDS after that: then
 * -EBUSY, and the text names the processes that have it.
 * -EACCES for a user who may not take it; -EINTR, -ENOMEM.  *CP is released by
 * cleanerlock_release().
 */
int cleanerlock_take(struct cleanerlock **cp, struct context *cx,
		     const struct live *l, unsigned int seconds);

/*
 * Gives the lock to programs that wait for it, and takes it again after them, however
 * long they have it: 1, 0 if none waits, or -errno, and then C has no lock any more.
 * What the caller knows of segments and snapshots may be wrong afterwards.
 */
int cleanerlock_lend(struct cleanerlock *c, struct context *cx);

/* The process of nilfs_cleanerd that cleans the volume of L, or 0. */
long cleanerlock_daemon(const struct live *l);

/* NULL is accepted. */
void cleanerlock_release(struct cleanerlock *c);

#endif
