// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * find: files by name and attributes, in one checkpoint or in all.
 *
 * For one checkpoint its tree is walked.  For all, the latest state is walked first;
 * names that only older checkpoints have follow (lost.c).  Files that only logs
 * have are the last of the deleted ones (logged.c).  Those of a damaged checkpoint are
 * searched by inodes, not by names alone.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/files/listing.h"
#include "dump/history/damaged.h"
#include "dump/history/filter.h"
#include "dump/history/logged.h"
#include "dump/history/lost.h"
#include "vol/volume.h"

struct find_options {
	uint64_t checkpoint;
	bool all, deleted, inodes;
	bool details, inode, full_time;
	struct filter filter;
};

struct finder {
	struct tool *tool;
	const struct find_options *o;
	struct filter filter;
	struct listing *rows;
	struct root root;
};

static void find_checkpoint_failed(void *arg, uint64_t cno, int err)
{
	struct finder *f = arg;

	image_checkpoint_failed(f->tool, cno, err);
	f->rows->broken = true;
}

static int find_list_file(void *arg, struct root *root, const struct tree_item *item)
{
	struct finder *f = arg;

	f->rows->root = root;
	f->rows->cno = root->cno;
	listing_put(f->rows, item);
	return f->tool->out->error;
}

static int list_logged(void *arg, struct logged_file *file)
{
	struct finder *f = arg;

	f->rows->root = &f->root;
	f->rows->cno = f->o->inodes ? f->root.cno : 0;
	f->rows->broken |= f->o->inodes &&
			   file->whole < le64_get(file->item->inode->i_size);
	f->rows->found = &file->file;
	f->rows->whole = file->whole;
	f->rows->last = file->cno;
	listing_put(f->rows, file->item);
	f->rows->found = NULL;
	return f->tool->out->error;
}

static void report_damaged(void *arg, const char *path, size_t len, int err)
{
	struct finder *f = arg;

	image_file_failed(f->tool, path, len, err);
	f->rows->broken = true;
}

static int walk_files(struct finder *f, struct root *root)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct context *cx = &f->tool->cx;
	struct tree *tree = NULL;
	struct tree_item item;
	int ret = tree_open(&tree, cx, root, "/", &how);

	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind == TREE_BROKEN ||
		    (item.kind == TREE_ENTRY && item.inode &&
		     filter_takes(&f->filter, item.path, item.inode)))
			ret = find_list_file(f, root, &item);
	}
	tree_close(tree);
	return ret;
}

static int search_files(struct finder *f)
{
	struct context *cx = &f->tool->cx;
	const struct lost_search search = {
		.filter = &f->filter,
		.deleted = f->o->deleted,
		.found = find_list_file,
		.broken = find_checkpoint_failed,
		.arg = f,
	};
	const struct logged_search logs = {
		.filter = &f->filter,
		.found = list_logged,
		.broken = report_damaged,
		.arg = f,
	};
	struct dump_image im = { .dev = NULL };
	const char *path = f->tool->argv[0];
	int err = f->o->inodes ? damaged_open(&im, f->tool, path,
						    f->o->checkpoint,
						    &f->rows->broken) :
				 image_open_root(&im, f->tool, path,
						 f->o->checkpoint, false);

	f->root = im.root;
	if (err)
		goto out;
	listing_begin(f->rows);
	if (f->o->inodes)
		err = logged_rescue(cx, &f->root, &logs);
	else if (!f->o->deleted)
		err = walk_files(f, &f->root);
	if (!err && (f->o->all || f->o->deleted))
		err = lost_run(cx, &f->root, &search);
	if (!err && f->o->deleted)
		err = logged_run(cx, &f->root, &logs);
	if (!err)
		listing_end(f->rows);
out:
	image_close(&im);
	return err ? err : f->rows->broken;
}

