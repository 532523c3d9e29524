// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of files.
 *
 * Text and JSON have different columns.  Only a name with the target of a link
 * needs memory, which is reused, so a row takes no allocation.
 */
#include "dump/files/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "disk/inode.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "out/number.h"
#include "vol/volume.h"

enum {
	T_CHECKPOINT,
	T_INODE,
	T_MODE,
	T_LINKS,
	T_UID,
	T_GID,
	T_SIZE,
	T_WHOLE,
	T_MTIME,
	T_NAME,
	T_COUNT
};

static const struct column text_columns[T_COUNT] = {
	[T_CHECKPOINT] = { "checkpoint", "CNO", VALUE_U64, 8 },
	[T_INODE] = { "inode", "INODE", VALUE_U64, 8 },
	[T_MODE] = { "mode", "MODE", VALUE_PLAIN, 10 },
	[T_LINKS] = { "links", "LINKS", VALUE_U64, 5 },
	[T_UID] = { "uid", "UID", VALUE_U64, 5 },
	[T_GID] = { "gid", "GID", VALUE_U64, 5 },
	[T_SIZE] = { "size", "        SIZE", VALUE_PLAIN, 12 },
	[T_WHOLE] = { "whole", "WHOLE", VALUE_PLAIN, 5 },
	[T_MTIME] = { "mtime", "MODIFIED", VALUE_PLAIN, 25 },
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
	J_DETAILS,
	J_CHECKPOINT = J_DETAILS,
	J_OF_CHECKPOINTS,
	J_LAST_CHECKPOINT = J_OF_CHECKPOINTS,
	J_WHOLE_BYTES,
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
	[J_CHECKPOINT] = { "checkpoint", NULL, VALUE_U64, 0 },
	[J_LAST_CHECKPOINT] = { "last_checkpoint", NULL, VALUE_U64, 0 },
	[J_WHOLE_BYTES] = { "whole_bytes", NULL, VALUE_U64, 0 },
};

static const char *const type_names[NILFS_FT_MAX] = {
	"unknown", "file", "directory", "character",
	"block",   "fifo", "socket",	"symlink",
};

const char *listing_type(uint8_t type)
{
	return type_names[type < NILFS_FT_MAX ? type : NILFS_FT_UNKNOWN];
}

static void listing_report_broken(struct listing *rows, const struct tree_item *item,
				  int err)
{
	image_file_failed(rows->tool, item->path, item->path_len, err);
	rows->broken = true;
}

/* The target of a symbolic link; absent for other items and if it cannot be read. */
static struct value target_of(struct listing *rows,
			      const struct tree_item *item)
{
	struct context *cx = &rows->tool->cx;
	size_t len;
	int err;

	if (item->type != NILFS_FT_SYMLINK || !item->inode)
		return value_absent();
	err = file_init(&rows->file, cx, rows->root->vol, item->ino,
			item->inode);
	if (!err && rows->found) {
		rows->file.extents = rows->found->extents;
		rows->file.nextents = rows->found->nextents;
	}
	if (!err)
		err = symlink_target(&rows->file, cx, rows->target, &len);
	if (!err)
		return value_bytes(rows->target, len);
	listing_report_broken(rows, item, err);
	return value_absent();
}

