// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ls: names and attributes of files.
 *
 * Entries are printed as the walk finds them, in the order of the disk: none
 * is kept, and a volume with a hundred million files needs no more memory
 * than an empty one.
 */
#include "dump/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/timefmt.h"
#include "cli/tool.h"
#include "disk/inode.h"
#include "dump/fields.h"
#include "dump/image.h"
#include "out/number.h"
#include "out/table.h"
#include "vol/symlink.h"
#include "vol/tree.h"
#include "vol/volume.h"

/*
 * The rows of a listing.
 *
 * Text and JSON have different columns.  A row takes no allocation; only a name
 * with the target of a link needs memory, which is reused.
 */

#define LS_ROWS_TEXT_COLUMNS 8

/* The caller sets the members up to FULL_TIME; the others are zero at first. */
struct ls_rows {
	struct tool *tool;
	struct root *root;
	bool details;	/* attributes too */
	bool recursive; /* whole paths */
	bool inode;
	bool full_time;
	bool broken; /* something was named as unreadable */
	struct table table;
	struct column columns[LS_ROWS_TEXT_COLUMNS];
	struct file file; /* of a symbolic link */
	char target[SYMLINK_TARGET_MAX + 1];
	char *line; /* a name with its target */
	size_t line_room;
	int64_t mtime_sec; /* the time of the last row as text */
	size_t mtime_len;  /* 0: none yet */
	char mtime[TIMEFMT_ISO_MAX + 10];
};

enum {
	T_INODE,
	T_MODE,
	T_LINKS,
	T_UID,
	T_GID,
	T_SIZE,
	T_MTIME,
	T_NAME,
	T_COUNT
};

static const struct column text_columns[T_COUNT] = {
	[T_INODE] = { "inode", "INODE", VALUE_U64, 8 },
	[T_MODE] = { "mode", "MODE", VALUE_PLAIN, 10 },
	[T_LINKS] = { "links", "LINKS", VALUE_U64, 5 },
	[T_UID] = { "uid", "UID", VALUE_U64, 5 },
	[T_GID] = { "gid", "GID", VALUE_U64, 5 },
	[T_SIZE] = { "size", "        SIZE", VALUE_PLAIN, 12 },
	[T_MTIME] = { "mtime", "MODIFIED", VALUE_PLAIN, 20 },
	[T_NAME] = { "name", "NAME", VALUE_STRING, 0 },
};

enum {
	J_PATH,
	J_INODE,
	J_TYPE,
	J_SHORT,
	J_MODE = J_SHORT,
	J_LINKS,
	J_UID,
	J_GID,
	J_SIZE,
	J_BLOCKS,
	J_MTIME,
	J_MTIME_NSEC,
	J_CTIME,
	J_CTIME_NSEC,
	J_MAJOR,
	J_MINOR,
	J_FLAGS,
	J_GENERATION,
	J_TARGET,
	J_COUNT
};

static const struct column json_columns[J_COUNT] = {
	[J_PATH] = { "path", NULL, VALUE_STRING, 0 },
	[J_INODE] = { "inode", NULL, VALUE_U64, 0 },
	[J_TYPE] = { "type", NULL, VALUE_STRING, 0 },
	[J_MODE] = { "mode", NULL, VALUE_U64, 0 },
	[J_LINKS] = { "links", NULL, VALUE_U64, 0 },
	[J_UID] = { "uid", NULL, VALUE_U64, 0 },
	[J_GID] = { "gid", NULL, VALUE_U64, 0 },
	[J_SIZE] = { "size", NULL, VALUE_U64, 0 },
	[J_BLOCKS] = { "blocks", NULL, VALUE_U64, 0 },
	[J_MTIME] = { "mtime", NULL, VALUE_TIME, 0 },
	[J_MTIME_NSEC] = { "mtime_nsec", NULL, VALUE_U64, 0 },
	[J_CTIME] = { "ctime", NULL, VALUE_TIME, 0 },
	[J_CTIME_NSEC] = { "ctime_nsec", NULL, VALUE_U64, 0 },
	[J_MAJOR] = { "major", NULL, VALUE_U64, 0 },
	[J_MINOR] = { "minor", NULL, VALUE_U64, 0 },
	[J_FLAGS] = { "flags", NULL, VALUE_U64, 0 },
	[J_GENERATION] = { "generation", NULL, VALUE_U64, 0 },
	[J_TARGET] = { "target", NULL, VALUE_STRING, 0 },
};

static const char *const type_names[NILFS_FT_MAX] = {
	"unknown", "file", "directory", "character",
	"block",   "fifo", "socket",	"symlink",
};

