// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The differences of two checkpoints, as a layer of a container image.
 *
 * A file that was added or changed is in the layer as a whole, and a name that was
 * removed as a whiteout.  The directory of each of them is there, too: who unpacks a
 * layer changes its times, and sets them at the end.
 *
 * The target of a hard link is in the layer: there are tools that unpack it into an
 * empty directory.  So a file that got a name has all its names in the layer.  Each change
 * of a number of links changes the inode, and so all names are found by the
 * comparison; but as many names may be removed as are added, with the inode as it
 * was.  Only then the whole tree is searched for the others.
 */
#include "dump/export/export_since.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/inoset.h"
#include "dump/common/image.h"
#include "dump/files/tree_diff.h"
#include "vol/dir.h"

struct since {
	struct export *e;
	struct inoset entered; /* directories */
	struct inoset kept;    /* linked files with the same inode in both */
};

/* Exports a file at PATH that is in both, or in the newer checkpoint. */
static int since_put(struct since *s, const char *path, uint64_t ino,
		     bool replaces)
{
	struct tree_item item = {
		.ino = ino, .path = path, .name = strrchr(path, '/') + 1,
		.inner = 1, .depth = path[1],
	};
	struct export *e = s->e;
	struct context *cx = &e->tool->cx;
	struct nilfs_inode inode, old;
	struct export_file file;
	mode_t mode;
	int ret = root_inode(e->root, cx, ino, &inode);

	if (ret)
		return -ret;
	mode = le16_get(inode.i_mode);
	item.inode = &inode;
	export_put_describe(e, &item, &file);
	if (S_ISDIR(mode)) {
		ret = inoset_add(&s->entered, cx, ino);
		return ret < 0 ? ret : e->sink->ops->enter(e->sink, cx, &file);
	}
	if (le16_get(inode.i_links_count) > 1) {
		ret = root_inode_bytes(e->base, cx, ino, &old);
		if (ret > 0 && !memcmp(&old, &inode, sizeof(old)))
			ret = inoset_add(&s->kept, cx, ino);
		if (ret < 0)
			return ret == -ENOMEM ? ret : -ret;
	}
	/* It is not in the stream, and takes the place of another file. */
	ret = S_ISSOCK(mode) && replaces
		      ? e->sink->ops->remove(e->sink, cx, file.path)
		      : 0;
	return ret ? ret : export_put_file(e, &file);
}

/*
 * Exports an added or changed file, or a removal.  The entry of a directory
 * replaces its attributes and not its content.
 */
static int since_found(void *arg, const char *path, size_t len, uint64_t a,
		       uint64_t b, unsigned int what)
{
	struct since *s = arg;
	struct export *e = s->e;
	struct context *cx = &e->tool->cx;
	char *text = strndup(path, len);
	int ret;

	(void)a;
	if (!text)
		return fail(cx, -ENOMEM, "path of a difference");
	if (strstr(text, "/" EXPORT_WHITEOUT)) {
		ret = -fail(cx, -EINVAL, "a name that begins with \"%s\" "
			    "means a removal in a container layer",
			    EXPORT_WHITEOUT);
	} else if (!b) {
		ret = e->sink->ops->remove(e->sink, cx, text + 1);
	} else {
		ret = since_put(s, text, b, what & TREE_DIFF_TYPE);
		e->sink->tally.files += !ret;
	}
	free(text);
	return export_put_note(e, path, len, ret) < 0 ? ret : ret > 0;
}

static void since_broken(void *arg, const char *path, size_t len, int err)
{
	export_put_broken(((struct since *)arg)->e, path, len, err);
}

/* Exports a name of a kept file if the comparison has not found it. */
static int since_put_kept(struct since *s, const struct tree_item *item)
{
	struct export *e = s->e;
	struct context *cx = &e->tool->cx;
	const char *slash = strrchr(item->path, '/');
	size_t len = slash == item->path ? 1 : (size_t)(slash - item->path);
	uint64_t ino = 0;
	char *dir;
	int ret = dir_resolve(e->base, cx, item->path, &ino);

	if (ret == -ENOENT || ret == -ENOTDIR) {
		fail_clear(cx);
		return 0;
	}
	if (ret || ino != item->ino)
		return ret;
	dir = strndup(item->path, len);
	ret = dir ? dir_resolve(e->root, cx, dir, &ino)
		  : fail(cx, -ENOMEM, "%s", item->path);
	free(dir);
	if (!ret && !inoset_has(&s->entered, ino))
		ret = since_found(s, item->path, len, ino, ino, 0);
	return ret < 0 ? ret : since_found(s, item->path, item->path_len,
					   item->ino, item->ino, 0);
}

static int since_find_kept(struct since *s)
{
	const struct tree_options how = {.recursive = true};
	struct context *cx = &s->e->tool->cx;
	struct tree_item item;
	struct tree *tree;
	int ret = tree_open(&tree, cx, s->e->root, "/", &how);

	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind == TREE_BROKEN)
			ret = item.error;
		else if (item.kind == TREE_ENTRY && item.depth &&
			 inoset_has(&s->kept, item.ino))
			ret = since_put_kept(s, &item);
		ret = export_put_note(s->e, item.path, item.path_len,
				       ret < 0 && !image_is_fatal(ret) ? -ret
								       : ret);
	}
	tree_close(tree);
	return ret;
}

int export_since_mark(struct export *e)
{
	struct tool *tool = e->tool;
	char text[TREEDIGEST_TEXT];
	int ret = treedigest_run(&tool->cx, e->base, text);

	e->comment[0] = '\0';
	if (!ret)
		snprintf(e->comment, sizeof(e->comment), TREEDIGEST_KEY "%s",
			 text);
	if (!ret || image_is_fatal(ret))
		return ret;
	image_checkpoint_failed(tool, e->base->cno, ret);
	e->broken++;
	return 0;
}

int export_since(struct export *e)
{
	struct since s = {.e = e};
	const struct tree_diff_sink sink = {
		.found = since_found,
		.broken = since_broken,
		.arg = &s,
		.whole_directories = true,
		.parents = true,
		.minor = TREE_DIFF_INODE | TREE_DIFF_CTIME | TREE_DIFF_FLAGS |
			 TREE_DIFF_GENERATION,
	};
	int ret = tree_diff(&e->tool->cx, e->base, e->root, "/", &sink);

	if (!ret && s.kept.words.used)
		ret = since_find_kept(&s);
	inoset_fini(&s.entered);
	inoset_fini(&s.kept);
	return ret;
}
