/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All files of one state, before and after. */
#ifndef NILFS2_FSCK_COMPARETREE_H
#define NILFS2_FSCK_COMPARETREE_H

#include <stdbool.h>

#include "base/sparse.h"
#include "disk/ondisk.h"
#include "fsck/account/sides.h"

struct comparetree {
	struct sides *s;
	/*
	 * No entry of the DAT was moved, and no block in use was overwritten:
	 * files with unchanged inodes are unchanged.
	 */
	bool is_dat_same;
	struct sparse clean; /* blocks of ifiles without a difference */
};

/*
 * Compares STATE: IFILE is the inode of its ifile before, or NULL where that
 * could not be read; it is checkpoint AFTER now (0: the latest).  0, -ENOMEM,
 * -EINTR.
 */
int comparetree_run(struct comparetree *t, struct context *cx,
		    const struct sides_state *state,
		    const struct nilfs_inode *ifile, uint64_t after);

#endif
