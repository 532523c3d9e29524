/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbers of blocks that inodes of metadata files have. */
#ifndef NILFS2_CHECK_METACOUNT_H
#define NILFS2_CHECK_METACOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "disk/ondisk.h"

/*
 * Whether the number of blocks of the DAT or an ifile is wrong: consequences of
 * that are not reported as well.
 */
bool metacount_is_doubtful(const struct check *c);

/*
 * Compares i_blocks in INODE, of metadata file INO (an ifile: of checkpoint
 * CNO), with NBLOCKS that its map was found to have, nodes included; after its allocator
 * was checked.
 */
void metacount_check(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks);

#endif
