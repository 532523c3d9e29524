// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The targets of symbolic links.
 *
 * NILFS2 stores every target in data blocks.  At most one page of them is read, as
 * by the kernel.  A target is a few bytes that are needed once, so it is read
 * bypassing the cache.
 */
#include "vol/symlink.h"

#include <string.h>

#include "vol/volume.h"

/* Bytes of the target according to the size. */
static size_t longest(const struct nilfs_inode *inode)
{
	uint64_t size = le64_get(inode->i_size);

	return size < SYMLINK_TARGET_MAX ? (size_t)size : SYMLINK_TARGET_MAX;
}

int symlink_target(struct file *file, struct context *cx,
		   char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	const struct volume *vol = file->vol;
	uint32_t block_size = vol->geo.block_size;
	size_t end = longest(&file->inode);
	size_t at;

	for (at = 0; at < end; at += block_size) {
		size_t part = end - at < block_size ? end - at : block_size;
		uint64_t blocknr;
		int ret = file_lookup(file, cx, at / block_size, &blocknr);

		if (ret < 0)
			return ret;
		if (!ret)
			break;
		ret = dev_read(vol->dev, cx, blocknr << vol->geo.block_bits,
			       target + at, part);
		if (ret)
			return ret;
	}
	target[at < end ? at : end] = '\0';
	*len = strlen(target);
	return 0;
}

int symlink_is_whole(struct volume *vol, struct context *cx, uint64_t ino,
		     const struct nilfs_inode *inode, size_t *len)
{
	char target[SYMLINK_TARGET_MAX + 1];
	struct file file;
	int ret = file_init(&file, cx, vol, ino, inode);

	if (!ret)
		ret = symlink_target(&file, cx, target, len);
	return ret ? ret : *len == longest(inode);
}
