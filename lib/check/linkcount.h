/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparing links with names, and checking the tree of directories. */
#ifndef NILFS2_CHECK_LINKCOUNT_H
#define NILFS2_CHECK_LINKCOUNT_H

#include "base/context.h"

struct names;

/*
 * Reports what follows from all names of N's checkpoint: parents, loops, and,
 * if nothing was lost, links and inodes without a name.  -ENOMEM.
 */
int linkcount_run(struct names *n, struct context *cx);

/*
 * The same for the chunks of N's list that were touched, where all others have
 * what they had in a checkpoint without a finding.
 */
int linkcount_touched(struct names *n, struct context *cx);

#endif