static const char type_letters[NILFS_FT_MAX] = {
	'?', '-', 'd', 'c', 'b', 'p', 's', 'l',
};

static uint8_t known_type(uint8_t type)
{
	return type < NILFS_FT_MAX ? type : NILFS_FT_UNKNOWN;
}

/* The target of the item, absent where it is no link or cannot be read. */
static struct value target_of(struct ls_rows *rows,
			      const struct tree_item *item)
{
	struct context *cx = &rows->tool->cx;
	size_t len;
	int err;

	if (item->type != NILFS_FT_SYMLINK || !item->inode)
		return value_absent();
	err = file_init(&rows->file, cx, rows->root->vol, item->ino,
			item->inode);
	if (!err)
		err = symlink_target(&rows->file, cx, rows->target, &len);
	if (!err)
		return value_bytes(rows->target, len);
	image_file_failed(rows->tool, item->path, item->path_len, err);
	rows->broken = true;
	return value_absent();
}

static void put_json(struct ls_rows *rows, const struct tree_item *item)
{
	const struct nilfs_inode *inode = item->inode;
	struct value v[J_COUNT] = {
		[J_PATH] = value_bytes(item->path, item->path_len),
		[J_INODE] = value_u64(item->ino),
		[J_TYPE] = value_string(type_names[known_type(item->type)]),
	};

	if (inode) {
		uint32_t major, minor;

		v[J_MODE] = value_u64(le16_get(inode->i_mode) & ~S_IFMT);
		v[J_LINKS] = value_u64(le16_get(inode->i_links_count));
		v[J_UID] = value_u64(le32_get(inode->i_uid));
		v[J_GID] = value_u64(le32_get(inode->i_gid));
		v[J_SIZE] = value_u64(le64_get(inode->i_size));
		v[J_BLOCKS] = value_u64(le64_get(inode->i_blocks));
		v[J_MTIME] = value_u64(le64_get(inode->i_mtime));
		v[J_MTIME_NSEC] = value_u64(le32_get(inode->i_mtime_nsec));
		v[J_CTIME] = value_u64(le64_get(inode->i_ctime));
		v[J_CTIME_NSEC] = value_u64(le32_get(inode->i_ctime_nsec));
		v[J_FLAGS] = value_u64(le32_get(inode->i_flags));
		v[J_GENERATION] = value_u64(le32_get(inode->i_generation));
		if (inode_has_rdev(inode)) {
			inode_rdev(inode, &major, &minor);
			v[J_MAJOR] = value_u64(major);
			v[J_MINOR] = value_u64(minor);
		}
		v[J_TARGET] = target_of(rows, item);
	}
	table_row(&rows->table, v);
}

/* The modification time; neighbours often have the same one. */
static struct value time_text(struct ls_rows *rows,
			      const struct nilfs_inode *inode)
{
	struct inode_time t = inode_mtime(inode);
	uint32_t nsec = t.nsec, i;
	char *text = rows->mtime;
	size_t len = rows->mtime_len;

	if (!len || rows->mtime_sec != t.sec) {
		len = strlen(timefmt_iso(t.sec, text));
		rows->mtime_len = len;
		rows->mtime_sec = t.sec;
	}
	if (!rows->full_time)
		return value_bytes(text, len);
	text[len - 1] = '.';
	for (i = 9; i-- > 0; nsec /= 10)
		text[len + i] = (char)('0' + nsec % 10);
	text[len + 9] = 'Z';
	return value_bytes(text, len + 10);
}

#define SIZE_TEXT_MAX 24

/* The size, or the number of a device, to the right of its column. */
static struct value size_text(char text[SIZE_TEXT_MAX],
			      const struct nilfs_inode *inode, size_t width)
{
	char number[SIZE_TEXT_MAX], *end;
	uint32_t major, minor;
	size_t len, pad;

	if (inode_has_rdev(inode)) {
		inode_rdev(inode, &major, &minor);
		end = number_u64(number, major);
		*end++ = ',';
		end = number_u64(end, minor);
	} else {
		end = number_u64(number, le64_get(inode->i_size));
	}
	len = (size_t)(end - number);
	pad = len < width ? width - len : 0;
	memset(text, ' ', pad);
	memcpy(text + pad, number, len);
	return value_bytes(text, pad + len);
}

