// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inode.
 *
 * User files and the four metadata files share one structure.  The disk has no
 * access time.  i_blocks is not checked here: the kernel counts units of 512 bytes
 * including the nodes of the block map, mkfs wrote blocks.  The block map is checked
 * in bmap.h.
 */
#include "disk/inode.h"

#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#define NSEC_PER_SEC 1000000000u
#define SECTOR_BYTES 512u
#define TIME_MAX (UINT64_C(1) << 36) /* seconds */

struct inode_time inode_ctime(const struct nilfs_inode *inode)
{
	return (struct inode_time){(int64_t)le64_get(inode->i_ctime),
				   le32_get(inode->i_ctime_nsec)};
}

struct inode_time inode_mtime(const struct nilfs_inode *inode)
{
	return (struct inode_time){(int64_t)le64_get(inode->i_mtime),
				   le32_get(inode->i_mtime_nsec)};
}

bool inode_is_metadata(uint64_t ino)
{
	return ino >= NILFS_DAT_INO && ino <= NILFS_IFILE_INO;
}

bool inode_is_private(uint64_t ino)
{
	return ino < NILFS_USER_INO && ino != NILFS_ROOT_INO &&
	       ino != NILFS_SKETCH_INO;
}

bool inode_is_empty(const struct nilfs_inode *inode)
{
	static const struct nilfs_inode empty;

	return !memcmp(inode, &empty, sizeof(empty));
}

bool inode_is_same_file(const struct nilfs_inode *a,
			const struct nilfs_inode *b)
{
	return le32_get(a->i_generation) == le32_get(b->i_generation) &&
	       !((le16_get(a->i_mode) ^ le16_get(b->i_mode)) & S_IFMT);
}

bool inode_has_same_map(const struct nilfs_inode *a,
			const struct nilfs_inode *b)
{
	return le64_get(a->i_size) == le64_get(b->i_size) &&
	       !memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap));
}

bool inode_has_bmap(const struct nilfs_inode *inode)
{
	uint16_t mode = le16_get(inode->i_mode);

	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

bool inode_has_rdev(const struct nilfs_inode *inode)
{
	uint16_t mode = le16_get(inode->i_mode);

	return S_ISCHR(mode) || S_ISBLK(mode);
}

uint8_t inode_dirent_type(uint16_t mode)
{
	/* The type of a mode is in its upper four bits. */
	static const uint8_t types[16] = {
		[S_IFIFO >> 12] = NILFS_FT_FIFO, [S_IFCHR >> 12] = NILFS_FT_CHRDEV,
		[S_IFDIR >> 12] = NILFS_FT_DIR, [S_IFBLK >> 12] = NILFS_FT_BLKDEV,
		[S_IFREG >> 12] = NILFS_FT_REG_FILE,
		[S_IFLNK >> 12] = NILFS_FT_SYMLINK,
		[S_IFSOCK >> 12] = NILFS_FT_SOCK,
	};

	return types[mode >> 12];
}

/* Bits 8-19 are the major, 0-7 and 20-31 the minor number. */
void inode_rdev(const struct nilfs_inode *inode, uint32_t *major,
		uint32_t *minor)
{
	uint32_t dev = le64_get(inode->i_bmap[0]);

	*major = dev >> 8 & 0xfff;
	*minor = (dev & 0xff) | (dev >> 12 & 0xfff00);
}

uint64_t inode_rdev_encode(uint32_t major, uint32_t minor)
{
	return (minor & 0xff) | (major & 0xfff) << 8 | (minor & 0xfff00) << 12;
}

unsigned int inode_signs(const struct nilfs_geometry *g,
			 const struct nilfs_inode *inode)
{
	uint64_t sectors = g->nsegments * g->blocks_per_segment *
			   (g->block_size / SECTOR_BYTES);
	const bool wrong[] = {
		inode_dirent_type(le16_get(inode->i_mode)) == NILFS_FT_UNKNOWN,
		le64_get(inode->i_size) > INT64_MAX,
		le64_get(inode->i_blocks) > sectors,
		/* One clock sets both times. */
		le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC ||
			le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC,
		!le16_get(inode->i_links_count) ||
			le16_get(inode->i_links_count) > NILFS_LINK_MAX,
		/* What users cannot set: the time, here 2,000 years from 1970;
		   attributes, and flags that FS_IOC_SETFLAGS does not take. */
		(le64_get(inode->i_ctime) + TIME_MAX) / 2 >= TIME_MAX,
		le64_get(inode->i_xattr) ||
			le32_get(inode->i_flags) & ~(uint32_t)FS_FL_USER_VISIBLE,
	};
	unsigned int i, n = 0;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		n += wrong[i];
	return n;
}

enum rule inode_check(const struct nilfs_geometry *g,
		      const struct nilfs_inode *inode, uint64_t ino)
{
	uint16_t mode = le16_get(inode->i_mode);
	uint16_t links = le16_get(inode->i_links_count);
	uint64_t size = le64_get(inode->i_size);

	if (inode_is_metadata(ino) && !S_ISREG(mode))
		return RULE_INODE_METADATA_MODE;
	if (inode_dirent_type(mode) == NILFS_FT_UNKNOWN ||
	    (!inode_has_bmap(inode) && le64_get(inode->i_blocks)))
		return RULE_INODE_MODE;
	if (ino == NILFS_ROOT_INO &&
	    (!S_ISDIR(mode) || !le64_get(inode->i_blocks) || !size))
		return RULE_INODE_ROOT;
	if (size > INT64_MAX)
		return RULE_INODE_SIZE;
	if (S_ISDIR(mode) && size % g->block_size)
		return RULE_INODE_DIR_SIZE;
	if (S_ISLNK(mode) && (!size || size > g->block_size))
		return RULE_INODE_SYMLINK_SIZE;
	if (!links)
		return RULE_INODE_LINKS_ZERO;
	if (links > NILFS_LINK_MAX)
		return RULE_INODE_LINKS;
	if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC ||
	    le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
		return RULE_INODE_NSEC;
	return RULE_OK;
}
