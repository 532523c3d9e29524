// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The targets of symbolic links.
 *
 * NILFS2 keeps every target in data blocks, however short.  The kernel looks
 * at one page of them and no further, so no more is looked at here.  A target
 * is a few bytes that nobody looks at twice: they are read past the cache,
 * without the rest of their block.
 */
#include "vol/symlink.h"

#include <string.h>

#include "vol/volume.h"

int symlink_target(struct file *file, struct context *cx,
		   char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	uint64_t size = le64_get(file->inode.i_size);
	const struct volume *vol = file->vol;
	uint32_t block_size = vol->geo.block_size;
	size_t end =
		size < SYMLINK_TARGET_MAX ? (size_t)size : SYMLINK_TARGET_MAX;
	size_t at;

	for (at = 0; at < end; at += block_size) {
		size_t piece = end - at < block_size ? end - at : block_size;
		uint64_t blocknr;
		int ret = file_lookup(file, cx, at / block_size, &blocknr);

		if (ret < 0)
			return ret;
		if (!ret)
			break;
		ret = dev_read(vol->dev, cx, blocknr << vol->geo.block_bits,
			       target + at, piece);
		if (ret)
			return ret;
	}
	target[at < end ? at : end] = '\0';
	*len = strlen(target);
	return 0;
}
