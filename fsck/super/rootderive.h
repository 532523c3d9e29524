/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A super root that is lost, from the one before it. */
#ifndef NILFS2_FSCK_ROOTDERIVE_H
#define NILFS2_FSCK_ROOTDERIVE_H

#include "fsck/super/rootsearch.h"

/*
 * What block rs->roots[I] has for a super root must have been, in BLOCK (a
 * block), where the one on the device is none: 1 if the checksum of its log
 * proves it, 0 where it does not or the super root is right; -ENOMEM, -EINTR.
 */
int rootderive_run(const struct rootsearch *rs, struct context *cx, size_t i,
		   char *block);

#endif
