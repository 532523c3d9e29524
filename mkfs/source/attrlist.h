/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The extended attributes of a file of the source, by kind. */
#ifndef NILFS2_MKFS_ATTRLIST_H
#define NILFS2_MKFS_ATTRLIST_H

#include <stddef.h>

#include "base/context.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/sourcedir.h"

/*
 * The attributes of the file open at FD that would be lost: a bit 1 << ENTRY_... for
 * each kind.  Attributes that cannot be listed are ignored.
 */
unsigned int attrlist_losses(int fd);

/*
 * Reports to P the LOSSES of NAME (LEN bytes; NULL: of DIR itself).  May be called by
 * any thread.  Fails as populate_loss().
 */
int attrlist_report(struct context *cx, struct populate *p,
		    const struct sourcedir *dir, const char *name, size_t len,
		    unsigned int losses);

#endif