/* "NAME", or "NAME -> TARGET"; whole paths in a recursive listing. */
static struct value name_text(struct ls_rows *rows,
			      const struct tree_item *item)
{
	static const char arrow[] = " -> ";
	bool paths = rows->recursive || !item->depth;
	const char *name = paths ? item->path : item->name;
	size_t len = paths ? item->path_len : item->name_len;
	struct value target = target_of(rows, item);
	char *line;

	if (!target.present)
		return value_bytes(name, len);
	if (array_reserve(&rows->tool->cx, &rows->line, &rows->line_room,
			  len + sizeof(arrow) + target.len))
		return value_bytes(name, len);
	line = rows->line;
	memcpy(line, name, len);
	memcpy(line + len, arrow, sizeof(arrow) - 1);
	len += sizeof(arrow) - 1;
	memcpy(line + len, target.bytes, target.len);
	return value_bytes(line, len + target.len);
}

static void put_details(struct ls_rows *rows, const struct tree_item *item)
{
	const struct nilfs_inode *inode = item->inode;
	char mode[11], size[SIZE_TEXT_MAX];
	struct value v[T_COUNT] = {
		[T_INODE] = value_u64(item->ino),
		[T_NAME] = name_text(rows, item),
	};

	if (inode) {
		fields_mode(mode, type_letters[known_type(item->type)],
			    le16_get(inode->i_mode));
		v[T_MODE] = value_bytes(mode, sizeof(mode) - 1);
		v[T_LINKS] = value_u64(le16_get(inode->i_links_count));
		v[T_UID] = value_u64(le32_get(inode->i_uid));
		v[T_GID] = value_u64(le32_get(inode->i_gid));
		v[T_SIZE] = size_text(size, inode, rows->table.width[T_SIZE]);
		v[T_MTIME] = time_text(rows, inode);
	}
	table_row(&rows->table, v);
}

static void put_name(struct ls_rows *rows, const struct tree_item *item)
{
	bool paths = rows->recursive || !item->depth;
	struct value ino = value_u64(item->ino);
	struct value name = paths ? value_bytes(item->path, item->path_len)
				  : value_bytes(item->name, item->name_len);
	struct out *out = rows->tool->out;

	if (rows->inode) {
		value_put(out, VALUE_U64, NULL, &ino, 8, true);
		out_string(out, "  ");
	}
	value_put(out, VALUE_STRING, NULL, &name, 0, false);
	out_char(out, '\n');
}

static void ls_rows_begin(struct ls_rows *rows)
{
	struct report *report = &rows->tool->report;
	bool details = rows->details;

	if (!report_is_text(report)) {
		table_begin(&rows->table, report, "files", json_columns,
			    details ? J_COUNT : J_SHORT);
		return;
	}
	memcpy(rows->columns, text_columns, sizeof(text_columns));
	if (!rows->inode)
		rows->columns[T_INODE].head = NULL;
	if (rows->full_time)
		rows->columns[T_MTIME].width += 10;
	if (details)
		table_begin(&rows->table, report, "files", rows->columns,
			    T_COUNT);
}

/* Puts one entry of the walk. */
static void ls_rows_put(struct ls_rows *rows, const struct tree_item *item)
{
	if (!report_is_text(&rows->tool->report))
		put_json(rows, item);
	else if (rows->details)
		put_details(rows, item);
	else
		put_name(rows, item);
}

/* Completes a listing that did not fail. */
static void ls_rows_end(struct ls_rows *rows)
{
	if (rows->details || !report_is_text(&rows->tool->report))
		table_end(&rows->table);
}

static void ls_rows_fini(struct ls_rows *rows)
{
	free(rows->line);
}

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
	{ 'c', "checkpoint", "CNO", "look at this checkpoint (0: the latest)",
	  OPTION_U64, offsetof(struct ls_options, checkpoint) },
	{ 0, "recover", NULL, "show files as the next mount would recover them",
	  OPTION_FLAG, offsetof(struct ls_options, recover) },
	{ 0 },
};

/* The directory given is not listed itself. */
static bool is_listed(const struct ls_rows *rows, const struct tree_item *item)
{
	if (item->kind != TREE_ENTRY)
		return false;
	return item->depth || !item->entered || rows->recursive;
}

static int list_path(struct ls_rows *rows, const char *path, bool dots)
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
		ls_rows_begin(rows);
	while (!ret && !out_error(rows->tool->out)) {
		ret = tree_next(tree, cx, &item);
		if (ret <= 0)
			break;
		ret = 0;
		if (item.kind == TREE_BROKEN) {
			image_file_failed(rows->tool, item.path, item.path_len,
					  item.error);
			rows->broken = true;
		} else if (is_listed(rows, &item)) {
			ls_rows_put(rows, &item);
		}
	}
	if (!ret)
		ls_rows_end(rows);
	tree_close(tree);
	return ret;
}

static int ls_run(struct tool *tool, const void *options)
{
	const struct ls_options *o = options;
	struct dump_image im = {.dev = NULL};
	struct ls_rows *rows = calloc(1, sizeof(*rows));
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
	ls_rows_fini(rows);
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
