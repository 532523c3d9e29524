// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of files.
 *
 * Each entry records the extents of the file when it was found, and when it was
 * last measured.  Inode numbers do not change when blocks move, so a list stays
 * valid for the volume afterwards, and for an overlay.
 */
#include "gc/compact/filelist.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/inode.h"
#include "gc/move/order.h"
#include "gc/move/target.h"
#include "vol/dir.h"
#include "vol/volume.h"

/* Notes file INO; of all files, only one that can be in pieces. */
static int note_file(struct filelist *l, struct context *cx, struct root *root,
		     uint64_t ino, const char *path)
{
	struct filelist_file file = { .ino = ino, .path = path };
	int ret = spread_measure(&file.before, cx, root, ino);

	if (ret || (!path && file.before.blocks < 2))
		return ret;
	if (array_reserve(cx, &l->files, &l->room, l->n + 1))
		return -ENOMEM;
	file.after = file.before;
	l->files[l->n++] = file;
	return 0;
}

static bool is_known(const struct filelist *l, uint64_t ino)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->files[i].ino == ino)
			return true;
	return false;
}

static int add_path(struct filelist *l, struct context *cx, struct root *root,
		    const char *path)
{
	uint64_t ino;
	int ret = dir_resolve(root, cx, path, &ino);

	if (ret == -ENOENT || ret == -ENOTDIR)
		return fail_said(cx, ret, "%s: no such file on the volume",
				 path);
	if (ret || is_known(l, ino))
		return ret;
	if (inode_is_metadata(ino))
		return fail(cx, -EUCLEAN, "%s: is named as metadata", path);
	return note_file(l, cx, root, ino, path);
}

/* Files that cannot be read stay as they are. */
static bool is_passed_over(int err)
{
	return err == -EUCLEAN || err == -EIO || err == -ENOENT;
}

/* All files that directories lead to. */
static int add_tree(struct filelist *l, struct context *cx, struct root *root)
{
	struct order tree;
	uint64_t ino;
	int ret = order_open(&tree, cx, root->vol, ORDER_TREE);

	for (ino = 0; !ret && tally_next(&tree.ranks, &ino); ino++) {
		if (inode_is_metadata(ino))
			continue;
		ret = note_file(l, cx, root, ino, NULL);
		if (!is_passed_over(ret))
			continue;
		fail_clear(cx);
		ret = 0;
	}
	order_close(&tree);
	return ret;
}

/* The latest state of a volume, for lookups. */
typedef int root_visitor(struct filelist *l, struct context *cx,
			 struct root *root, void *arg);

static int with_root(struct filelist *l, struct context *cx, struct dev *dev,
		     root_visitor *about, void *arg)
{
	struct volume *vol;
	struct root root;
	int ret = target_open_volume(&vol, cx, dev);

	if (!ret)
		ret = root_open(&root, cx, vol, 0);
	if (!ret)
		ret = about(l, cx, &root, arg);
	volume_close(vol);
	return ret;
}

static int list_all_files(struct filelist *l, struct context *cx,
			  struct root *root, void *arg)
{
	(void)arg;
	return add_tree(l, cx, root);
}

static int find_paths(struct filelist *l, struct context *cx,
		      struct root *root, void *arg)
{
	const char *const *const *paths = arg, *const *path;
	int ret = 0;

	for (path = *paths; *path && !ret; path++)
		ret = add_path(l, cx, root, *path);
	return ret;
}

int filelist_open(struct filelist *l, struct context *cx, struct dev *dev,
		  const char *const *paths)
{
	*l = (struct filelist){ 0 };
	return with_root(l, cx, dev, paths ? find_paths : list_all_files,
			 &paths);
}

static int measure_now(struct filelist *l, struct context *cx,
		       struct root *root, void *arg)
{
	size_t i;
	int ret = 0;

	(void)arg;
	for (i = 0; i < l->n && !ret; i++)
		ret = spread_measure(&l->files[i].after, cx, root,
				     l->files[i].ino);
	return ret;
}

int filelist_measure(struct filelist *l, struct context *cx, struct dev *dev)
{
	return with_root(l, cx, dev, measure_now, NULL);
}

static int count_excess(struct filelist *l, struct context *cx,
			struct root *root, void *excess)
{
	struct spread s;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->n && !ret; i++) {
		ret = spread_measure(&s, cx, root, l->files[i].ino);
		*(uint64_t *)excess += spread_excess(&s);
	}
	return ret;
}

int filelist_forecast(struct filelist *l, struct context *cx, struct dev *dev,
		      uint64_t *excess)
{
	*excess = 0;
	return with_root(l, cx, dev, count_excess, excess);
}

uint64_t filelist_excess(const struct filelist *l)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		n += spread_excess(&l->files[i].after);
	return n;
}

void filelist_close(struct filelist *l)
{
	free(l->files);
	*l = (struct filelist){ 0 };
}
