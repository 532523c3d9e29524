/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The super root: the inodes of the three root metadata files. */
#ifndef NILFS2_DISK_SUPERROOT_H
#define NILFS2_DISK_SUPERROOT_H

#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* Size of a super root of this volume, bytes: NILFS_SR_BYTES(). */
uint32_t superroot_bytes(const struct nilfs_geometry *g);

/*
 * The expected checksum of the super root in BLOCK (a whole block) over its first
 * sr_bytes bytes; an sr_bytes out of range is replaced by the nearest one in range.
 */
uint32_t superroot_checksum(const struct nilfs_geometry *g, const void *block);

/*
 * Checks size and checksum.  Stricter than nilfs_read_super_root_block(): sr_bytes
 * must cover the three inodes.
 */
enum rule superroot_check(const struct nilfs_geometry *g, const void *block);

/*
 * The inode of the DAT, cpfile or sufile (by NILFS_DAT_INO, ...) in BLOCK,
 * NULL for another number.
 */
const struct nilfs_inode *superroot_inode(const struct nilfs_geometry *g,
					  const void *block, uint64_t ino);

#endif
