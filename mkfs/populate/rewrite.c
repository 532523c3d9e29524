// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing metadata a second time.
 *
 * The checkpoint before this one keeps its blocks, and nothing changes between both,
 * so each block has an equal older version in another segment, from which a repair
 * restores it.  Only what nothing else witnesses is written again: inodes, names and
 * targets of symbolic links.  The B-trees of files, the DAT and the SUFILE follow from
 * the summaries of logs, and every checkpoint writes its own cpfile.
 *
 * An inode and the blocks of its directory may be lost with one segment.  A repair then
 * needs the bitmap of inodes, so bitmaps are listed last, by the commit, which begins a
 * segment for them unless all that follows, with the super root, is in this one
 * (writer_options.apart).  Without the super root the older checkpoint is the latest.
 */
#include "mkfs/populate/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "log/directwriter.h"
#include "log/flush.h"
#include "log/inodes.h"
#include "log/newfile.h"
#include "vol/root.h"

struct rewrite {
	struct writer *w;
	struct volume *vol;
	struct root root;
	char *data;		/* the content of a file */
	size_t room;		/* bytes allocated */
};

/* Replaces all blocks of file INO, a directory or a symbolic link, by copies. */
static int copy_file(struct rewrite *r, struct context *cx, uint64_t ino,
		     struct nilfs_inode *inode)
{
	uint32_t size = r->vol->geo.block_size;
	uint64_t n = div_round_up(le64_get(inode->i_size), size), i;
	struct file file;
	int ret = file_init(&file, cx, r->vol, ino, inode);

	if (!ret)
		ret = array_reserve(cx, &r->data, &r->room, n * size);
	for (i = 0; i < n && ret >= 0; i++)
		ret = file_copy(&file, cx, i, 0, r->data + i * size, size);
	if (ret >= 0)
		ret = newfile_drop(r->w, cx, ino, inode);
	if (!ret)
		ret = newfile_collect(r->w, cx, ino, inode, r->data, n);
	return ret ? ret : inodes_write(r->w, cx, ino, inode);
}

/* Copies the files of block BLKOFF of the ifile, which holds entries as in WHAT. */
static int copy_files(struct rewrite *r, struct context *cx, uint64_t blkoff,
		      const struct palloc_block *what)
{
	const struct palloc *layout = &r->vol->ifile_palloc;
	struct nilfs_inode inode;
	const void *data;
	uint64_t i;
	bool used;
	int ret = file_block(&r->root.ifile, cx, blkoff, &data);

	if (ret <= 0)
		return ret;
	for (i = 0; i < what->count && ret >= 0; i++) {
		memcpy(&inode, (const char *)data + i * layout->entry_size,
		       sizeof(inode));
		if (!S_ISDIR(le16_get(inode.i_mode)) &&
		    !S_ISLNK(le16_get(inode.i_mode)))
			continue;
		/* The inode of a deleted file keeps its type. */
		ret = file_bit(&r->root.ifile, cx, layout, what->first + i, &used);
		if (ret > 0 && used)
			ret = copy_file(r, cx, what->first + i, &inode);
	}
	file_put(&r->root.ifile, data);
	return ret < 0 ? ret : flush_if_due(r->w, cx);
}

/* Writes the blocks of the ifile again: those with inodes, or the bitmaps and counts. */
static int copy_ifile(struct rewrite *r, struct context *cx, bool inodes)
{
	struct metafile *ifile = directwriter_file(r->w, NILFS_IFILE_INO);
	struct blockmap_cursor cursor;
	struct blockmap_item item;
	struct palloc_block what;
	int ret = blockmap_cursor_open(&cursor, cx, &r->root.ifile.map, 0, false);

	while (ret >= 0 &&
	       (ret = blockmap_cursor_next(&cursor, cx, &item)) > 0) {
		palloc_locate(&r->vol->ifile_palloc, item.key, &what);
		if ((what.kind == PALLOC_ENTRIES) != inodes)
			continue;
		ret = metafile_touch(ifile, cx, 0, item.key);
		if (!ret && inodes)
			ret = copy_files(r, cx, item.key, &what);
	}
	blockmap_cursor_close(&cursor);
	return ret;
}

int rewrite_metadata(struct writer *w, struct context *cx, struct volume *vol)
{
	struct rewrite r = { .w = w, .vol = vol };
	int ret = root_open(&r.root, cx, vol, 0);

	if (!ret)
		ret = newfile_skip(w, cx);
	if (!ret)
		ret = copy_ifile(&r, cx, true);
	if (!ret)
		ret = copy_ifile(&r, cx, false);
	free(r.data);
	return ret;
}
