/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links set to names, and inodes freed that nothing refers to. */
#ifndef NILFS2_FSCK_LINKWRITE_H
#define NILFS2_FSCK_LINKWRITE_H

#include "base/context.h"

struct namefix;

/* Decides which directories without links are to be freed. */
void linkwrite_choose(struct namefix *f);

/*
 * Sets the links of all inodes to what their names are by now, and frees those
 * that have neither.  -ENOMEM, -ENOSPC, -EIO.
 */
int linkwrite_run(struct namefix *f, struct context *cx);

#endif