static int find_run(struct tool *tool, const void *options)
{
	const struct find_options *o = options;
	struct finder f = { .tool = tool, .o = o, .filter = o->filter };
	int err;

	if (o->checkpoint && (o->all || o->deleted))
		return tool_usage(tool, "--checkpoint: not with --all or --deleted");
	if (o->inodes && (o->all || o->deleted))
		return tool_usage(tool, "--inodes: not with --all or --deleted");
	f.rows = calloc(1, sizeof(*f.rows));
	if (!f.rows)
		return fail(&tool->cx, -ENOMEM, "listing");
	filter_set_pattern(&f.filter, tool->argc > 1 ? tool->argv[1] : NULL);
	f.rows->tool = tool;
	f.rows->recursive = true;
	f.rows->inode = o->inode;
	f.rows->full_time = o->full_time;
	f.rows->details = o->details || o->full_time ||
			  !report_is_text(&tool->report);
	f.rows->logs = o->deleted || o->inodes;
	f.rows->checkpoints = o->all || o->deleted ||
			      !report_is_text(&tool->report);
	err = search_files(&f);
	if (!err && !f.rows->any && report_is_text(&tool->report)) {
		const char *name = tool->argc > 1 ? tool->argv[1] : "*";

		if (strpbrk(name, "*?[/"))
			tool_note(tool, "no file was found");
		else
			tool_note(tool, "no file is named '%s'; '*%s*' fits a part "
				  "of a name", name, name);
	}
	listing_fini(f.rows);
	free(f.rows);
	return err;
}

#define AT(member) offsetof(struct find_options, member)

static const struct cli_option find_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, AT(checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 'a', "all", NULL, "in all checkpoints", OPTION_FLAG, AT(all), 1 },
	{ 'd', "deleted", NULL, "files that are not in the latest state",
	  OPTION_FLAG, AT(deleted), 1 },
	{ 0, "inodes", NULL, "all inodes of a damaged checkpoint, named or not",
	  OPTION_FLAG, AT(inodes), 1 },
	{ 0, "size", "SIZE", "of this size; +SIZE at least, -SIZE at most",
	  OPTION_CALL, AT(filter.size), 0, 0, NULL, filter_parse_size },
	{ 0, "newer", "TIME", "modified at TIME or later", OPTION_CALL,
	  AT(filter.newer), 0, 0, NULL, filter_parse_time },
	{ 0, "older", "TIME", "modified before TIME", OPTION_CALL,
	  AT(filter.older), 0, 0, NULL, filter_parse_time },
	{ 't', "type", "LETTERS", "of these types: f, d, l, b, c, p, s",
	  OPTION_CALL, AT(filter.types), 0, 0, NULL, filter_parse_types },
	{ 'u', "owner", "UID", "of this user", OPTION_U64, AT(filter.owner) },
	{ 'l', "long", NULL, "show the attributes", OPTION_FLAG,
	  AT(details) },
	{ 'i', "inode", NULL, "show inode numbers", OPTION_FLAG, AT(inode) },
	{ 0, "full-time", NULL, "as -l, with nanoseconds", OPTION_FLAG,
	  AT(full_time) },
	{ 0 },
};

static const struct find_options find_defaults = {
	.filter = FILTER_ANY,
};

const struct cli_command find_command = {
	.name = "find",
	.summary = "files by name, size, time, type and owner",
	.synopsis = "IMAGE [PATTERN]",
	.about =
	"Lists the files whose name matches PATTERN, as the shell's *, ? and []; their\n"
	"path if it has a slash.  With --all and --deleted, each entry as of the newest\n"
	"checkpoint that has it; export -c with its number gets it.  --deleted also\n"
	"lists files of deleted checkpoints of which logs remain, without a number;\n"
	"export --deleted gets them.  --inodes lists what is left of a damaged\n"
	"checkpoint, files without a name as #INODE; export --inodes gets them.",
	.options = find_rows,
	.options_size = sizeof(struct find_options),
	.defaults = &find_defaults,
	.min_args = 1,
	.max_args = 2,
	.run = find_run,
};
