/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inode: its numbers, its type, and its checks. */
#ifndef NILFS2_DISK_INODE_H
#define NILFS2_DISK_INODE_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* Seconds since 1970, may be negative, and nanoseconds. */
struct inode_time {
	int64_t sec;
	uint32_t nsec;
};

struct inode_time inode_ctime(const struct nilfs_inode *inode);
struct inode_time inode_mtime(const struct nilfs_inode *inode);

/* True for the four metadata files. */
bool inode_is_metadata(uint64_t ino);

/*
 * True for a number that no directory entry may have: below 11, except the root and the
 * sketch file.  Follows NILFS_PRIVATE_INODE().
 */
bool inode_is_private(uint64_t ino);

/* True if INODE is all zeros: the inode was never used. */
bool inode_is_empty(const struct nilfs_inode *inode);

/* The number of fields of INODE with impossible values for an inode in use. */
unsigned int inode_signs(const struct nilfs_geometry *g,
			 const struct nilfs_inode *inode);

/* Several fields are impossible, so the bytes are not an inode. */
static inline bool inode_is_garbage(const struct nilfs_geometry *g,
				    const struct nilfs_inode *inode)
{
	return inode_signs(g, inode) > 1;
}

/* True if A and B, with one number, are of the same file: number and type are reused,
   but not with the same generation. */
bool inode_is_same_file(const struct nilfs_inode *a,
			const struct nilfs_inode *b);

/*
 * True if A and B have the same size and the same blocks, and so the same content:
 * blocks are not changed in place.
 */
bool inode_has_same_map(const struct nilfs_inode *a,
			const struct nilfs_inode *b);

/* True if i_bmap is a block map: regular files, directories, symlinks. */
bool inode_has_bmap(const struct nilfs_inode *inode);

/* True for a character or block device: i_bmap[0] is its device number. */
bool inode_has_rdev(const struct nilfs_inode *inode);

/*
 * The file type of a directory entry for MODE, NILFS_FT_UNKNOWN for a type
 * that does not exist.
 */
uint8_t inode_dirent_type(uint16_t mode);

/* The device number: huge_decode_dev(), huge_encode_dev(). */
void inode_rdev(const struct nilfs_inode *inode, uint32_t *major,
		uint32_t *minor);
uint64_t inode_rdev_encode(uint32_t major, uint32_t minor);

/*
 * Checks the inode with number INO, which is in use.  The kernel refuses bad types,
 * zero links and a root without blocks: nilfs_read_inode_common(),
 * __nilfs_read_inode(), nilfs_get_root_dentry().
 */
enum rule inode_check(const struct nilfs_geometry *g,
		      const struct nilfs_inode *inode, uint64_t ino);

#endif
