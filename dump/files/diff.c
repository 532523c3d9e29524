// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff: files added, removed or changed between two checkpoints.
 *
 * Checkpoints share unchanged blocks, so the work is proportional to the
 * changes and to the number of directories.
 */
#include "dump/common/commands.h"

#include <stdlib.h>

#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/files/tree_diff.h"
#include "out/table.h"

#define EXIT_DIFFERENT 3

enum { CHANGE, PATH, INODE_1, INODE_2, WHAT, COLUMNS };

static const struct column columns[COLUMNS] = {
	[CHANGE] = { "change", NULL, VALUE_STRING, 0 },
	[PATH] = { "path", NULL, VALUE_STRING, 0 },
	[INODE_1] = { "inode_1", NULL, VALUE_U64, 0 },
	[INODE_2] = { "inode_2", NULL, VALUE_U64, 0 },
	[WHAT] = { "what", NULL, VALUE_FLAGS, 0, tree_diff_names },
};

struct output {
	struct tool *tool;
	struct table table;
	bool different;
	bool broken;
};

/* Prints a difference, as text "M PATH (size,mtime)". */
static int print_difference(void *arg, const char *path, size_t len,
			    uint64_t a, uint64_t b, unsigned int what)
{
	struct output *o = arg;
	struct out *out = o->tool->out;
	struct value flags = value_u64(what);
	struct value v[COLUMNS] = {
		[PATH] = value_bytes(path, len),
		[INODE_1] = value_nonzero(a),
		[INODE_2] = value_nonzero(b),
	};

	o->different = true;
	if (!report_is_text(&o->tool->report)) {
		v[CHANGE] = value_string(!a ? "added" : !b ? "removed"
							   : "changed");
		if (a && b)
			v[WHAT] = flags;
		table_row(&o->table, v);
		return 0;
	}
	out_string(out, !a ? "A " : !b ? "D " : "M ");
	value_put(out, VALUE_STRING, NULL, &v[PATH], 0, false);
	if (what) {
		out_string(out, " (");
		value_put(out, VALUE_FLAGS, tree_diff_names, &flags, 0, false);
		out_char(out, ')');
	}
	out_char(out, '\n');
	return 0;
}

static void print_broken(void *arg, const char *path, size_t len, int err)
{
	struct output *o = arg;

	image_file_failed(o->tool, path, len, err);
	o->broken = true;
}

static int checkpoint_number(struct tool *tool, const char *text, uint64_t *cno)
{
	int err = moment_parse(&tool->cx, text, cno);

	return err ? tool_usage(tool, "'%s' is not a checkpoint number, nor a "
				"time as 2026-11-20 18:00", text) : 0;
}

static int diff_run(struct tool *tool, const void *options)
{
	struct output o = {.tool = tool};
	const struct tree_diff_sink sink = {
		.found = print_difference,
		.broken = print_broken,
		.arg = &o,
	};
	struct dump_image im = {.dev = NULL};
	uint64_t first = 0, second = 0;
	bool text = report_is_text(&tool->report);
	struct root root;
	int ret;

	(void)options;
	ret = checkpoint_number(tool, tool->argv[1], &first);
	if (!ret)
		ret = checkpoint_number(tool, tool->argv[2], &second);
	if (!ret)
		ret = image_open_root(&im, tool, tool->argv[0], first, false);
	if (!ret)
		ret = image_root(&root, &tool->cx, im.vol, second);
	if (ret)
		goto out;
	if (!text)
		table_begin(&o.table, &tool->report, "differences", columns,
			    COLUMNS);
	ret = tree_diff(&tool->cx, &im.root, &root,
			tool->argc > 3 ? tool->argv[3] : "/", &sink);
	if (!ret && !text)
		table_end(&o.table);
	if (!ret)
		ret = o.broken ? 1 : o.different ? EXIT_DIFFERENT : 0;
out:
	image_close(&im);
	return ret;
}

const struct cli_command diff_command = {
	.name = "diff",
	.summary = "files that differ between two checkpoints",
	.synopsis = "IMAGE CNO CNO [PATH]",
	.about = "Shows what was added (A), removed (D) and changed (M, and in "
		 "what) from the\nfirst checkpoint to the second; 0 is the "
		 "latest. The exit status is 3 where\nthey differ.",
	.min_args = 3,
	.max_args = 4,
	.run = diff_run,
};
