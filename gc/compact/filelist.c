// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files that --defrag makes contiguous: those named, or all with several blocks.
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

/*
 * Adds file INO; if all files are requested, only if it can have several
 * extents.
 */
static int filelist_note_file(struct filelist *l, struct context *cx, struct root *root,
			      uint64_t ino, const char *path)
{
	struct filelist_file file = { .ino = ino, .path = path };
	int ret = spread_measure(&file.before, cx, root, ino);

	if (ret || (!path && file.before.blocks < 2))
		return ret;
	if (array_reserve(cx, &l->files, &l->room, l->n + 1))
		return -ENOMEM;
	file.after = file.before;
	l->excess += spread_excess(&file.after);
	l->files[l->n++] = file;
	return 0;
}

static int add_path(struct filelist *l, struct context *cx, struct root *root,
		    const char *path)
{
	uint64_t ino;
	size_t i;
	int ret = dir_resolve(root, cx, path, &ino);

	if (ret == -ENOENT || ret == -ENOTDIR)
		return fail_said(cx, ret, "%s: no such file on the volume",
				 path);
	if (ret)
		return ret;
	for (i = 0; i < l->n; i++)
		if (l->files[i].ino == ino)
			return 0;
	if (inode_is_metadata(ino))
		return fail(cx, -EUCLEAN, "%s: its entry names a metadata file", path);
	return filelist_note_file(l, cx, root, ino, path);
}

int filelist_open(struct filelist *l, struct context *cx, struct dev *dev,
		  const char *const *paths)
{
	struct order tree = { .kind = ORDER_TREE };
	struct volume *vol;
	struct root root;
	uint64_t ino;
	int ret = target_open_volume(&vol, cx, dev);

	*l = (struct filelist){ 0 };
	if (!ret)
		ret = root_open(&root, cx, vol, 0);
	for (; paths && *paths && !ret; paths++)
		ret = add_path(l, cx, &root, *paths);
	if (!ret && !paths)
		ret = order_open(&tree, cx, vol, ORDER_TREE);
	for (ino = 0; !ret && tally_next(&tree.ranks, &ino); ino++) {
		if (inode_is_metadata(ino))
			continue;
		ret = filelist_note_file(l, cx, &root, ino, NULL);
		/* Unreadable files keep their position. */
		if (ret == -EUCLEAN || ret == -EIO || ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
		}
	}
	order_close(&tree);
	volume_close(vol);
	return ret;
}

int filelist_measure(struct filelist *l, struct context *cx, struct dev *dev,
		     bool forecast)
{
	struct filelist_file *f;
	struct volume *vol;
	struct spread now;
	struct root root;
	int ret = target_open_volume(&vol, cx, dev);

	if (!ret)
		ret = root_open(&root, cx, vol, 0);
	l->excess = 0;
	for (f = l->files; f < l->files + l->n && !ret; f++) {
		ret = spread_measure(&now, cx, &root, f->ino);
		l->excess += spread_excess(&now);
		if (!forecast)
			f->after = now;
	}
	volume_close(vol);
	return ret;
}

void filelist_close(struct filelist *l)
{
	free(l->files);
	*l = (struct filelist){ 0 };
}
