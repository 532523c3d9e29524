// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The largest and the most fragmented files, in a report.
 *
 * Only the first of each list are kept during the walk.  A file with several
 * names counts once, by the first that the walk comes to.
 */
#include "dump/report_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dump/complain.h"
#include "dump/inoset.h"
#include "dump/mapwalk.h"
#include "dump/tree.h"
#include "out/table.h"

#define LISTED 20		/* files in each list */

enum { PATH, BYTES, SIZE, EXTENTS, COLUMNS };

static const struct column columns[COLUMNS] = {
	[PATH] = { "path", "PATH", VALUE_STRING, 0 },
	[BYTES] = { "bytes", "ON DISK", VALUE_SIZE, 10 },
	[SIZE] = { "size_bytes", "SIZE", VALUE_SIZE, 10 },
	[EXTENTS] = { "extents", "EXTENTS", VALUE_U64, 8 },
};

/* One file that is listed. */
struct file_entry {
	char *path;
	size_t len;
	uint64_t blocks, size, extents;
	uint64_t rank;			/* the greater the earlier */
};

struct top {
	struct file_entry entries[LISTED];
	size_t count;
};

struct files {
	struct tool *tool;
	struct root root;
	struct inoset seen;		/* with several names */
	struct top largest, fragmented;
	uint64_t count, directories, others, in_pieces, blocks, extents;
	int status;
};

static void top_fini(struct top *top)
{
	while (top->count)
		free(top->entries[--top->count].path);
}

/* Adds a copy of E where it is among the first. */
static int top_add(struct top *top, struct context *cx,
		   const struct file_entry *e)
{
	size_t i = top->count;
	char *path;

	while (i && top->entries[i - 1].rank < e->rank)
		i--;
	if (i == LISTED || !e->rank)
		return 0;
	path = malloc(e->len + 1);
	if (!path)
		return fail(cx, -ENOMEM, "path of a file");
	memcpy(path, e->path, e->len);
	if (top->count == LISTED)
		free(top->entries[--top->count].path);
	memmove(&top->entries[i + 1], &top->entries[i],
		(top->count - i) * sizeof(top->entries[0]));
	top->count++;
	top->entries[i] = *e;
	top->entries[i].path = path;
	return 0;
}

/* Counts the blocks and extents of an inode. */
static int measure(struct files *f, const struct tree_item *item,
		   struct file_entry *e)
{
	struct context *cx = &f->tool->cx;
	struct mapwalk walk;
	struct maprun run;
	struct file file;
	int ret = file_init(&file, cx, f->root.vol, item->ino, item->inode);

	if (ret)
		return ret;
	ret = mapwalk_open(&walk, cx, &file.map, false, false);
	while (!ret && (ret = mapwalk_next(&walk, cx, &run)) > 0)
		ret = context_cancelled(cx);
	e->blocks = walk.data;
	e->extents = walk.extents;
	mapwalk_close(&walk);
	return ret;
}

static int take_file(struct files *f, const struct tree_item *item)
{
	struct context *cx = &f->tool->cx;
	struct file_entry e = {
		.path = (char *)(uintptr_t)item->path,
		.len = item->path_len,
		.size = le64_get(item->inode->i_size),
	};
	int ret = 1;

	if (le16_get(item->inode->i_links_count) > 1)
		ret = inoset_add(&f->seen, cx, item->ino);
	if (ret <= 0)
		return ret;
	ret = measure(f, item, &e);
	if (ret)
		return ret;
	f->count++;
	f->blocks += e.blocks;
	f->extents += e.extents;
	f->in_pieces += e.extents > 1;
	e.rank = e.blocks;
	ret = top_add(&f->largest, cx, &e);
	e.rank = e.extents > 1 ? e.extents : 0;
	return ret ? ret : top_add(&f->fragmented, cx, &e);
}

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS;
}

static int take(struct files *f, const struct tree_item *item)
{
	int err = item->kind == TREE_BROKEN ? item->error : 0;

	if (item->kind == TREE_LEAVE)
		return 0;
	if (!err && item->inode && S_ISREG(le16_get(item->inode->i_mode)))
		err = take_file(f, item);
	else if (!err && item->type == NILFS_FT_DIR)
		f->directories++;
	else if (!err)
		f->others++;
	if (!err || is_fatal(err))
		return err;
	complain(f->tool, item->path, item->path_len, err);
	f->status = 1;
	return 0;
}

static int walk(struct files *f)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct context *cx = &f->tool->cx;
	struct tree_item item;
	struct tree *tree = NULL;
	int ret = tree_open(&tree, cx, &f->root, "/", &how);

	progress_begin(&f->tool->progress, "files",
		       le64_get(f->root.cp.cp_inodes_count), false);
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = take(f, &item);
		progress_update(&f->tool->progress, f->count);
	}
	progress_end(&f->tool->progress);
	tree_close(tree);
	return ret;
}

static void put_list(struct files *f, const struct top *top, const char *key,
		     const char *title)
{
	uint64_t block_size = f->root.vol->geo.block_size;
	struct report *r = &f->tool->report;
	struct table t;
	size_t i;

	if (!top->count && report_is_text(r))
		return;
	report_begin(r, key, title);
	table_begin(&t, r, "files", columns, COLUMNS);
	for (i = 0; i < top->count; i++) {
		const struct file_entry *e = &top->entries[i];

		table_row(&t, (struct value[]){
			[PATH] = value_bytes(e->path, e->len),
			[BYTES] = value_u64(e->blocks * block_size),
			[SIZE] = value_u64(e->size),
			[EXTENTS] = value_u64(e->extents),
		});
	}
	table_end(&t);
	report_end(r);
}

static void put_all(struct files *f)
{
	uint64_t block_size = f->root.vol->geo.block_size;
	struct report *r = &f->tool->report;

	report_begin(r, "files", "Files");
	report_u64(r, "regular", "Regular files", f->count);
	report_u64(r, "directories", "Directories", f->directories);
	report_u64(r, "others", "Others", f->others);
	report_value(r, VALUE_SIZE, "bytes", "Content, without holes",
		     value_u64(f->blocks * block_size));
	report_u64(r, "extents", "Extents", f->extents);
	report_u64(r, "fragmented", "Files of several extents", f->in_pieces);
	report_value(r, VALUE_SIZE, "extent_bytes", "Mean length of an extent",
		     f->extents ? value_u64(f->blocks * block_size /
					    f->extents) : value_absent());
	put_list(f, &f->largest, "largest", "Largest files");
	put_list(f, &f->fragmented, "most_fragmented", "Most fragmented files");
	report_end(r);
}

int report_files_put(struct tool *tool, const struct dump_image *im)
{
	struct files f = { .tool = tool };
	int ret = root_open(&f.root, &tool->cx, im->vol, 0);

	if (!ret)
		ret = walk(&f);
	if (!ret)
		put_all(&f);
	top_fini(&f.largest);
	top_fini(&f.fragmented);
	inoset_fini(&f.seen);
	return ret ? ret : f.status;
}
