// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories that are put into a tar stream after all that is in them.
 *
 * Deleted files come in the order in which they are found.  A program that extracts
 * the stream makes their directories when it needs them; it sets the time of a
 * directory by its entry, and a file that comes later would change the time again.
 */
#include "dump/export/export_dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct export_dir_entry {
	char *path;
	uint64_t ino;
	struct nilfs_inode inode;
};

int export_dirs_add(struct export_dirs *dirs, struct context *cx,
		    const struct export_file *file)
{
	struct export_dir_entry entry = {
		.path = strdup(file->path),
		.ino = file->ino,
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

	return strcmp(two->path, one->path);
}

int export_dirs_put(struct export_dirs *dirs, struct context *cx,
		    struct export_sink *sink)
{
	size_t i;
	int ret = 0;

	if (dirs->used)
		qsort(dirs->entries, dirs->used, sizeof(*dirs->entries),
		      compare_backwards);
	for (i = 0; i < dirs->used && !ret; i++) {
		const struct export_dir_entry *entry = &dirs->entries[i];
		const char *slash = strrchr(entry->path, '/');
		const struct export_file file = {
			.path = entry->path,
			.name = slash ? slash + 1 : entry->path,
			.ino = entry->ino,
			.inode = &entry->inode,
		};

		ret = sink->ops->enter(sink, cx, &file);
	}
	return ret;
}

void export_dirs_fini(struct export_dirs *dirs)
{
	size_t i;

	for (i = 0; i < dirs->used; i++)
		free(dirs->entries[i].path);
	free(dirs->entries);
	*dirs = (struct export_dirs){ .used = 0 };
}