static void put_json(struct listing *rows, const struct tree_item *item)
{
	const struct nilfs_inode *inode = item->inode;
	struct value v[J_COUNT] = {
		[J_PATH] = value_bytes(item->path, item->path_len),
		[J_INODE] = value_u64(item->ino),
		[J_CHECKPOINT] = value_nonzero(rows->cno),
		[J_TYPE] = value_string(listing_type(item->type)),
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
	if (rows->found) {
		v[J_LAST_CHECKPOINT] = value_u64(rows->last);
		v[J_WHOLE_BYTES] = value_u64(rows->whole);
	}
	table_row(&rows->table, v);
}

/* The modification time.  Its text is kept, as successive files often have the same
   time. */
static struct value time_text(struct listing *rows,
			      const struct nilfs_inode *inode)
{
	struct inode_time t = inode_mtime(inode);
	uint32_t nsec = t.nsec, i;
	char *text = rows->mtime;
	size_t len = rows->mtime_len, at;

	if (!len || rows->mtime_sec != t.sec) {
		len = strlen(value_time_text(rows->tool->out, t.sec,
					     rows->second));
		memcpy(text, rows->second, len);
		rows->mtime_len = len;
		rows->mtime_sec = t.sec;
	}
	if (!rows->full_time)
		return value_bytes(text, len);
	/* The fraction stands before the blank and the offset. */
	at = len - sizeof("+0000");
	text[at] = '.';
	for (i = 9; i-- > 0; nsec /= 10)
		text[at + 1 + i] = (char)('0' + nsec % 10);
	memcpy(text + at + 10, rows->second + at, sizeof("+0000"));
	return value_bytes(text, len + 10);
}

/* The size, or the number of a device, to the right of its column. */
static struct value size_text(struct listing *rows, char text[VALUE_TEXT_MAX],
			      const struct nilfs_inode *inode)
{
	size_t len, pad, width = rows->table.width[T_SIZE];
	char number[VALUE_TEXT_MAX], *end;
	uint32_t major, minor;

	if (inode_has_rdev(inode)) {
		inode_rdev(inode, &major, &minor);
		end = number_u64(number, major);
		*end++ = ',';
		*number_u64(end, minor) = '\0';
	} else {
		value_size_text(rows->tool->out, le64_get(inode->i_size), number);
	}
	len = strlen(number);
	pad = len < width ? width - len : 0;
	memset(text, ' ', pad);
	memcpy(text + pad, number, len);
	return value_bytes(text, pad + len);
}

/* "NAME", or "NAME -> TARGET"; whole paths in a recursive listing. */
static struct value name_text(struct listing *rows,
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

#define WHOLE_TEXT_MAX 24

/* How much of a file was found, in percent; 100 % is all of it. */
static struct value whole_text(char text[WHOLE_TEXT_MAX],
			       const struct listing *rows,
			       const struct nilfs_inode *inode)
{
	uint64_t size = le64_get(inode->i_size), percent = 100;

	if (!rows->found)
		return value_absent();
	if (rows->whole < size)
		percent = size <= UINT64_MAX / 100 ? rows->whole * 100 / size :
						     rows->whole / (size / 100);
	snprintf(text, WHOLE_TEXT_MAX, "%4llu%%",
		 (unsigned long long)(percent == 100 && rows->whole < size ?
					      99 : percent));
	return value_string(text);
}

static void put_details(struct listing *rows, const struct tree_item *item)
{
	const struct nilfs_inode *inode = item->inode;
	char mode[FIELDS_MODE_MAX], size[VALUE_TEXT_MAX], whole[WHOLE_TEXT_MAX];
	struct value v[T_COUNT] = {
		[T_CHECKPOINT] = value_nonzero(rows->cno),
		[T_INODE] = value_u64(item->ino),
		[T_NAME] = name_text(rows, item),
	};

	if (inode) {
		fields_mode(mode, le16_get(inode->i_mode));
		v[T_MODE] = value_bytes(mode, sizeof(mode) - 1);
		v[T_LINKS] = value_u64(le16_get(inode->i_links_count));
		v[T_UID] = value_u64(le32_get(inode->i_uid));
		v[T_GID] = value_u64(le32_get(inode->i_gid));
		v[T_SIZE] = size_text(rows, size, inode);
		v[T_WHOLE] = whole_text(whole, rows, inode);
		v[T_MTIME] = time_text(rows, inode);
	}
	table_row(&rows->table, v);
}

static void listing_put_name(struct listing *rows, const struct tree_item *item)
{
	bool paths = rows->recursive || !item->depth;
	struct value ino = value_u64(item->ino);
	struct value cno = value_nonzero(rows->cno);
	struct value name = paths ? value_bytes(item->path, item->path_len)
				  : value_bytes(item->name, item->name_len);
	struct out *out = rows->tool->out;

	if (rows->checkpoints) {
		value_put(out, VALUE_U64, NULL, &cno, 8, true);
		out_string(out, "  ");
	}
	if (rows->inode) {
		value_put(out, VALUE_U64, NULL, &ino, 8, true);
		out_string(out, "  ");
	}
	value_put(out, VALUE_STRING, NULL, &name, 0, false);
	out_char(out, '\n');
}

void listing_begin(struct listing *rows)
{
	struct report *report = &rows->tool->report;
	bool details = rows->details;

	if (!report_is_text(report)) {
		table_begin(&rows->table, report, "files", json_columns,
			    rows->logs	      ? J_COUNT
			    : rows->checkpoints ? J_OF_CHECKPOINTS
			    : details	      ? J_DETAILS
					      : J_SHORT);
		return;
	}
	memcpy(rows->columns, text_columns, sizeof(text_columns));
	if (!rows->checkpoints)
		rows->columns[T_CHECKPOINT].head = NULL;
	if (!rows->logs)
		rows->columns[T_WHOLE].head = NULL;
	if (!rows->inode)
		rows->columns[T_INODE].head = NULL;
	if (rows->full_time)
		rows->columns[T_MTIME].width += 10;
	if (details)
		table_begin(&rows->table, report, "files", rows->columns,
			    T_COUNT);
}

void listing_put(struct listing *rows, const struct tree_item *item)
{
	rows->any |= item->kind != TREE_BROKEN;
	if (item->kind == TREE_BROKEN)
		listing_report_broken(rows, item, item->error);
	else if (!report_is_text(&rows->tool->report))
		put_json(rows, item);
	else if (rows->details)
		put_details(rows, item);
	else
		listing_put_name(rows, item);
}

void listing_end(struct listing *rows)
{
	if (rows->details || !report_is_text(&rows->tool->report))
		table_end(&rows->table);
}

void listing_fini(struct listing *rows)
{
	free(rows->line);
}
