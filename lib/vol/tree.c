// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A walk through the files of a checkpoint.
 *
 * Only the path grows with depth: per level the directory's inode and the
 * position in it.  The innermost directories stay open, so that returning to
 * one costs nothing; those further up release their blocks, so depth is not
 * bounded by the cache.
 *
 * A directory has one parent.  A second entry for it (a loop, or two parents,
 * which could double the walk at each level) is a broken entry; the set of
 * directories seen so far detects it, and bounds the walk by the number of
 * directory blocks.
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
 * Directories that are open at a time: even if all had maps of full depth, the
 * smallest cache would have blocks to spare.
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

/* Failures that end the walk; all others are those of one item. */
static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS;
}

/* Makes the path its first LEN bytes, a slash and NAME. */
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

/* The path of the start, with single slashes and none at the end. */
static int set_start(struct tree *t, struct context *cx, const char *path)
{
	int err = set_path(t, cx, 0, "", 0);

	t->path_len = 0;
	for (path += strspn(path, "/"); !err && *path;
	     path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");

		err = set_path(t, cx, t->path_len, path, len);
		path += len;
	}
	t->start_len = t->path_len;
	return err;
}

int tree_open(struct tree **treep, struct context *cx, struct root *root,
	      const char *path, const struct tree_options *options)
{
	struct tree *t = calloc(1, sizeof(*t));
	int err;

	*treep = t;
	if (!t)
		return fail(cx, -ENOMEM, "walk");
	t->root = root;
	t->options = *options;
	err = set_start(t, cx, path);
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

/* Where the last part of the path begins. */
static size_t find_name(const struct tree *t)
{
	size_t name = t->path_len;

	while (name && t->path[name - 1] != '/')
		name--;
	return name;
}

/* An item at the path, the last part of which begins at NAME. */
static void fill_item(struct tree *t, struct tree_item *item,
		      enum tree_kind kind, uint64_t ino, size_t name)
{
	item->kind = kind;
	item->error = 0;
	item->path = t->path;
	item->path_len = t->path_len ? t->path_len : 1;
	item->inner =
		t->path_len > t->start_len ? t->start_len + 1 : item->path_len;
	item->name = t->path + name;
	item->name_len = t->path_len - name;
	item->ino = ino;
	item->type = NILFS_FT_UNKNOWN;
	item->entered = false;
	item->depth = (unsigned int)t->depth;
	item->inode = NULL;
}

/* The last item could not be read; what it is stays as it was filled. */
static int break_item(struct tree *t, struct tree_item *item, int err)
{
	t->enter = false;
	if (is_fatal(err))
		return err;
	item->kind = TREE_BROKEN;
	item->error = err;
	item->entered = false;
	return 1;
}

/* Whether the directory INO may be entered: that is, once. */
static int may_enter(struct tree *t, struct context *cx, uint64_t ino)
{
	int ret;
	size_t i;

	if (t->depth >= TREE_DEPTH_MAX)
		return fail(cx, -ELOOP,
			    "directory %llu: more than %u directories deep",
			    (unsigned long long)ino, TREE_DEPTH_MAX);
	ret = inoset_add(&t->seen, cx, ino);
	if (ret)
		return ret < 0 ? ret : 0;
	for (i = 0; i < t->depth; i++)
		if (t->levels[i].ino == ino)
			return fail(cx, -ELOOP, "directory %llu: in itself",
				    (unsigned long long)ino);
	return fail(cx, -EUCLEAN,
		    "directory %llu: has an entry elsewhere already",
		    (unsigned long long)ino);
}

/* Reads the inode of the item, and sees whether to enter it next. */
static int look_at(struct tree *t, struct context *cx, struct tree_item *item)
{
	uint16_t mode;
	int err = 0;

	if (t->started && inode_is_private(item->ino))
		err = fail(cx, -EUCLEAN, "inode %llu: not one for users",
			   (unsigned long long)item->ino);
	if (!err && t->started)
		err = root_inode(t->root, cx, item->ino, &t->inode);
	if (err)
		return err;
	mode = le16_get(t->inode.i_mode);
	item->inode = &t->inode;
	item->type = inode_dirent_type(mode);
	t->enter = S_ISDIR(mode) && (t->options.recursive || !t->started);
	t->ino = item->ino;
	if (t->enter)
		err = may_enter(t, cx, item->ino);
	item->entered = t->enter;
	return err;
}

static int yield_start(struct tree *t, struct context *cx,
		       struct tree_item *item)
{
	int err;

	fill_item(t, item, TREE_ENTRY, t->start_ino, find_name(t));
	if (!t->path_len)
		item->path = "/";
	err = look_at(t, cx, item);
	t->started = true;
	return err ? err : 1;
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
	fill_item(t, item, TREE_ENTRY, entry->ino, level->path_len + 1);
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

/* Descends into the directory yielded last. */
static int enter_dir(struct tree *t, struct context *cx)
{
	struct reader *reader = reader_of(t, t->depth + 1);
	struct level *level;

	t->enter = false;
	if (reader->depth)
		dir_cursor_save(&reader->cursor,
				&t->levels[reader->depth - 1].position);
	stop_reading(reader);
	if (array_reserve(cx, &t->levels, &t->levels_room, t->depth + 1))
		return -ENOMEM;
	level = &t->levels[t->depth++];
	memset(level, 0, sizeof(*level));
	level->inode = t->inode;
	level->ino = t->ino;
	level->path_len = t->path_len;
	return 0;
}

/* Opens the innermost directory at the position of the walk. */
static int start_reading(struct tree *t, struct context *cx)
{
	const struct level *level = &t->levels[t->depth - 1];
	struct reader *reader = reader_of(t, t->depth);
	int err;

	if (reader->depth)
		return 0;
	reader->cursor.at_broken_block = false;
	err = file_init(&reader->file, cx, t->root->vol, level->ino,
			&level->inode);
	if (err)
		return err;
	reader->depth = t->depth;
	return dir_cursor_open_at(&reader->cursor, cx, &reader->file,
				  &level->position);
}

static int yield_leave(struct tree *t, struct tree_item *item)
{
	const struct level *level = &t->levels[t->depth - 1];

	stop_reading(reader_of(t, t->depth));
	t->inode = level->inode;
	t->path_len = level->path_len;
	t->path[t->path_len] = '\0';
	t->depth--;
	fill_item(t, item, TREE_LEAVE, level->ino, find_name(t));
	if (!t->path_len)
		item->path = "/";
	item->type = NILFS_FT_DIR;
	item->inode = &t->inode;
	return 1;
}

/* The rest of the innermost directory cannot be read, or one block of it. */
static int yield_unreadable(struct tree *t, struct tree_item *item, int err)
{
	struct level *level = &t->levels[t->depth - 1];
	struct reader *reader = reader_of(t, t->depth);

	t->path_len = level->path_len;
	t->path[t->path_len] = '\0';
	fill_item(t, item, TREE_BROKEN, level->ino, find_name(t));
	if (!t->path_len)
		item->path = "/";
	item->type = NILFS_FT_DIR;
	if (!reader->cursor.at_broken_block) {
		stop_reading(reader);
		level->done = true;
	}
	return break_item(t, item, err);
}

int tree_next(struct tree *t, struct context *cx, struct tree_item *item)
{
	int ret = context_cancelled(cx);

	if (ret)
		return ret;
	if (!t->started)
		return yield_start(t, cx, item);
	if (t->enter) {
		ret = enter_dir(t, cx);
		if (ret)
			return ret;
	}
	while (t->depth) {
		if (t->levels[t->depth - 1].done)
			return yield_leave(t, item);
		ret = start_reading(t, cx);
		if (!ret)
			ret = dir_cursor_next(&reader_of(t, t->depth)->cursor,
					      cx, &t->entry);
		if (ret < 0)
			return yield_unreadable(t, item, ret);
		if (!ret)
			return yield_leave(t, item);
		if (t->options.dots || !dir_is_dots(&t->entry))
			return yield_entry(t, cx, item);
	}
	return 0;
}

void tree_skip(struct tree *t)
{
	t->enter = false;
}

/* The walk goes on past what cannot be read. */
static int find_item(struct tree *t, struct context *cx, uint64_t ino,
		     struct tree_item *item)
{
	int ret;

	while ((ret = tree_next(t, cx, item)) > 0) {
		fail_clear(cx);
		if (item->ino == ino && item->kind != TREE_LEAVE)
			return 0;
	}
	if (ret)
		return ret;
	return fail_said(cx, -ENOENT, "inode %llu: no path leads to it",
			 (unsigned long long)ino);
}

int tree_find_path(struct root *root, struct context *cx, uint64_t ino,
		   char **path)
{
	const struct tree_options how = { .recursive = true };
	struct tree_item item;
	struct tree *t;
	int ret = tree_open(&t, cx, root, "/", &how);

	*path = NULL;
	if (!ret)
		ret = find_item(t, cx, ino, &item);
	if (!ret) {
		*path = strndup(item.path, item.path_len);
		if (!*path)
			ret = fail(cx, -ENOMEM, "path");
	}
	tree_close(t);
	return ret;
}
