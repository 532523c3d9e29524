/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of ifiles in snapshots. */
#ifndef NILFS2_FSCK_SNAPIFILES_H
#define NILFS2_FSCK_SNAPIFILES_H

#include <stddef.h>

#include "base/context.h"
#include "fsck/fixers.h"

/*
 * Makes anew what is wrong with the maps of the ifiles of snapshots, if any of
 * the N FIXES, of whatever kind, is about one, or can come of it.  0, also where
 * nothing could be done, or a failure of the writer, -ENOMEM, -EINTR.
 */
int snapifiles_mend(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n);

#endif
