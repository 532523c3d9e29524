// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A walk through the files of a checkpoint.
 *
 * Memory grows with depth only by one level of the path: the directory's inode and
 * the position in it.  The innermost directories stay open, so that returning to one
 * is cheap; the others release their blocks, so depth is not bounded by the cache.
 *
 * A directory has one parent.  A second entry for it (a loop, or two parents, which
 * could double the walk at each level) is a damaged entry.  The set of visited
 * directories detects it, and bounds the walk by the number of directory blocks.
 */
#include "vol/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/inoset.h"
#include "disk/inode.h"
#include "vol/dir.h"
#include "vol/volume.h"

struct level {
	struct nilfs_inode inode;
	uint64_t ino;
	size_t path_len;
	struct dir_position position; /* of the next entry */
	bool done;		      /* the rest of it cannot be read */
};

/*
 * Maximum number of open directories: even if all have maps of full depth, the smallest
 * cache has blocks to spare.
 */
#define READERS 3

struct reader {
	size_t depth; /* of the directory that it reads; 0: none */
	struct file file;
	struct dir_cursor cursor;
};

struct tree {
	struct root *root;
	struct tree_options options;
	struct inoset seen; /* directories */
	struct level *levels;
	size_t depth, levels_room;
	struct reader readers[READERS]; /* each for every third depth */
	char *path;
	size_t path_len, path_room, start_len;
	uint64_t start_ino;
	bool started;
	bool enter;   /* the item yielded last */
	uint64_t ino; /* that item's */
	struct nilfs_inode inode;
	struct dir_entry entry;
};

bool tree_name_is_sane(const char *name, size_t len)
{
	if (!len || memchr(name, '/', len) || memchr(name, '\0', len))
		return false;
	return name[0] != '.' || (len > 1 && (name[1] != '.' || len > 2));
}

/* Sets the path to its first LEN bytes, a slash and NAME. */
static int set_path(struct tree *t, struct context *cx, size_t len,
		    const char *name, size_t name_len)
{
	if (array_reserve(cx, &t->path, &t->path_room, len + name_len + 2))
		return -ENOMEM;
	t->path[len] = '/';
	memcpy(t->path + len + 1, name, name_len);
	t->path[len + 1 + name_len] = '\0';
	t->path_len = len + 1 + name_len;
	return 0;
}

int tree_open(struct tree **treep, struct context *cx, struct root *root,
	      const char *path, const struct tree_options *options)
{
	struct tree *t = calloc(1, sizeof(*t));
	const char *at = path;
	size_t len;
	int err;

	*treep = t;
	if (!t)
		return fail(cx, -ENOMEM, "walk");
	t->root = root;
	t->options = *options;
	/* The start path, with single slashes and none at the end. */
	err = set_path(t, cx, 0, "", 0);
	t->path_len = 0;
	for (at += strspn(at, "/"); !err && *at; at += strspn(at, "/")) {
		len = strcspn(at, "/");
		err = set_path(t, cx, t->path_len, at, len);
		at += len;
	}
	t->start_len = t->path_len;
	if (!err)
		err = dir_resolve(root, cx, path, &t->start_ino);
	if (!err)
		err = root_inode(root, cx, t->start_ino, &t->inode);
	return err;
}

static struct reader *reader_of(struct tree *t, size_t depth)
{
	return &t->readers[depth % READERS];
}

static void stop_reading(struct reader *reader)
{
	if (reader->depth)
		dir_cursor_close(&reader->cursor);
	reader->depth = 0;
}

void tree_close(struct tree *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < READERS; i++)
		stop_reading(&t->readers[i]);
	inoset_fini(&t->seen);
	free(t->levels);
	free(t->path);
	free(t);
}

/* Fills an item for the current path. */
static void fill_item(struct tree *t, struct tree_item *item,
		      enum tree_kind kind, uint64_t ino)
{
	size_t name = t->path_len;

	while (name && t->path[name - 1] != '/')
		name--;
	*item = (struct tree_item){
		.kind = kind,
		.path = t->path_len ? t->path : "/",
		.path_len = t->path_len ? t->path_len : 1,
		.name = t->path + name,
		.name_len = t->path_len - name,
		.ino = ino,
		.type = NILFS_FT_UNKNOWN,
		.depth = (unsigned int)t->depth,
	};
	item->inner =
		t->path_len > t->start_len ? t->start_len + 1 : item->path_len;
}

/* Marks the last item as unreadable; its other members are kept. */
static int break_item(struct tree *t, struct tree_item *item, int err)
{
	t->enter = false;
	/* These errors end the walk; all others concern one item. */
	if (err == -ENOMEM || err == -EINTR || err == -ENOBUFS)
		return err;
	item->kind = TREE_BROKEN;
	item->error = err;
	item->entered = false;
	return 1;
}

