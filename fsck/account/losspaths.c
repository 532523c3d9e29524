// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths of inodes.
 *
 * An inode does not know its name, so the directories of a state are read from
 * the root on until all inodes that are looked for were met; once for each
 * state with losses.  Directories wait in a table with the place of their
 * parent in it, from which paths are put together.
 */
#include "fsck/account/losspaths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/sparse.h"
#include "check/damage.h"
#include "vol/dir.h"
#include "vol/root.h"

#define PATH_DEPTH_MAX 4096u

/* Directories with greater numbers are not read. */
#define INODES_MOST (UINT64_C(1) << 32)

struct directory {
	uint64_t ino;
	size_t parent;
	char *name; /* NULL: the root */
};

struct search {
	struct losslist *l;
	size_t first, end; /* losses of one state */
	struct root root;
	uint64_t *wanted; /* inodes, ascending */
	size_t nwanted, wanted_room;
	struct directory *dirs;
	size_t ndirs, dirs_room;
	struct sparse seen; /* directories */
};

static char *join(const struct search *s, size_t dir, const char *name)
{
	size_t len = 2 + (name ? strlen(name) : 0), depth = 0, i;
	char *path, *at;

	for (i = dir; s->dirs[i].name; i = s->dirs[i].parent) {
		len += strlen(s->dirs[i].name) + 1;
		if (++depth > PATH_DEPTH_MAX)
			return NULL;
	}
	path = malloc(len);
	if (!path)
		return NULL;
	at = path + len - 1;
	*at = '\0';
	if (name) {
		at -= strlen(name);
		memcpy(at, name, strlen(name));
		*--at = '/';
	}
	for (i = dir; s->dirs[i].name; i = s->dirs[i].parent) {
		at -= strlen(s->dirs[i].name);
		memcpy(at, s->dirs[i].name, strlen(s->dirs[i].name));
		*--at = '/';
	}
	if (!*at)
		*--at = '/';
	memmove(path, at, strlen(at) + 1);
	return path;
}

static bool is_wanted(const struct search *s, uint64_t ino)
{
	size_t i = search_lower_bound(s->wanted, s->nwanted, ino);

	return i < s->nwanted && s->wanted[i] == ino;
}

/* INO is NAME in DIR, or with a NULL name DIR itself. */
static void set_paths(struct search *s, uint64_t ino, size_t dir,
		      const char *name)
{
	struct loss *loss;
	size_t i;

	for (i = s->first; i < s->end; i++) {
		loss = &s->l->items[i];
		if (loss->path || losslist_is_of_several(loss))
			continue;
		if (losslist_is_name(loss) && loss->dir == ino)
			loss->path = name ? NULL : join(s, dir, loss->name);
		else if (!losslist_is_name(loss) && loss->ino == ino)
			loss->path = join(s, dir, name);
	}
}

static int add_dir(struct search *s, struct context *cx, uint64_t ino,
		   size_t parent, const char *name)
{
	struct directory *dirs;
	int ret = damage_add(&s->seen, cx, ino);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	dirs = array_grow(cx, s->dirs, &s->dirs_room, s->ndirs + 1,
			  sizeof(*dirs));
	if (!dirs)
		return -ENOMEM;
	s->dirs = dirs;
	dirs[s->ndirs] = (struct directory){.ino = ino, .parent = parent};
	if (name)
		dirs[s->ndirs].name = strdup(name);
	if (name && !dirs[s->ndirs].name)
		return -ENOMEM;
	s->ndirs++;
	return 0;
}

static bool is_self_or_parent(const struct dir_entry *entry)
{
	return !strcmp(entry->name, ".") || !strcmp(entry->name, "..");
}

static int take_entry(struct search *s, struct context *cx, size_t dir,
		      const struct dir_entry *entry)
{
	if (is_self_or_parent(entry))
		return 0;
	if (entry->type != NILFS_FT_DIR && is_wanted(s, entry->ino))
		set_paths(s, entry->ino, dir, entry->name);
	return entry->type == NILFS_FT_DIR
		       ? add_dir(s, cx, entry->ino, dir, entry->name)
		       : 0;
}

