/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of a checkpoint, from those of another one and the difference. */
#ifndef NILFS2_CHECK_NAMEDIFF_H
#define NILFS2_CHECK_NAMEDIFF_H

#include <stdbool.h>

#include "base/context.h"
#include "vol/root.h"

struct names;

/* What is known of the checkpoint that N's list is of. */
struct namediff_base {
	struct root root; /* no volume: there is no such checkpoint */
	bool sound;	  /* nothing was found in it */
};

/*
 * Checks N's checkpoint by what differs from BASE, and adds the inodes compared
 * to *WORK.  1 where nothing is wrong in it that is not wrong in BASE; N's list
 * is then of N's checkpoint.  0 where it must be read whole, as there may be
 * something to tell; nothing was told.  -EINTR, -ENOBUFS.
 */
int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work);

#endif
