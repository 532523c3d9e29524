/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directories of a checkpoint: their entries, one by one. */
#ifndef NILFS2_FSCK_DIRNAMES_H
#define NILFS2_FSCK_DIRNAMES_H

#include "base/context.h"

struct names;

/*
 * Reads all directories of N's list, tells what is wrong with an entry or
 * with what it names, and counts the names in the list.  -ENOMEM, -EINTR.
 */
int dirnames_run(struct names *n, struct context *cx);

#endif
