// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All names of a file, from one checkpoint to the next.
 *
 * A file has as many names as links.  If the known ones still lead to it, and
 * are as many, there are no others.  Otherwise the file was renamed or linked
 * since, and the directories that have changed since the last checkpoint are
 * searched; at first, all of them.
 *
 * A directory above may have been renamed: then the entry is still where it
 * was, and its path is found by way of "..".
 *
 * For each directory on the way of a trail the inode is kept as it was last seen,
 * and what the next name led to.  As long as the directory has the same blocks,
 * its inode is all that is read of it.
 */
#include "check/names/filenames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "disk/inode.h"
#include "vol/dir.h"
#include "vol/inodediff.h"
#include "vol/tree.h"
#include "vol/volume.h"

int filenames_set_trail(struct trail *t, struct context *cx, const char *path,
			size_t len)
{
	const char *end = path + len, *name;
	size_t size;

	for (; path < end; path++) {
		name = path;
		while (path < end && *path != '/')
			path++;
		size = (size_t)(path - name);
		if (!size || (size == 1 && *name == '.'))
			continue;
		if (array_reserve(cx, &t->path, &t->room, t->len + size + 2) ||
		    array_reserve(cx, &t->steps, &t->steps_room, t->count + 1))
			return -ENOMEM;
		t->climbs |= size == 2 && !memcmp(name, "..", 2);
		t->steps[t->count++] = (struct trail_step){
			.name = t->len + 1,
			.len = size,
		};
		t->path[t->len] = '/';
		memcpy(t->path + t->len + 1, name, size);
		t->len += size + 1;
		t->path[t->len] = '\0';
	}
	return 0;
}

void filenames_free_trail(struct trail *t)
{
	free(t->path);
	free(t->steps);
	*t = (struct trail){ .path = NULL };
}

/*
 * The entry NAME (LEN bytes) in DIR or, if NAME is NULL, the first one but "." and ".."
 * that leads to INO, also where other blocks of it are broken.  -ENOENT, -EUCLEAN
 * where it may be in a broken one, -EIO.
 */
static int find_entry(struct file *dir, struct context *cx, const char *name,
		      size_t len, uint64_t ino, struct dir_entry *entry)
{
	struct dir_cursor cur;
	int ret = dir_cursor_open(&cur, cx, dir);

	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, entry)) > 0) {
		if (name ? entry->len == len && !memcmp(entry->name, name, len) :
			   entry->ino == ino && !dir_is_dots(entry))
			break;
		ret = 0;
	}
	dir_cursor_close(&cur);
	if (ret)
		return ret < 0 ? ret : 0;
	if (cur.skipped)
		return fail(cx, -EUCLEAN, "directory %llu: has broken blocks",
			    (unsigned long long)dir->ino);
	if (name)
		return fail(cx, -ENOENT, "'%.*s'", (int)len, name);
	return fail(cx, -ENOENT, "no entry for inode %llu", (unsigned long long)ino);
}

/* From directory DIR by one name; DIR is read once if it is damaged. */
static int take_step(struct trail *t, struct context *cx, struct root *root,
		     struct trail_step *step, uint64_t dir)
{
	const char *name = t->path + step->name;
	struct nilfs_inode inode;
	struct dir_entry entry;
	struct file file;
	int err = root_inode(root, cx, dir, &inode);

	if (err)
		return err;
	if (!S_ISDIR(le16_get(inode.i_mode)))
		return fail(cx, -ENOTDIR, "inode %llu",
			    (unsigned long long)dir);
	if (step->known && step->dir == dir &&
	    inode_has_same_map(&step->inode, &inode))
		return step->child ? 0
				   : fail(cx, -ENOENT, "'%.*s'",
					  (int)step->len, name);
	step->dir = dir;
	step->inode = inode;
	err = file_init(&file, cx, root->vol, dir, &inode) ?:
	      find_entry(&file, cx, name, step->len, 0, &entry);
	step->child = err ? 0 : entry.ino;
	step->known = !err || err == -ENOENT || err == -EUCLEAN || err == -EIO;
	return err;
}

int filenames_follow(struct trail *t, struct context *cx, struct root *root,
		     uint64_t *ino)
{
	size_t i;
	int err = 0;

	*ino = NILFS_ROOT_INO;
	for (i = 0; i < t->count && !err; i++) {
		err = take_step(t, cx, root, &t->steps[i], *ino);
		*ino = t->steps[i].child;
	}
	return err;
}

/* Failures that only say that a name is not there. */
static bool is_absence(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP;
}

static int open_directory(struct root *root, struct context *cx, uint64_t ino,
			  struct file *file)
{
	int err = root_file(root, cx, ino, file);

	if (!err && !S_ISDIR(le16_get(file->inode.i_mode)))
		err = fail(cx, -ENOTDIR, "inode %llu",
			   (unsigned long long)ino);
	return err;
}

/* Puts a slash and NAME in front of the path. */
static int prepend(struct context *cx, const char *name, size_t len,
		   char **path, size_t *room, size_t *path_len)
{
	if (array_reserve(cx, path, room, *path_len + len + 2))
		return -ENOMEM;
	memmove(*path + len + 1, *path, *path_len);
	(*path)[0] = '/';
	memcpy(*path + 1, name, len);
	*path_len += len + 1;
	(*path)[*path_len] = '\0';
	return 0;
}

