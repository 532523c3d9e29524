// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the path of an inode.
 *
 * An inode does not contain its names, so directories are read, the ones
 * nearest to the root first, until one has an entry for it.  Each directory is
 * remembered by number, parent and name.  In case of loops, no more directories
 * are read than the checkpoint has inodes.
 */
#include "vol/pathname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "vol/dir.h"

struct step {
	uint64_t ino;
	size_t parent;		/* index of the step above; the root: itself */
	size_t name;		/* where its name begins in names */
};

struct search {
	struct root *root;
	uint64_t wanted;
	struct step *steps;
	size_t count, room;
	char *names;		/* one after the other, each with a NUL */
	size_t used, names_room;
};

static int add_step(struct search *s, struct context *cx, uint64_t ino,
		    size_t parent, const char *name)
{
	size_t len = strlen(name) + 1;
	struct step *steps;
	char *names;

	steps = array_grow(cx, s->steps, &s->room, s->count + 1,
			   sizeof(*s->steps));
	if (!steps)
		return -ENOMEM;
	s->steps = steps;
	names = array_grow(cx, s->names, &s->names_room, s->used + len, 1);
	if (!names)
		return -ENOMEM;
	s->names = names;
	memcpy(names + s->used, name, len);
	steps[s->count++] = (struct step){ ino, parent, s->used };
	s->used += len;
	return 0;
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Adds the directories in directory AT: 1 once the inode was found. */
static int enter(struct search *s, struct context *cx, size_t at)
{
	struct dir_cursor cur = { 0 };
	struct dir_entry entry;
	struct file file;
	int ret;

	ret = root_file(s->root, cx, s->steps[at].ino, &file);
	if (!ret)
		ret = dir_cursor_open(&cur, cx, &file);
	while (!ret && (ret = dir_cursor_next(&cur, cx, &entry)) > 0) {
		bool found = entry.ino == s->wanted && !is_dot(entry.name);

		ret = 0;
		if (found || (entry.type == NILFS_FT_DIR &&
			      !is_dot(entry.name)))
			ret = add_step(s, cx, entry.ino, at, entry.name);
		if (found && !ret)
			ret = 1;
		if (found)
			break;
	}
	dir_cursor_close(&cur);
	return ret;
}

static int run_search(struct search *s, struct context *cx)
{
	uint64_t most = le64_get(s->root->cp.cp_inodes_count);
	size_t at;
	int ret;

	ret = add_step(s, cx, NILFS_ROOT_INO, 0, "");
	for (at = 0; !ret && at < s->count && at < most; at++) {
		ret = enter(s, cx, at);
		if (ret == -EUCLEAN || ret == -EIO || ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
		}
		if (!ret)
			ret = context_cancelled(cx);
	}
	if (ret)
		return ret < 0 ? ret : 0;
	return fail_said(cx, -ENOENT, "inode %llu: no path leads to it",
			 (unsigned long long)s->wanted);
}

/* Writes the names from the root to step AT. */
static int write_path(const struct search *s, struct context *cx, size_t at,
		      char **path)
{
	size_t len = 0, i;
	char *p;

	for (i = at; i; i = s->steps[i].parent)
		len += strlen(s->names + s->steps[i].name) + 1;
	p = malloc(len + 2);
	if (!p)
		return fail(cx, -ENOMEM, "path of %zu bytes", len);
	*path = p;
	strcpy(p, "/");
	p += len;
	if (len)
		*p = '\0';
	for (i = at; i; i = s->steps[i].parent) {
		const char *name = s->names + s->steps[i].name;

		p -= strlen(name);
		memcpy(p, name, strlen(name));
		*--p = '/';
	}
	return 0;
}

int pathname_find(struct root *root, struct context *cx, uint64_t ino,
		  char **path)
{
	struct search s = { .root = root, .wanted = ino };
	int err = 0;

	*path = NULL;
	if (ino == NILFS_ROOT_INO)
		err = add_step(&s, cx, ino, 0, "");
	else
		err = run_search(&s, cx);
	if (!err)
		err = write_path(&s, cx, s.count - 1, path);
	free(s.steps);
	free(s.names);
	return err;
}

void pathname_free(char *path)
{
	free(path);
}
