// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inodes of the new checkpoint.
 *
 * The ifile is a file of the persistent allocator: bitmaps record which numbers
 * are in use, and the number of an inode is its index.  A new ifile contains
 * the reserved inodes.  Except those stored elsewhere, they are plain files
 * without blocks.
 */
#include "log/inodes.h"

#include <errno.h>
#include <string.h>

#include "disk/palloc.h"
#include "log/writer_parts.h"

int inodes_alloc(struct writer *w, struct context *cx, uint64_t *ino)
{
	uint32_t count;
	int ret = numbers_take(&w->inos, cx, 1, ino, &count);

	if (!ret)
		w->inodes_count++;
	return ret;
}

int inodes_read(struct writer *w, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode)
{
	const struct palloc *p = &w->inos.p;
	const void *data;
	int ret = numbers_test(&w->inos, cx, ino);

	if (!ret)
		return fail_said(cx, -ENOENT, "inode %llu: not in use",
				 (unsigned long long)ino);
	if (ret > 0)
		ret = metafile_look(w->ifile, cx, palloc_entry_blkoff(p, ino),
				    &data);
	if (ret < 0)
		return ret;
	if (ret)
		memcpy(inode, (const char *)data + palloc_entry_offset(p, ino),
		       sizeof(*inode));
	else
		memset(inode, 0, sizeof(*inode));
	return 0;
}

int inodes_write(struct writer *w, struct context *cx, uint64_t ino,
		 const struct nilfs_inode *inode)
{
	const struct palloc *p = &w->inos.p;
	void *data;
	int ret = metafile_change(w->ifile, cx, palloc_entry_blkoff(p, ino),
				  &data, NULL);

	if (!ret)
		memcpy((char *)data + palloc_entry_offset(p, ino), inode,
		       sizeof(*inode));
	return ret;
}

int inodes_free(struct writer *w, struct context *cx, uint64_t ino)
{
	static const struct nilfs_inode none;
	struct nilfs_inode old;
	int ret = inodes_read(w, cx, ino, &old);

	if (!ret)
		ret = inodes_write(w, cx, ino, &none);
	if (ret)
		return ret;
	w->inodes_count--;
	return numbers_give(&w->inos, cx, ino);
}
