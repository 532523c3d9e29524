// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Directories.
 *
 * A directory is a file of blocks of entries; none crosses a block, so one
 * borrowed block is all a cursor holds.  The names are bytes.
 */
#include "vol/dir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "disk/rule.h"
#include "vol/volume.h"

#define READAHEAD_BLOCKS 32

int dir_cursor_open(struct dir_cursor *cur, struct context *cx,
		    struct file *file)
{
	memset(cur, 0, sizeof(*cur));
	cur->file = file;
	return extent_cursor_open(&cur->extents, cx, file, 0);
}

void dir_cursor_tell(const struct dir_cursor *cur,
		     struct dir_position *position)
{
	position->blkoff = cur->extent.blkoff - 1;
	position->offset = cur->iter.offset;
}

/* Borrows the next block below the size of the directory: 1, 0 at the end. */
static int next_block(struct dir_cursor *cur, struct context *cx)
{
	struct volume *vol = cur->file->vol;
	uint64_t size = le64_get(cur->file->inode.i_size);
	int ret;

	if (!cur->extent.count) {
		ret = extent_cursor_next(&cur->extents, cx, READAHEAD_BLOCKS,
					 &cur->extent);
		if (ret <= 0)
			return ret;
		if (cur->extent.count > 1)
			cache_readahead(vol->cache, cx, cur->extent.blocknr,
					(unsigned int)cur->extent.count);
	}
	if (cur->extent.blkoff >= div_round_up(size, vol->geo.block_size))
		return 0;
	ret = cache_get(vol->cache, cx, cur->extent.blocknr, &cur->block);
	if (ret)
		return ret;
	cur->extent.blkoff++;
	cur->extent.blocknr++;
	cur->extent.count--;
	dirent_iter_init(&cur->iter, cur->block, vol->geo.block_size);
	return 1;
}

static void put_block(struct dir_cursor *cur)
{
	if (cur->block)
		cache_put(cur->file->vol->cache, cur->block);
	cur->block = NULL;
}

int dir_cursor_open_at(struct dir_cursor *cur, struct context *cx,
		       struct file *file, const struct dir_position *position)
{
	int ret;

	memset(cur, 0, sizeof(*cur));
	cur->file = file;
	ret = extent_cursor_open(&cur->extents, cx, file, position->blkoff);
	if (ret || !position->offset)
		return ret;
	ret = next_block(cur, cx);
	if (ret > 0 && cur->extent.blkoff == position->blkoff + 1)
		cur->iter.offset = position->offset;
	return ret < 0 ? ret : 0;
}

static int broken(struct dir_cursor *cur, struct context *cx, enum rule rule)
{
	put_block(cur);
	cur->at_broken_block = true;
	return fail(cx, -EUCLEAN, "directory %llu, block %llu: %s",
		    (unsigned long long)cur->file->ino,
		    (unsigned long long)cur->extent.blkoff - 1,
		    rule_info(rule)->text);
}

static void copy_entry(const struct dirent_entry *de, struct dir_entry *entry)
{
	entry->ino = de->ino;
	entry->type = de->type;
	entry->len = de->name_len;
	memcpy(entry->name, de->name, de->name_len);
	entry->name[de->name_len] = '\0';
}

int dir_cursor_next(struct dir_cursor *cur, struct context *cx,
		    struct dir_entry *entry)
{
	struct dirent_entry de;
	int ret;

	cur->at_broken_block = false;
	for (;;) {
		if (!cur->block) {
			ret = next_block(cur, cx);
			if (ret <= 0)
				return ret;
		}
		while (dirent_iter_next(&cur->iter, &de)) {
			if (!de.ino)
				continue;
			copy_entry(&de, entry);
			return 1;
		}
		if (cur->iter.verdict != RULE_OK)
			return broken(cur, cx, cur->iter.verdict);
		put_block(cur);
	}
}

void dir_cursor_close(struct dir_cursor *cur)
{
	if (!cur->file)
		return;
	put_block(cur);
	extent_cursor_close(&cur->extents);
	cur->file = NULL;
}

int dir_lookup(struct file *file, struct context *cx, const char *name,
	       size_t len, uint64_t *ino)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	int ret;

	ret = dir_cursor_open(&cur, cx, file);
	while (!ret) {
		ret = dir_cursor_next(&cur, cx, &entry);
		if (ret <= 0)
			break;
		if (entry.len == len && !memcmp(entry.name, name, len)) {
			*ino = entry.ino;
			break;
		}
		ret = 0;
	}
	dir_cursor_close(&cur);
	if (ret < 0)
		return ret;
	return ret ? 0 : fail(cx, -ENOENT, "'%.*s'", (int)len, name);
}

int dir_resolve(struct root *root, struct context *cx, const char *path,
		uint64_t *ino)
{
	struct file file;
	int err;

	*ino = NILFS_ROOT_INO;
	for (;;) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len)
			return 0;
		err = root_file(root, cx, *ino, &file);
		if (err)
			return err;
		if (!S_ISDIR(le16_get(file.inode.i_mode)))
			return fail(cx, -ENOTDIR, "inode %llu",
				    (unsigned long long)*ino);
		err = dir_lookup(&file, cx, path, len, ino);
		if (err)
			return err;
		path += len;
	}
}
