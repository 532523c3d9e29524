// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The super root.
 *
 * It ends a log with a checkpoint and contains the inodes of the three root metadata
 * files.  These are s_inode_size bytes apart, so the members of the structure are
 * valid only for inodes of 128 bytes.
 */
#include "disk/superroot.h"

#include "base/crc.h"

#define SUM_END (offsetof(struct nilfs_super_root, sr_sum) + sizeof(le32))

uint32_t superroot_bytes(const struct nilfs_geometry *g)
{
	return (uint32_t)offsetof(struct nilfs_super_root, sr_dat) +
	       3 * g->inode_size;
}

uint32_t superroot_checksum(const struct nilfs_geometry *g, const void *block)
{
	const struct nilfs_super_root *sr = block;
	uint32_t bytes = le16_get(sr->sr_bytes);

	if (bytes < SUM_END)
		bytes = SUM_END;
	if (bytes > g->block_size)
		bytes = g->block_size;
	return crc32_le(g->crc_seed, (const uint8_t *)block + SUM_END,
			bytes - SUM_END);
}

enum rule superroot_check(const struct nilfs_geometry *g, const void *block)
{
	const struct nilfs_super_root *sr = block;
	uint32_t bytes = le16_get(sr->sr_bytes);

	if (bytes < superroot_bytes(g) || bytes > g->block_size)
		return RULE_SR_BYTES;
	if (superroot_checksum(g, block) != le32_get(sr->sr_sum))
		return RULE_SR_SUM;
	return RULE_OK;
}

const struct nilfs_inode *superroot_inode(const struct nilfs_geometry *g,
					  const void *block, uint64_t ino)
{
	const uint8_t *p = block;

	if (ino < NILFS_DAT_INO || ino > NILFS_SUFILE_INO)
		return NULL;
	p += offsetof(struct nilfs_super_root, sr_dat) +
	     (ino - NILFS_DAT_INO) * g->inode_size;
	return (const struct nilfs_inode *)p;
}
