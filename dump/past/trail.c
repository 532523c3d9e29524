// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A path that is looked up in one checkpoint after another.
 *
 * For each directory on the way the inode is kept as it was last seen, and what
 * the next name led to.  As long as the directory has the same blocks, its
 * inode is all that is read of it.
 */
#include "dump/past/trail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "disk/inode.h"
#include "vol/dir.h"
#include "vol/volume.h"

static int add_step(struct trail *t, struct context *cx, const char *name,
		    size_t len)
{
	if (array_reserve(cx, &t->path, &t->room, t->len + len + 2) ||
	    array_reserve(cx, &t->steps, &t->steps_room, t->count + 1))
		return -ENOMEM;
	t->climbs |= len == 2 && !memcmp(name, "..", 2);
	t->steps[t->count++] = (struct trail_step){
		.name = t->len + 1,
		.len = len,
	};
	t->path[t->len] = '/';
	memcpy(t->path + t->len + 1, name, len);
	t->len += len + 1;
	t->path[t->len] = '\0';
	return 0;
}

static bool is_dot(const char *name, size_t len)
{
	return len == 1 && *name == '.';
}

int trail_set(struct trail *t, struct context *cx, const char *path,
	      size_t len)
{
	const char *end = path + len, *name;
	int err = 0;

	while (path < end && !err) {
		name = path;
		while (path < end && *path != '/')
			path++;
		if (path > name && !is_dot(name, (size_t)(path - name)))
			err = add_step(t, cx, name, (size_t)(path - name));
		path++;
	}
	return err;
}

void trail_fini(struct trail *t)
{
	free(t->path);
	free(t->steps);
	*t = (struct trail){ .path = NULL };
}

int trail_lookup(struct file *dir, struct context *cx, const char *name,
		 size_t len, uint64_t *ino)
{
	struct dir_cursor cur;
	struct dir_entry entry = { 0 };
	bool broken = false;
	int ret = dir_cursor_open(&cur, cx, dir);

	while (!ret && (ret = dir_cursor_next(&cur, cx, &entry))) {
		if (ret < 0 && !cur.at_broken_block)
			break;
		broken |= ret < 0;
		if (ret > 0 && entry.len == len &&
		    !memcmp(entry.name, name, len))
			break;
		ret = 0;
	}
	dir_cursor_close(&cur);
	if (ret < 0)
		return ret;
	if (!ret && broken)
		return fail(cx, -EUCLEAN, "directory %llu: has broken blocks",
			    (unsigned long long)dir->ino);
	if (!ret)
		return fail(cx, -ENOENT, "'%.*s'", (int)len, name);
	fail_clear(cx);
	*ino = entry.ino;
	return 0;
}

/* Reads the directory of a step for its name, once if it is damaged. */
static int search_step(struct trail *t, struct context *cx, struct root *root,
		       struct trail_step *step)
{
	uint64_t ino;
	struct file file;
	int err = file_init(&file, cx, root->vol, step->dir, &step->inode);

	if (!err)
		err = trail_lookup(&file, cx, t->path + step->name, step->len,
				   &ino);
	step->child = err ? 0 : ino;
	step->known = !err || err == -ENOENT || err == -EUCLEAN || err == -EIO;
	return err;
}

/* From directory DIR by one name. */
static int take_step(struct trail *t, struct context *cx, struct root *root,
		     struct trail_step *step, uint64_t dir)
{
	struct nilfs_inode inode;
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
					  (int)step->len,
					  t->path + step->name);
	step->dir = dir;
	step->inode = inode;
	return search_step(t, cx, root, step);
}

int trail_follow(struct trail *t, struct context *cx, struct root *root,
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
