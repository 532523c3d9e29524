// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The extended attributes of the files of a mount.
 *
 * NILFS2 has no extended attributes, so the names conflict with none.  Values are
 * computed for each request: the segments by a walk through the map of the file.
 */
#include "dump/mount/mountattr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "dump/mount/mountall.h"
#include "vol/extent.h"

static const char xattr_checkpoint[] = "user.nilfs2.checkpoint";
static const char xattr_inode[] = "user.nilfs2.inode";
static const char xattr_segments[] = "user.nilfs2.segments";

int mountattr_list(struct mountfs *fs, struct context *cx, uint64_t node,
		   const char **list, size_t *len)
{
	static const char names[] = "user.nilfs2.checkpoint\0"
				    "user.nilfs2.inode\0"
				    "user.nilfs2.segments";
	struct stat st;
	int err = mountfs_stat(fs, cx, node, &st);
	bool has = !mountall_has(fs, node) &&
		   (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));

	*list = names;
	*len = has ? sizeof(names) : 0;
	return err;
}

/* Prints the segments with blocks of FILE, as "1-3,7". */
static int print_segments(FILE *out, struct context *cx, struct file *file)
{
	const struct nilfs_geometry *geo = &file->vol->geo;
	uint64_t at, segnum, first, end = 0;
	struct extent_cursor cur;
	const char *comma = "";
	struct bitmap set;
	struct extent e;
	int ret = bitmap_init(&set, cx, geo->nsegments);

	if (ret)
		return ret;
	ret = extent_cursor_open(&cur, cx, file, 0);
	while (!ret &&
	       (ret = extent_cursor_next(&cur, cx, UINT32_MAX, &e)) > 0) {
		ret = context_cancelled(cx);
		for (at = e.blocknr; at < e.blocknr + e.count;
		     at = geometry_segment_end(geo, segnum)) {
			segnum = geometry_segment_of(geo, at);
			if (segnum < geo->nsegments)
				bitmap_set(&set, segnum);
		}
	}
	extent_cursor_close(&cur);
	while (!ret && (first = bitmap_next_set(&set, end)) < set.bits) {
		end = bitmap_next_clear(&set, first);
		fprintf(out, "%s%llu", comma, (unsigned long long)first);
		if (end - first > 1)
			fprintf(out, "-%llu", (unsigned long long)end - 1);
		comma = ",";
	}
	bitmap_fini(&set);
	return ret;
}

int mountattr_get(struct mountfs *fs, struct context *cx, uint64_t node,
		  const char *name, char **value, size_t *len)
{
	struct nilfs_inode inode;
	struct file file;
	struct root *root;
	uint64_t ino;
	FILE *out;
	int err;

	*value = NULL;
	if (mountall_has(fs, node) ||
	    (strcmp(name, xattr_checkpoint) && strcmp(name, xattr_inode) &&
	     strcmp(name, xattr_segments)))
		return fail(cx, -ENODATA, "%s", name);
	err = mountnode_inode(fs, cx, node, &root, &ino, &inode);
	if (err)
		return err;
	if (!S_ISREG(le16_get(inode.i_mode)) &&
	    !S_ISDIR(le16_get(inode.i_mode)))
		return fail(cx, -ENODATA, "%s", name);
	out = open_memstream(value, len);
	if (!out)
		return fail(cx, -ENOMEM, "%s", name);
	if (!strcmp(name, xattr_segments)) {
		err = file_init(&file, cx, fs->vol, ino, &inode);
		if (!err)
			err = print_segments(out, cx, &file);
	} else {
		fprintf(out, "%llu", (unsigned long long)
				     (!strcmp(name, xattr_inode) ? ino
								 : root->cno));
	}
	if (fclose(out) && !err)
		err = fail(cx, -ENOMEM, "%s", name);
	if (err) {
		free(*value);
		*value = NULL;
	}
	return err;
}
