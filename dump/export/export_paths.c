// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths and directories of files from several trees, in any order.
 *
 * An older tree can have another file at a path, or a directory where a newer one
 * has a symbolic link, which must not lead to the files of the directory.  The
 * first file at a path, or the first below it, keeps it; others are numbered: "a",
 * "a.~1~", "a.~2~".  Only 64-bit hashes of paths of files are kept: if two are
 * equal, a file is numbered without need.
 *
 * A directory is created for the first file in it, and its attributes are set at
 * the end: a later file would change its time, and its mode may forbid writing.
 */
#include "dump/export/export_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"
#include "disk/ondisk.h"

struct export_dir_entry {
	char *path;
	size_t order; /* in which it was added */
	struct nilfs_inode inode;
};

static struct pairtable_entry *find_path(const struct pairtable *t,
					 const char *path, size_t len)
{
	return pairtable_find(t, text_hash(path, len), 0);
}

/* Sets `path` to an unused path in directory ABOVE, and marks it as used. */
static int export_paths_give_name(struct export_paths *p, struct context *cx,
				  const char *above, const char *name, size_t len)
{
	size_t at = strlen(above), end, n;
	struct pairtable_entry *e;
	char text[24];

	if (array_reserve(cx, &p->path, &p->path_room,
			  at + NILFS_NAME_LEN + 2))
		return -ENOMEM;
	memcpy(p->path, above, at);
	if (at)
		p->path[at++] = '/';
	memcpy(p->path + at, name, len);
	end = at + len;
	p->path[end] = '\0';
	e = find_path(&p->given, p->path, end);
	while (e && find_path(&p->given, p->path, end)) {
		/* A number after the name, which is shortened if necessary. */
		n = (size_t)snprintf(text, sizeof(text), ".~%llu~",
				     (unsigned long long)e->value++);
		if (len > NILFS_NAME_LEN - n)
			len = NILFS_NAME_LEN - n;
		end = at + len + n;
		memcpy(p->path + at + len, text, n + 1);
	}
	return pairtable_add(&p->given, cx, text_hash(p->path, end), 0, 1);
}

/* Gives the directory PATH (LEN bytes) a path: *GIVEN, in TEXT. */
static int give_directory(struct export_paths *p, struct context *cx,
			  const char *path, size_t len, const char **given)
{
	size_t at = len, size, n;
	const char *name;
	int err = 0;

	/* The longest prefix of PATH that has a directory. */
	while (at && !find_path(&p->dirs, path, at))
		while (--at && path[at] != '/')
			;
	*given = at ? p->text + find_path(&p->dirs, path, at)->value - 1 : "";
	while (at < len && !err) {
		name = path + at + !!at;
		n = strcspn(name, "/");
		at = (size_t)(name - path) + n;
		err = export_paths_give_name(p, cx, *given, name, n);
		if (err)
			break;
		size = strlen(p->path) + 1;
		if (array_reserve(cx, &p->text, &p->text_room,
				  p->text_used + size))
			return -ENOMEM;
		*given = memcpy(p->text + p->text_used, p->path, size);
		err = pairtable_add(&p->dirs, cx, text_hash(path, at), 0,
				    p->text_used + 1);
		p->text_used += size;
	}
	return err;
}

int export_paths_give(struct export_paths *p, struct context *cx,
		      const char *path, bool directory, const char **given)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int err;

	if (directory)
		return give_directory(p, cx, path, strlen(path), given);
	err = give_directory(p, cx, path, slash ? (size_t)(slash - path) : 0,
			     given);
	if (!err)
		err = export_paths_give_name(p, cx, *given, name, strlen(name));
	*given = p->path;
	return err;
}

/* Leaves the current directory and sets its attributes to those of INODE, if not
   NULL. */
static int leave_directory(struct export_paths *p, struct context *cx,
			   struct export_sink *sink,
			   const struct nilfs_inode *inode)
{
	const char *slash = strrchr(p->at, '/');
	const struct export_file dir = {
		.path = p->at,
		.name = slash ? slash + 1 : p->at,
		.inode = inode,
		.late = true,
	};
	int ret = sink->ops->leave(sink, cx, &dir);

	p->at_len = (size_t)(dir.name - p->at);
	p->at_len -= !!p->at_len;
	p->at[p->at_len] = '\0';
	return ret;
}

int export_paths_go(struct export_paths *p, struct context *cx,
		    struct export_sink *sink, const char *path, size_t len)
{
	struct export_file dir = {.late = true};
	size_t n, before;
	int ret = 0;

	/* Up to a directory that is PATH or a parent of it. */
	while (!ret && (n = p->at_len) &&
	       (n > len || memcmp(p->at, path, n) ||
		(n < len && path[n] != '/')))
		ret = leave_directory(p, cx, sink, NULL);
	while (!ret && p->at_len < len) {
		before = p->at_len;
		n = before + !!before;
		n += strcspn(path + n, "/");
		if (array_reserve(cx, &p->at, &p->at_room, n + 1))
			return -ENOMEM;
		memcpy(p->at + before, path + before, n - before);
		p->at[n] = '\0';
		dir.path = p->at;
		dir.name = p->at + before + !!before;
		ret = sink->ops->enter(sink, cx, &dir);
		p->at_len = ret ? before : n;
		p->at[p->at_len] = '\0';
	}
	return ret;
}

int export_paths_add(struct export_paths *p, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir_entry entry = {
		.path = strdup(file->path),
		.order = p->used,
		.inode = *file->inode,
	};

	if (!entry.path)
		return fail(cx, -ENOMEM, "%s", file->path);
	if (array_reserve(cx, &p->entries, &p->room, p->used + 1)) {
		free(entry.path);
		return -ENOMEM;
	}
	p->entries[p->used++] = entry;
	return 0;
}

/* Sorts the files of a directory before it. */
static int compare_backwards(const void *a, const void *b)
{
	const struct export_dir_entry *one = a, *two = b;

	return strcmp(two->path, one->path) ?: sort_order(one->order, two->order);
}

int export_paths_put(struct export_paths *p, struct context *cx,
		     struct export_sink *sink,
		     void (*failed)(void *arg, const char *path, size_t len,
				    int err),
		     void *arg)
{
	struct export_dir_entry *entries = p->entries;
	size_t i, len;
	int ret = 0;

	sort_in_place(entries, p->used, sizeof(*entries), compare_backwards);
	for (i = 0; i < p->used && ret >= 0; i++) {
		if (i && !strcmp(entries[i].path, entries[i - 1].path))
			continue;
		len = strlen(entries[i].path);
		ret = export_paths_go(p, cx, sink, entries[i].path, len);
		if (!ret)
			ret = leave_directory(p, cx, sink, &entries[i].inode);
		if (ret > 0)
			failed(arg, entries[i].path, len, -ret);
	}
	return ret < 0 ? ret : 0;
}

void export_paths_fini(struct export_paths *p)
{
	size_t i;

	pairtable_fini(&p->given);
	pairtable_fini(&p->dirs);
	free(p->text);
	free(p->path);
	for (i = 0; i < p->used; i++)
		free(p->entries[i].path);
	free(p->entries);
	free(p->at);
	*p = (struct export_paths){.text_used = 0};
}
