// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inode: the fields of an inode, then decoded values in a section of their own.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdio.h>

#include "disk/inode.h"
#include "dump/blocks/mapwalk.h"
#include "dump/common/fields.h"
#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/common/position.h"
#include "dump/common/subject.h"

struct inode_options {
	uint64_t checkpoint;
};

static const struct cli_option inode_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct inode_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0 },
};

static const char *const types[NILFS_FT_MAX] = {
	"unknown",	"regular file", "directory", "character device",
	"block device", "fifo",		"socket",    "symbolic link",
};

static void print_inode_time(struct report *r, const char *key, const char *label,
			     struct inode_time t)
{
	char time[VALUE_TEXT_MAX], text[VALUE_TEXT_MAX + 16], *end;

	if (report_is_text(r))
		end = strrchr(value_time_text(r->out, t.sec, time), ' ');
	else
		end = strchr(timefmt_iso(t.sec, time), 'Z');
	snprintf(text, sizeof(text), "%.*s.%09u%s", (int)(end - time), time,
		 t.nsec, end);
	report_string(r, key, label, text);
}

/* Prints the sums of the whole map; a broken node is reported and not fatal. */
static int print_map(struct tool *tool, const struct blockmap *map)
{
	struct report *r = &tool->report;
	struct mapwalk walk;
	struct maprun run;
	int ret;

	report_string(r, "map", "Block map",
		      mapwalk_levels(map) ? "B-tree" : "direct");
	report_u64(r, "map_levels", "Levels", mapwalk_levels(map));
	ret = mapwalk_open(&walk, &tool->cx, map, true, false);
	while (!ret && (ret = mapwalk_next(&walk, &tool->cx, &run)) > 0)
		ret = context_cancelled(&tool->cx);
	mapwalk_close(&walk);
	report_u64(r, "data_blocks", "Data blocks", walk.data);
	report_u64(r, "node_blocks", "Node blocks", walk.nodes);
	report_u64(r, "extents", "Extents", walk.extents);
	report_u64(r, "unmapped_blocks", "Without a disk block",
		   walk.unmapped);
	if (ret == -EUCLEAN) {
		tool_warn(tool, "%s", tool->cx.failure);
		fail_clear(&tool->cx);
		return 1;
	}
	return ret ? ret : walk.unmapped != 0;
}

static int show_inode(struct tool *tool, struct root *root,
		      const struct subject *s)
{
	const bool has_map = inode_is_metadata(s->ino) ||
			     inode_has_bmap(&s->inode);
	uint16_t mode = le16_get(s->inode.i_mode);
	struct report *r = &tool->report;
	char text[FIELDS_MODE_MAX], rdev[32];
	uint32_t major, minor;
	struct position place;
	struct file file;
	int err, found = 0;

	err = position_of_inode(&place, &tool->cx, root, s->ino);
	if (!err && has_map)
		err = subject_file(s, &tool->cx, root, &file);
	report_begin(r, "inode", NULL);
	report_u64(r, "ino", "Inode", s->ino);
	report_u64(r, "cno", "Checkpoint", root->cno);
	report_bool(r, "allocated", "In use", s->allocated);
	fields_report(r, field_table_find("inode"), &s->inode);
	report_begin(r, "meaning", "Meaning");
	fields_mode(text, mode);
	report_string(r, "type", "Type", types[inode_dirent_type(mode)]);
	report_string(r, "mode_text", "Mode", text);
	print_inode_time(r, "ctime", "Inode changed", inode_ctime(&s->inode));
	print_inode_time(r, "mtime", "Contents changed", inode_mtime(&s->inode));
	if (inode_has_rdev(&s->inode)) {
		inode_rdev(&s->inode, &major, &minor);
		snprintf(rdev, sizeof(rdev), "%u:%u", major, minor);
		report_string(r, "rdev", "Device", rdev);
	}
	if (!err && has_map)
		found = print_map(tool, &file.map);
	report_end(r);
	if (place.blocknr)
		position_report(r, &place);
	report_end(r);
	return err ? err : found;
}

static int inode_run(struct tool *tool, const void *options)
{
	const struct inode_options *o = options;
	struct dump_image im;
	struct subject s;
	int i, err;

	err = image_open_root(&im, tool, tool->argv[0], o->checkpoint, false);
	for (i = 1; i < tool->argc && !err; i++) {
		err = subject_find(&s, &tool->cx, &im.root, tool->argv[i]);
		if (!err)
			err = show_inode(tool, &im.root, &s);
	}
	image_close(&im);
	return err;
}

const struct cli_command inode_command = {
	.name = "inode",
	.summary = "fields of an inode",
	.synopsis = "IMAGE INO|PATH...",
	.about =
	"Shows inodes: every field, type, times and block map in words, and the\n"
	"block that holds the inode.  An inode is a path, a number, or dat,\n"
	"cpfile, sufile, ifile.  One that is not in use is shown too.",
	.options = inode_rows,
	.options_size = sizeof(struct inode_options),
	.min_args = 2,
	.max_args = TOOL_ANY_ARGS,
	.run = inode_run,
};
