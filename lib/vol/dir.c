// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Directories.
 *
 * A directory is a file of blocks of entries.  No entry crosses a block, so a cursor
 * holds only one borrowed block.  Names are bytes.
 */
#include "vol/dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "disk/rule.h"
#include "vol/volume.h"

int dir_cursor_open(struct dir_cursor *cur, struct context *cx,
		    struct file *file)
{
	cur->at_broken_block = cur->skipped = false;
	return blockscan_open(&cur->scan, cx, file, 0);
}

void dir_cursor_save(const struct dir_cursor *cur,
		     struct dir_position *position)
{
	position->blkoff = cur->scan.blkoff;
	position->offset = cur->iter.offset;
}

/* Advances to the next block below the size of the directory: 1, 0 at the end. */
static int next_block(struct dir_cursor *cur, struct context *cx)
{
	const struct file *file = cur->scan.file;
	uint64_t size = le64_get(file->inode.i_size);
	uint32_t block_size = file->vol->geo.block_size;
	int ret = blockscan_next(&cur->scan, cx);

	if (ret <= 0)
		return ret;
	if (cur->scan.blkoff >= div_round_up(size, block_size)) {
		blockscan_put(&cur->scan);
		return 0;
	}
	dirent_iter_init(&cur->iter, cur->scan.block, block_size);
	return 1;
}

int dir_cursor_open_at(struct dir_cursor *cur, struct context *cx,
		       struct file *file, const struct dir_position *position)
{
	int ret;

	cur->at_broken_block = cur->skipped = false;
	ret = blockscan_open(&cur->scan, cx, file, position->blkoff);
	if (ret || !position->offset)
		return ret;
	ret = next_block(cur, cx);
	if (ret > 0 && cur->scan.blkoff == position->blkoff)
		cur->iter.offset = position->offset;
	return ret < 0 ? ret : 0;
}

int dir_cursor_next(struct dir_cursor *cur, struct context *cx,
		    struct dir_entry *entry)
{
	struct dirent_entry de;
	int ret;

	cur->at_broken_block = false;
	for (;;) {
		if (!cur->scan.block) {
			ret = next_block(cur, cx);
			if (ret <= 0)
				return ret;
		}
		while (dirent_iter_next(&cur->iter, &de)) {
			if (!de.ino)
				continue;
			entry->ino = de.ino;
			entry->type = de.type;
			entry->len = de.name_len;
			memcpy(entry->name, de.name, de.name_len);
			entry->name[de.name_len] = '\0';
			return 1;
		}
		blockscan_put(&cur->scan);
		if (cur->iter.verdict == RULE_OK)
			continue;
		cur->at_broken_block = true;
		return fail(cx, -EUCLEAN, "directory %llu, block %llu: %s",
			    (unsigned long long)cur->scan.file->ino,
			    (unsigned long long)cur->scan.blkoff,
			    rule_info(cur->iter.verdict)->text);
	}
}

int dir_cursor_next_sound(struct dir_cursor *cur, struct context *cx,
			  struct dir_entry *entry)
{
	int ret;

	while ((ret = dir_cursor_next(cur, cx, entry)) < 0 &&
	       cur->at_broken_block) {
		fail_clear(cx);
		cur->skipped = true;
	}
	return ret;
}

void dir_cursor_close(struct dir_cursor *cur)
{
	blockscan_close(&cur->scan);
}

int dir_lookup(struct file *file, struct context *cx, const char *name,
	       size_t len, uint64_t *ino)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	int ret;

	ret = dir_cursor_open(&cur, cx, file);
	while (!ret && (ret = dir_cursor_next(&cur, cx, &entry)) > 0)
		ret = entry.len == len && !memcmp(entry.name, name, len);
	dir_cursor_close(&cur);
	if (!ret)
		return fail(cx, -ENOENT, "'%.*s'", (int)len, name);
	if (ret > 0)
		*ino = entry.ino;
	return ret < 0 ? ret : 0;
}

int dir_resolve(struct root *root, struct context *cx, const char *path,
		uint64_t *ino)
{
	const size_t digits = *path == '<' ? strspn(path + 1, "0123456789") : 0;
	const char *end = path + 1 + digits, *whole = path;
	struct file file;
	int err;

	*ino = NILFS_ROOT_INO;
	if (digits && digits < 20 && end[0] == '>' &&
	    (!end[1] || end[1] == '/')) {
		*ino = strtoull(path + 1, NULL, 10);
		path = end + 1;
	}
	for (;;) {
		const char *before = path;
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len)
			return 0;
		err = root_file(root, cx, *ino, &file);
		if (err)
			return err;
		if (!S_ISDIR(le16_get(file.inode.i_mode)))
			return fail(cx, -ENOTDIR, "%.*s", (int)(before - whole), whole);
		err = dir_lookup(&file, cx, path, len, ino);
		path += len;
		if (err == -ENOENT)
			return fail_said(cx, err, "%.*s: not in checkpoint %llu",
					 (int)(path - whole), whole,
					 (unsigned long long)root->cno);
		if (err)
			return err;
	}
}
