// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories of files that come in no order.
 *
 * Deleted files come in the order in which they are found.  A directory is made
 * when a file needs it, and gets its attributes last: a file that comes later
 * would change its time, and its mode may allow none.
 */
#include "dump/export/export_dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct export_dir_entry {
	char *path;
	size_t order; /* in which they were added */
	struct nilfs_inode inode;
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Leaves the current directory; INODE, if not NULL, has its attributes. */
static int leave(struct export_dirs *dirs, struct context *cx,
		 struct export_sink *sink, const struct nilfs_inode *inode)
{
	const struct export_file dir = {
		.path = dirs->at,
		.name = name_of(dirs->at),
		.inode = inode,
		.late = true,
	};
	int ret = sink->ops->leave(sink, cx, &dir);

	dirs->at_len = (size_t)(dir.name - dirs->at);
	dirs->at_len -= !!dirs->at_len;
	dirs->at[dirs->at_len] = '\0';
	return ret;
}

/* Enters the directory that the first LEN bytes of PATH lead to. */
static int enter(struct export_dirs *dirs, struct context *cx,
		 struct export_sink *sink, const char *path, size_t len)
{
	struct export_file dir = {.late = true};
	size_t before = dirs->at_len;
	int ret;

	if (array_reserve(cx, &dirs->at, &dirs->at_room, len + 1))
		return -ENOMEM;
	memcpy(dirs->at + before, path + before, len - before);
	dirs->at[len] = '\0';
	dir.path = dirs->at;
	dir.name = name_of(dirs->at);
	ret = sink->ops->enter(sink, cx, &dir);
	dirs->at_len = ret ? before : len;
	dirs->at[dirs->at_len] = '\0';
	return ret;
}

/* Whether the current directory is PATH or above it. */
static bool is_on_the_way(const struct export_dirs *dirs, const char *path,
			  size_t len)
{
	size_t n = dirs->at_len;

	return !n || (n <= len && !memcmp(dirs->at, path, n) &&
		      (n == len || path[n] == '/'));
}

int export_dirs_go(struct export_dirs *dirs, struct context *cx,
		   struct export_sink *sink, const char *path, size_t len)
{
	int ret = 0;

	while (!ret && !is_on_the_way(dirs, path, len))
		ret = leave(dirs, cx, sink, NULL);
	while (!ret && dirs->at_len < len) {
		size_t n = dirs->at_len + !!dirs->at_len;

		n += strcspn(path + n, "/");
		ret = enter(dirs, cx, sink, path, n);
	}
	return ret;
}

int export_dirs_add(struct export_dirs *dirs, struct context *cx,
		    const struct export_file *file)
{
	struct export_dir_entry entry = {
		.path = strdup(file->path),
		.order = dirs->used,
		.inode = *file->inode,
	};

	if (!entry.path)
		return fail(cx, -ENOMEM, "%s", file->path);
	if (array_reserve(cx, &dirs->entries, &dirs->room, dirs->used + 1)) {
		free(entry.path);
		return -ENOMEM;
	}
	dirs->entries[dirs->used++] = entry;
	return 0;
}

/* What a path is the beginning of comes before it. */
static int compare_backwards(const void *a, const void *b)
{
	const struct export_dir_entry *one = a, *two = b;
	int order = strcmp(two->path, one->path);

	return order ? order : one->order < two->order ? -1 : 1;
}

static int put_one(struct export_dirs *dirs, struct context *cx,
		   struct export_sink *sink,
		   const struct export_dir_entry *entry)
{
	int ret = export_dirs_go(dirs, cx, sink, entry->path,
				 strlen(entry->path));

	return ret ? ret : leave(dirs, cx, sink, &entry->inode);
}

int export_dirs_put(struct export_dirs *dirs, struct context *cx,
		    struct export_sink *sink,
		    void (*failed)(void *arg, const char *path, int error),
		    void *arg)
{
	struct export_dir_entry *entries = dirs->entries;
	size_t i;
	int ret = 0;

	if (dirs->used)
		qsort(entries, dirs->used, sizeof(*entries), compare_backwards);
	for (i = 0; i < dirs->used && ret >= 0; i++) {
		if (i && !strcmp(entries[i].path, entries[i - 1].path))
			continue;
		ret = put_one(dirs, cx, sink, &entries[i]);
		if (ret > 0)
			failed(arg, entries[i].path, ret);
	}
	return ret < 0 ? ret : 0;
}

void export_dirs_fini(struct export_dirs *dirs)
{
	size_t i;

	for (i = 0; i < dirs->used; i++)
		free(dirs->entries[i].path);
	free(dirs->entries);
	free(dirs->at);
	*dirs = (struct export_dirs){.used = 0};
}
