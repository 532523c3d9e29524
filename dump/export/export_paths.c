// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths in the target, of files that come from more than one tree.
 *
 * At one path older trees can have other files, or a directory where a newer
 * one has a symbolic link, which must not lead to the files of the directory.
 * The first file at a path, or the first below it, keeps it; others are
 * numbered: "a", "a.~1~", "a.~2~".
 *
 * Of files only hashes of 64 bits are kept: if two are equal, a file is
 * numbered without need.
 */
#include "dump/export/export_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "disk/ondisk.h"

static struct pairtable_entry *find(const struct pairtable *t,
				    const char *path, size_t len)
{
	return pairtable_find(t, text_hash(path, len), 0);
}

/* Notes that the path of LEN bytes is in use. */
static int take(struct export_paths *p, struct context *cx, size_t len)
{
	return pairtable_add(&p->given, cx, text_hash(p->path, len), 0, 1);
}

/* Puts NAME, shortened if need be, at AT and a number after it. */
static size_t put_number(struct export_paths *p, size_t at, const char *name,
			 size_t len, uint64_t number)
{
	char text[24];
	size_t n = (size_t)snprintf(text, sizeof(text), ".~%llu~",
				    (unsigned long long)number);

	if (len > NILFS_NAME_LEN - n)
		len = NILFS_NAME_LEN - n;
	memcpy(p->path + at, name, len);
	memcpy(p->path + at + len, text, n + 1);
	return at + len + n;
}

/* Sets `path` to one in directory ABOVE that is not in use, and takes it. */
static int give_name(struct export_paths *p, struct context *cx,
		     const char *above, const char *name, size_t len)
{
	size_t at = strlen(above), end;
	struct pairtable_entry *e;
	uint64_t number;

	if (array_reserve(cx, &p->path, &p->path_room,
			  at + NILFS_NAME_LEN + 2))
		return -ENOMEM;
	memcpy(p->path, above, at);
	if (at)
		p->path[at++] = '/';
	memcpy(p->path + at, name, len);
	end = at + len;
	p->path[end] = '\0';
	e = find(&p->given, p->path, end);
	if (!e)
		return take(p, cx, end);
	number = e->value;
	do {
		end = put_number(p, at, name, len, number++);
	} while (find(&p->given, p->path, end));
	e->value = number;
	return take(p, cx, end);
}

/* Notes that the directory of LEN bytes was given `path`. */
static int remember_directory(struct export_paths *p, struct context *cx,
			      const char *path, size_t len)
{
	size_t at = p->text_used, size = strlen(p->path) + 1;

	if (array_reserve(cx, &p->text, &p->text_room, at + size))
		return -ENOMEM;
	memcpy(p->text + at, p->path, size);
	p->text_used += size;
	return pairtable_add(&p->dirs, cx, text_hash(path, len), 0, at + 1);
}

/* The length of the longest beginning of PATH that was given a directory. */
static size_t known_part(const struct export_paths *p, const char *path,
			 size_t len)
{
	while (len && !find(&p->dirs, path, len))
		while (--len && path[len] != '/')
			;
	return len;
}

/* *GIVEN is in TEXT. */
static int give_directory(struct export_paths *p, struct context *cx,
			  const char *path, size_t len, const char **given)
{
	size_t at = known_part(p, path, len);
	int err = 0;

	*given = at ? p->text + find(&p->dirs, path, at)->value - 1 : "";
	while (at < len && !err) {
		const char *name = path + at + !!at;
		size_t n = strcspn(name, "/");

		at = (size_t)(name - path) + n;
		err = give_name(p, cx, *given, name, n);
		if (!err)
			err = remember_directory(p, cx, path, at);
		if (!err)
			*given = p->text + p->text_used - strlen(p->path) - 1;
	}
	return err;
}

int export_paths_give(struct export_paths *p, struct context *cx,
		      const char *path, bool directory, const char **given)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int err;

	if (directory)
		return give_directory(p, cx, path, strlen(path), given);
	err = give_directory(p, cx, path, slash ? (size_t)(slash - path) : 0,
			     given);
	if (!err)
		err = give_name(p, cx, *given, name, strlen(name));
	*given = p->path;
	return err;
}

void export_paths_fini(struct export_paths *p)
{
	pairtable_fini(&p->given);
	pairtable_fini(&p->dirs);
	free(p->text);
	free(p->path);
	*p = (struct export_paths){.text_used = 0};
}