/* Reads the inode of the item, and decides whether to enter it: only once. */
static int look_at(struct tree *t, struct context *cx, struct tree_item *item)
{
	unsigned long long ino = item->ino;
	uint16_t mode;
	size_t i;
	int ret = 0;

	if (t->started && inode_is_private(item->ino))
		ret = fail(cx, -EUCLEAN, "inode %llu: a reserved inode", ino);
	if (!ret && t->started)
		ret = root_inode(t->root, cx, item->ino, &t->inode);
	if (ret)
		return ret;
	mode = le16_get(t->inode.i_mode);
	item->inode = &t->inode;
	item->type = inode_dirent_type(mode);
	t->ino = item->ino;
	t->enter = S_ISDIR(mode) && (t->options.recursive || !t->started);
	item->entered = t->enter;
	if (!t->enter)
		return 0;
	if (t->depth >= TREE_DEPTH_MAX)
		return fail(cx, -ELOOP,
			    "directory %llu: more than %u directories deep",
			    ino, TREE_DEPTH_MAX);
	ret = inoset_add(&t->seen, cx, item->ino);
	if (ret)
		return ret < 0 ? ret : 0;
	for (i = 0; i < t->depth; i++)
		if (t->levels[i].ino == item->ino)
			return fail(cx, -ELOOP, "directory %llu: contains itself",
				    ino);
	return fail(cx, -EUCLEAN,
		    "directory %llu: already has another entry", ino);
}

static int yield_entry(struct tree *t, struct context *cx,
		       struct tree_item *item)
{
	const struct dir_entry *entry = &t->entry;
	struct level *level = &t->levels[t->depth - 1];
	bool dots = dir_is_dots(entry);
	int err;

	err = set_path(t, cx, level->path_len, entry->name, entry->len);
	if (err)
		return err;
	fill_item(t, item, TREE_ENTRY, entry->ino);
	/* A damaged name with a slash is one component. */
	item->name = t->path + level->path_len + 1;
	item->name_len = entry->len;
	item->type = entry->type;
	if (dots) {
		err = root_inode(t->root, cx, entry->ino, &t->inode);
		item->inode = err ? NULL : &t->inode;
	} else if (t->options.inodes || (t->options.recursive &&
					 (entry->type == NILFS_FT_DIR ||
					  entry->type == NILFS_FT_UNKNOWN))) {
		err = look_at(t, cx, item);
	}
	return err ? break_item(t, item, err) : 1;
}

int tree_next(struct tree *t, struct context *cx, struct tree_item *item)
{
	struct reader *reader;
	struct level *level;
	int ret = context_cancelled(cx);

	if (ret)
		return ret;
	if (!t->started) {
		fill_item(t, item, TREE_ENTRY, t->start_ino);
		ret = look_at(t, cx, item);
		t->started = true;
		return ret ? ret : 1;
	}
	if (t->enter) {
		/* Descends into the directory yielded last. */
		t->enter = false;
		reader = reader_of(t, t->depth + 1);
		if (reader->depth)
			dir_cursor_save(&reader->cursor,
					&t->levels[reader->depth - 1].position);
		stop_reading(reader);
		if (array_reserve(cx, &t->levels, &t->levels_room,
				  t->depth + 1))
			return -ENOMEM;
		t->levels[t->depth++] = (struct level){
			.inode = t->inode,
			.ino = t->ino,
			.path_len = t->path_len,
		};
	}
	if (!t->depth)
		return 0;
	level = &t->levels[t->depth - 1];
	reader = reader_of(t, t->depth);
	if (!level->done && !reader->depth) {
		/* Opens the innermost directory at the position of the walk. */
		reader->cursor.at_broken_block = false;
		ret = file_init(&reader->file, cx, t->root->vol, level->ino,
				&level->inode);
		if (!ret) {
			reader->depth = t->depth;
			ret = dir_cursor_open_at(&reader->cursor, cx,
						 &reader->file,
						 &level->position);
		}
	}
	while (!ret && !level->done &&
	       (ret = dir_cursor_next(&reader->cursor, cx, &t->entry)) > 0) {
		if (t->options.dots || !dir_is_dots(&t->entry))
			return yield_entry(t, cx, item);
		ret = 0;
	}
	t->path_len = level->path_len;
	t->path[t->path_len] = '\0';
	if (!ret) {
		/* Leaves the directory. */
		stop_reading(reader);
		t->inode = level->inode;
		t->depth--;
	}
	fill_item(t, item, ret ? TREE_BROKEN : TREE_LEAVE, level->ino);
	item->type = NILFS_FT_DIR;
	if (!ret) {
		item->inode = &t->inode;
		return 1;
	}
	/* The rest of the directory, or one block, cannot be read. */
	if (!reader->cursor.at_broken_block) {
		stop_reading(reader);
		level->done = true;
	}
	return break_item(t, item, ret);
}

void tree_skip(struct tree *t)
{
	t->enter = false;
}

int tree_find_path(struct root *root, struct context *cx, uint64_t ino,
		   char **path)
{
	const struct tree_options how = { .recursive = true };
	struct tree_item item;
	struct tree *t;
	int ret = tree_open(&t, cx, root, "/", &how);

	*path = NULL;
	if (ret)
		goto out;
	do {
		ret = tree_next(t, cx, &item);
		/* Continue after items that cannot be read. */
		if (ret > 0)
			fail_clear(cx);
	} while (ret > 0 && (item.ino != ino || item.kind == TREE_LEAVE));
	if (!ret)
		ret = fail_said(cx, -ENOENT, "inode %llu: no path leads to it",
				(unsigned long long)ino);
	if (ret < 0)
		goto out;
	*path = strndup(item.path, item.path_len);
	ret = *path ? 0 : fail(cx, -ENOMEM, "path");
out:
	tree_close(t);
	return ret;
}
