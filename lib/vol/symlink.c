// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The targets of symbolic links.
 *
 * NILFS2 keeps every target in data blocks, however short.  The kernel looks
 * at one page of them and no further, so no more is looked at here.
 */
#include "vol/symlink.h"

#include <string.h>

#include "vol/volume.h"

int symlink_target(struct file *file, struct context *cx,
		   char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	uint64_t size = le64_get(file->inode.i_size);
	uint32_t block_size = file->vol->geo.block_size;
	size_t end =
		size < SYMLINK_TARGET_MAX ? (size_t)size : SYMLINK_TARGET_MAX;
	size_t at;

	memset(target, 0, SYMLINK_TARGET_MAX + 1);
	for (at = 0; at < end; at += block_size) {
		size_t piece = end - at < block_size ? end - at : block_size;
		const void *block;
		int ret = file_block(file, cx, at / block_size, &block);

		if (ret < 0)
			return ret;
		if (!ret)
			break;
		memcpy(target + at, block, piece);
		file_put(file, block);
	}
	*len = strlen(target);
	return 0;
}
