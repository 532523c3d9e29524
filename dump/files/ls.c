// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ls: names and attributes of files.
 *
 * Entries are printed in the order of the disk and not kept, so memory does not
 * depend on the number of files.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli/tool.h"
#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/files/listing.h"
#include "vol/tree.h"

struct ls_options {
	uint64_t checkpoint;
	bool recover;
	bool details;
	bool recursive;
	bool all;
	bool inode;
	bool full_time;
};

static const struct cli_option ls_rows[] = {
	{ 'l', "long", NULL, "show the attributes", OPTION_FLAG,
	  offsetof(struct ls_options, details) },
	{ 'R', "recursive", NULL, "descend into directories", OPTION_FLAG,
	  offsetof(struct ls_options, recursive) },
	{ 'a', "all", NULL, "show \".\" and \"..\" too", OPTION_FLAG,
	  offsetof(struct ls_options, all) },
	{ 'i', "inode", NULL, "show inode numbers", OPTION_FLAG,
	  offsetof(struct ls_options, inode) },
	{ 0, "full-time", NULL, "as -l, with nanoseconds", OPTION_FLAG,
	  offsetof(struct ls_options, full_time) },
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct ls_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0, "recover", NULL, "show files as the next mount would recover them",
	  OPTION_FLAG, offsetof(struct ls_options, recover) },
	{ 0 },
};

static int list_path(struct listing *rows, const char *path, bool dots)
{
	const struct tree_options how = {
		.recursive = rows->recursive,
		.inodes = rows->details,
		.dots = dots,
	};
	struct context *cx = &rows->tool->cx;
	struct tree *tree = NULL;
	struct tree_item item;
	int ret;

	ret = tree_open(&tree, cx, rows->root, path, &how);
	if (!ret)
		listing_begin(rows);
	while (!ret && !rows->tool->out->error) {
		ret = tree_next(tree, cx, &item);
		if (ret <= 0)
			break;
		ret = 0;
		/* The directory given is not listed itself. */
		if (item.kind == TREE_BROKEN ||
		    (item.kind == TREE_ENTRY &&
		     (item.depth || !item.entered || rows->recursive)))
			listing_put(rows, &item);
	}
	if (!ret)
		listing_end(rows);
	tree_close(tree);
	return ret;
}

static int ls_run(struct tool *tool, const void *options)
{
	const struct ls_options *o = options;
	struct dump_image im = {.dev = NULL};
	struct listing *rows = calloc(1, sizeof(*rows));
	int ret;

	if (!rows)
		return fail(&tool->cx, -ENOMEM, "listing");
	rows->tool = tool;
	rows->root = &im.root;
	rows->details = o->details || o->full_time;
	rows->recursive = o->recursive;
	rows->inode = o->inode;
	rows->full_time = o->full_time;
	ret = image_open_root(&im, tool, tool->argv[0], o->checkpoint,
			      o->recover);
	if (!ret)
		ret = list_path(rows, tool->argc > 1 ? tool->argv[1] : "/",
				o->all);
	if (!ret && rows->broken)
		ret = 1;
	image_close(&im);
	listing_fini(rows);
	free(rows);
	return ret;
}

const struct cli_command ls_command = {
	.name = "ls",
	.summary = "names and attributes of files",
	.synopsis = "IMAGE [PATH]",
	.about =
		"Lists the entries of the directory PATH (default: the root), "
		"or the file PATH,\nin the order of the disk. Names are bytes; "
		"those that are not plain text are\nshown as \\xHH.",
	.options = ls_rows,
	.options_size = sizeof(struct ls_options),
	.min_args = 1,
	.max_args = 2,
	.run = ls_run,
};