int filenames_path(struct root *root, struct context *cx, uint64_t dir,
		   const char *name, size_t len, char **path, size_t *room,
		   size_t *path_len)
{
	struct dir_entry entry;
	unsigned int depth = 0;
	struct file file;
	int err;

	*path_len = 0;
	err = prepend(cx, name, len, path, room, path_len);
	while (!err && dir != NILFS_ROOT_INO) {
		uint64_t child = dir;

		if (++depth > TREE_DEPTH_MAX)
			return fail(cx, -ELOOP, "directory %llu: in itself",
				    (unsigned long long)dir);
		err = open_directory(root, cx, child, &file) ?:
		      find_entry(&file, cx, "..", 2, 0, &entry);
		if (!err)
			dir = entry.ino;
		if (!err)
			err = open_directory(root, cx, dir, &file) ?:
			      find_entry(&file, cx, NULL, 0, child, &entry) ?:
			      prepend(cx, entry.name, entry.len, path, room,
				      path_len) ?:
			      context_cancelled(cx);
	}
	return err;
}

int filenames_add(struct filenames *f, struct context *cx, const char *path,
		  size_t len)
{
	struct filename *name;
	size_t i;

	for (i = 0; i < f->count; i++) {
		const struct trail *t = &f->items[i].trail;

		if (t->len == len && (!len || !memcmp(t->path, path, len)))
			return 0;
	}
	if (array_reserve(cx, &f->items, &f->room, f->count + 1))
		return -ENOMEM;
	name = &f->items[f->count++];
	*name = (struct filename){ .dir = 0 };
	f->changed = true;
	return filenames_set_trail(&name->trail, cx, path, len);
}

/* Adds the entry NAME of DIR. */
static int add_entry(struct filenames *f, struct context *cx,
		     struct root *root, uint64_t dir, const char *name,
		     size_t len)
{
	size_t room = 0, path_len;
	char *path = NULL;
	int err;

	err = filenames_path(root, cx, dir, name, len, &path, &room,
			     &path_len) ?:
	      filenames_add(f, cx, path, path_len);
	free(path);
	if (!is_absence(err))
		return err;
	fail_clear(cx);
	return 0;
}

/* Name I does not lead to the file: is the entry at another path? */
static int move_name(struct filenames *f, struct context *cx,
		     struct root *root, size_t i)
{
	struct filename old = f->items[i];
	const struct trail_step *last;
	struct dir_entry entry;
	struct file file;
	int err = -ENOENT;

	f->count--;
	memmove(&f->items[i], &f->items[i + 1],
		(f->count - i) * sizeof(f->items[0]));
	f->changed = true;
	last = old.trail.count ? &old.trail.steps[old.trail.count - 1] : NULL;
	if (last && old.dir)
		err = open_directory(root, cx, old.dir, &file);
	if (!err)
		err = find_entry(&file, cx, old.trail.path + last->name,
				 last->len, 0, &entry);
	if (!err && entry.ino == f->ino)
		err = add_entry(f, cx, root, old.dir,
				old.trail.path + last->name, last->len);
	filenames_free_trail(&old.trail);
	if (!is_absence(err))
		return err;
	fail_clear(cx);
	return 0;
}

/* Moved names are put at the end, and found to be right there. */
static int verify_names(struct filenames *f, struct context *cx,
			struct root *root)
{
	size_t i = 0, left = f->count;
	uint64_t ino;
	int err = 0;

	while (left-- && !err) {
		struct filename *name = &f->items[i];
		const struct trail *t = &name->trail;

		err = filenames_follow(&name->trail, cx, root, &ino);
		if (err && !is_absence(err))
			return err;
		fail_clear(cx);
		if (err || ino != f->ino) {
			err = move_name(f, cx, root, i);
			continue;
		}
		if (t->count)
			name->dir = t->steps[t->count - 1].dir;
		i++;
	}
	return err;
}

struct search {
	struct filenames *f;
	struct root *root;
	uint64_t broken; /* a directory that cannot be read whole, or 0 */
};

static int search_directory(void *arg, struct context *cx,
			    const struct inodediff_item *item)
{
	struct search *s = arg;
	struct dir_cursor cur;
	struct dir_entry entry;
	struct file file;
	int ret;

	if (!item->b)
		return 0;
	ret = file_init(&file, cx, s->root->vol, item->ino, item->b);
	if (ret)
		return ret;
	ret = dir_cursor_open(&cur, cx, &file);
	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0)
		ret = entry.ino != s->f->ino || dir_is_dots(&entry) ? 0 :
		      add_entry(s->f, cx, s->root, item->ino, entry.name, entry.len);
	if (cur.skipped)
		s->broken = item->ino;
	dir_cursor_close(&cur);
	return ret;
}

int filenames_update(struct filenames *f, struct context *cx,
		     struct root *root, const struct nilfs_inode *inode)
{
	struct search s = { .f = f, .root = root };
	unsigned int names = le16_get(inode->i_links_count);
	int err;

	if (f->ino == NILFS_ROOT_INO)
		return filenames_add(f, cx, "", 0);
	if (S_ISDIR(le16_get(inode->i_mode)))
		names = 1;
	err = verify_names(f, cx, root);
	if (!err && f->count < names) {
		err = inodediff_run(cx, f->before.vol ? &f->before : NULL, root,
				    INODEDIFF_DIRS, search_directory, &s);
		if (!err && s.broken)
			err = fail(cx, -EUCLEAN,
				   "directory %llu: names cannot be read",
				   (unsigned long long)s.broken);
	}
	f->before = *root;
	return err;
}

void filenames_fini(struct filenames *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		filenames_free_trail(&f->items[i].trail);
	free(f->items);
	*f = (struct filenames){ .ino = f->ino };
}
