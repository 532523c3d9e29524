/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An ifile read whole, into a list of its inodes. */
#ifndef NILFS2_CHECK_IFILELIST_H
#define NILFS2_CHECK_IFILELIST_H

#include <stdbool.h>

#include "base/context.h"
#include "check/inodelist.h"
#include "vol/root.h"

/*
 * Fills LIST, which is empty, with the inodes of ROOT that entries can name.
 * *WHOLE says whether all of the ifile could be read; where not, the failure
 * text says why.  -ENOMEM, -EINTR.
 */
int ifilelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole);

/*
 * The kind that INODE of VOL, of number INO, has in a list; 0 where it is none that
 * entries can name.
 */
uint8_t ifilelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated);

#endif