static int read_dir(struct search *s, struct context *cx, size_t dir)
{
	struct dir_cursor cur = {.at_broken_block = false};
	struct dir_entry entry;
	struct file file;
	int ret = root_file(&s->root, cx, s->dirs[dir].ino, &file);

	if (is_wanted(s, s->dirs[dir].ino))
		set_paths(s, s->dirs[dir].ino, dir, NULL);
	if (!ret)
		ret = dir_cursor_open(&cur, cx, &file);
	while (!ret) {
		ret = dir_cursor_next(&cur, cx, &entry);
		if (ret < 0 && cur.at_broken_block)
			ret = damage_forgive(cx, ret);
		else if (ret <= 0)
			break;
		else
			ret = take_entry(s, cx, dir, &entry);
	}
	dir_cursor_close(&cur);
	ret = damage_forgive(cx, ret);
	return ret ? ret : context_cancelled(cx);
}

/* The inodes without a path; how many, or -ENOMEM. */
static int list_wanted(struct search *s, struct context *cx)
{
	const struct loss *loss;
	uint64_t *wanted;
	size_t i;

	s->nwanted = 0;
	for (i = s->first; i < s->end; i++) {
		loss = &s->l->items[i];
		if (!loss->ino || loss->path || losslist_is_of_several(loss))
			continue;
		wanted = array_grow(cx, s->wanted, &s->wanted_room,
				    s->nwanted + 1, sizeof(*wanted));
		if (!wanted)
			return -ENOMEM;
		s->wanted = wanted;
		wanted[s->nwanted++] =
			losslist_is_name(loss) ? loss->dir : loss->ino;
	}
	sort_numbers(s->wanted, s->nwanted);
	return s->nwanted > 0;
}

static void forget_dirs(struct search *s)
{
	size_t i;

	for (i = 0; i < s->ndirs; i++)
		free(s->dirs[i].name);
	s->ndirs = 0;
	sparse_fini(&s->seen);
}

/* Reads the directories of checkpoint CNO of VOL. */
static int search_state(struct search *s, struct context *cx,
			struct volume *vol, uint64_t cno)
{
	size_t i;
	int ret = list_wanted(s, cx);

	if (ret <= 0)
		return ret;
	ret = root_open(&s->root, cx, vol, cno);
	if (!ret)
		ret = sparse_init(&s->seen, cx, INODES_MOST);
	if (!ret)
		ret = add_dir(s, cx, NILFS_ROOT_INO, 0, NULL);
	for (i = 0; i < s->ndirs && !ret; i++)
		ret = read_dir(s, cx, i);
	forget_dirs(s);
	return damage_forgive(cx, ret);
}

static int search_both(struct search *s, struct context *cx,
		       struct volume *before, struct volume *after)
{
	const struct loss *loss = &s->l->items[s->first];
	int err = search_state(s, cx, after, loss->latest ? 0 : loss->cno);

	if (!err && before)
		err = search_state(s, cx, before, loss->cno);
	if (err != -ENOMEM)
		return err;
	fail_clear(cx);
	return 0;
}

static bool is_same_state(const struct loss *a, const struct loss *b)
{
	return a->latest == b->latest && a->cno == b->cno && !a->ino == !b->ino;
}

int losspaths_find(struct losslist *l, struct context *cx,
		   struct volume *before, struct volume *after)
{
	struct search s = {.l = l};
	int err = 0;

	while (s.end < l->n && !err) {
		s.first = s.end;
		while (s.end < l->n &&
		       is_same_state(&l->items[s.first], &l->items[s.end]))
			s.end++;
		if (l->items[s.first].ino)
			err = search_both(&s, cx, before, after);
	}
	free(s.wanted);
	free(s.dirs);
	return err;
}
