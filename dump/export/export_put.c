// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One file of an export: what it is, its content, and whether it is a further name of
 * one that was exported.
 */
#include "dump/export/export_put.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "dump/common/image.h"

void export_put_describe(struct export *e, const struct tree_item *item,
		     struct export_file *file)
{
	bool directory = S_ISDIR(le16_get(item->inode->i_mode));
	const struct pairtable_entry *link = NULL;

	*file = (struct export_file){
		.path = item->depth || directory ? item->path + item->inner
						 : item->name,
		.name = item->name,
		.ino = item->ino,
		.inode = item->inode,
	};
	if (!directory && le16_get(item->inode->i_links_count) > 1)
		link = pairtable_find(&e->links,
				      le32_get(item->inode->i_generation),
				      item->ino);
	if (link)
		file->linked = e->paths + link->value - 1;
}

int export_put_file(struct export *e, struct export_file *file)
{
	struct context *cx = &e->tool->cx;
	mode_t mode = le16_get(file->inode->i_mode);
	size_t at = e->paths_used, len;
	int ret = 0;

	if (!S_ISREG(mode) && !S_ISLNK(mode) && !S_ISCHR(mode) &&
	    !S_ISBLK(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
		return -fail(cx, -EUCLEAN, "mode 0%o: invalid file type",
			     (unsigned int)mode);
	if (!file->linked && (S_ISREG(mode) || S_ISLNK(mode)))
		ret = file_init(&e->file, cx, e->root->vol, file->ino,
				file->inode);
	if (!ret && !file->linked && e->found) {
		e->file.extents = e->found->extents;
		e->file.nextents = e->found->nextents;
	}
	if (!ret && !file->linked && S_ISLNK(mode)) {
		ret = symlink_target(&e->file, cx, e->target, &len);
		if (!ret && !len)
			ret = fail(cx, -EUCLEAN, "symbolic link to nothing");
		file->target = e->target;
	} else if (!ret && !file->linked && S_ISREG(mode)) {
		ret = content_open(&e->content, cx, &e->file, e->buffer);
		file->content = &e->content;
	}
	e->content.patient = e->patient;
	ret = ret ? -ret : e->sink->ops->put(e->sink, cx, file);
	if (file->content)
		content_close(&e->content);
	if (!ret && file->content && e->content.unread)
		ret = -fail_said(cx, -EIO, "%llu bytes cannot be read, and are "
				 "exported as zeros",
				 (unsigned long long)e->content.unread);
	if (ret || file->linked || le16_get(file->inode->i_links_count) < 2)
		return ret;
	len = strlen(file->path) + 1;
	if (array_reserve(cx, &e->paths, &e->paths_room, at + len))
		return -ENOMEM;
	memcpy(e->paths + at, file->path, len);
	e->paths_used += len;
	return pairtable_add(&e->links, cx, le32_get(file->inode->i_generation),
			     file->ino, at + 1);
}

int export_put_note(struct export *e, const char *path, size_t len, int ret)
{
	if (ret > 0) {
		image_file_failed(e->tool, path, len, -ret);
		e->broken++;
	}
	return ret < 0 ? ret : 0;
}

void export_put_broken(void *arg, const char *path, size_t len, int err)
{
	export_put_note(arg, path, len, -err);
}
