/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deriving the names of a checkpoint from those of another one and the
 * difference.
 */
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
 * Checks N's checkpoint by its difference from BASE, and adds the inodes
 * compared to *WORK.  1 if it has no errors that BASE does not have; N's list
 * is then of N's checkpoint.  0 if it must be read completely, as there may be
 * findings; none was reported.  -EINTR, -ENOBUFS.
 */
int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work);

#endif
