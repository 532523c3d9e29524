// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history: every version of a file over all checkpoints.
 *
 * A version is printed as soon as it has ended, so that only the present ones
 * are in memory.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "disk/inode.h"
#include "dump/common/image.h"
#include "dump/files/listing.h"
#include "dump/past/versions.h"
#include "out/table.h"

struct history {
	struct tool *tool;
	struct table table;
	char *names; /* of a version, as text */
	size_t names_room;
	bool broken;
};

enum {
	FIRST,
	LAST,
	CREATED,
	INODE,
	GENERATION,
	MODE,
	LINKS,
	UID,
	GID,
	SIZE,
	CHANGED,
	MODIFIED,
	NAME,
	COLUMNS
};

static const struct column columns[COLUMNS] = {
	[FIRST] = { "first", "FIRST", VALUE_U64, 6 },
	[LAST] = { "last", "LAST", VALUE_U64, 6 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 19 },
	[INODE] = { "inode", "INODE", VALUE_U64, 6 },
	[GENERATION] = { "generation", "GENERATION", VALUE_U64, 10 },
	[MODE] = { "mode", "MODE", VALUE_PLAIN, 10 },
	[LINKS] = { "links", "LINKS", VALUE_U64, 5 },
	[UID] = { "uid", "UID", VALUE_U64, 5 },
	[GID] = { "gid", "GID", VALUE_U64, 5 },
	[SIZE] = { "size", "SIZE", VALUE_U64, 10 },
	[CHANGED] = { "changed_blocks", "CHANGED", VALUE_U64, 7 },
	[MODIFIED] = { "mtime", "MODIFIED", VALUE_TIME, 19 },
	[NAME] = { "names", "NAME", VALUE_PLAIN, 0 },
};

static const struct column name_columns[] = {
	{ "path", NULL, VALUE_STRING, 0 },
};

static struct value changed_of(const struct version *v)
{
	return v->known ? value_u64(v->changed) : value_absent();
}

/* The names, escaped, with commas between them. */
static struct value names_text(struct history *h, const struct version *v)
{
	const char *path = v->names, *end = v->names + v->names_len;
	size_t len = 0;

	for (; path < end; path += strlen(path) + 1) {
		size_t size = strlen(path), room = TEXT_ESCAPED_MAX(size) + 2;

		if (array_reserve(&h->tool->cx, &h->names, &h->names_room,
				  len + room))
			break;
		if (len) {
			memcpy(h->names + len, ", ", 2);
			len += 2;
		}
		len += text_escape(h->names + len, room - 2, path, size);
	}
	return len ? value_bytes(h->names, len) : value_absent();
}

static void put_row(struct history *h, const struct version *v)
{
	const struct nilfs_inode *inode = &v->inode;
	uint8_t type = inode_dirent_type(le16_get(inode->i_mode));
	char mode[LISTING_MODE_MAX];

	listing_mode(mode, type, inode);
	table_row(&h->table, (struct value[]){
		[FIRST] = value_u64(v->first),
		[LAST] = value_u64(v->last),
		[CREATED] = value_u64(v->created),
		[INODE] = value_u64(v->ino),
		[GENERATION] = value_u64(le32_get(inode->i_generation)),
		[MODE] = value_bytes(mode, sizeof(mode) - 1),
		[LINKS] = value_u64(le16_get(inode->i_links_count)),
		[UID] = value_u64(le32_get(inode->i_uid)),
		[GID] = value_u64(le32_get(inode->i_gid)),
		[SIZE] = value_u64(le64_get(inode->i_size)),
		[CHANGED] = changed_of(v),
		[MODIFIED] = value_u64(le64_get(inode->i_mtime)),
		[NAME] = names_text(h, v),
	});
}

static void put_device(struct report *r, const struct nilfs_inode *inode)
{
	uint32_t major, minor;

	inode_rdev(inode, &major, &minor);
	report_u64(r, "major", NULL, major);
	report_u64(r, "minor", NULL, minor);
}

static void put_names(struct report *r, const struct version *v)
{
	const char *path = v->names, *end = v->names + v->names_len;
	struct table table;

	table_begin(&table, r, "names", name_columns, 1);
	for (; path < end; path += strlen(path) + 1) {
		const struct value name = value_string(path);

		table_row(&table, &name);
	}
	table_end(&table);
}

static void put_section(struct report *r, const struct version *v)
{
	const struct nilfs_inode *i = &v->inode;
	uint16_t mode = le16_get(i->i_mode);

	report_begin(r, "versions", NULL);
	report_u64(r, "first", NULL, v->first);
	report_u64(r, "last", NULL, v->last);
	report_u64(r, "checkpoints", NULL, v->checkpoints);
	report_time(r, "created", NULL, v->created);
	report_u64(r, "inode", NULL, v->ino);
	report_u64(r, "generation", NULL, le32_get(i->i_generation));
	report_string(r, "type", NULL, listing_type(inode_dirent_type(mode)));
	report_u64(r, "mode", NULL, mode & 07777u);
	report_u64(r, "links", NULL, le16_get(i->i_links_count));
	report_u64(r, "uid", NULL, le32_get(i->i_uid));
	report_u64(r, "gid", NULL, le32_get(i->i_gid));
	report_u64(r, "size", NULL, le64_get(i->i_size));
	report_u64(r, "blocks", NULL, le64_get(i->i_blocks));
	report_value(r, VALUE_U64, "changed_blocks", NULL, changed_of(v));
	report_time(r, "mtime", NULL, le64_get(i->i_mtime));
	report_u64(r, "mtime_nsec", NULL, le32_get(i->i_mtime_nsec));
	report_time(r, "ctime", NULL, le64_get(i->i_ctime));
	report_u64(r, "ctime_nsec", NULL, le32_get(i->i_ctime_nsec));
	if (inode_has_rdev(i))
		put_device(r, i);
	put_names(r, v);
	report_end(r);
}

static int found_version(void *arg, const struct version *v)
{
	struct history *h = arg;

	if (report_is_text(&h->tool->report))
		put_row(h, v);
	else
		put_section(&h->tool->report, v);
	return out_error(h->tool->out);
}

static void found_broken(void *arg, uint64_t cno, int err)
{
	struct history *h = arg;

	image_checkpoint_failed(h->tool, cno, err);
	h->broken = true;
}

static bool is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

static int show_versions(struct history *h, struct volume *vol,
			 const char *what)
{
	const struct versions_sink sink = { found_version, found_broken, h };
	struct context *cx = &h->tool->cx;
	uint64_t ino;
	int err;

	if (!is_number(what))
		return versions_of_path(vol, cx, what, &sink);
	err = option_number(cx, "INO|PATH", what, UINT64_MAX, &ino);
	if (err)
		return tool_usage(h->tool, "'%s' is no inode number", what);
	if (inode_is_private(ino))
		return tool_usage(h->tool, "inode %llu is not one of a file",
				  (unsigned long long)ino);
	return versions_of_inode(vol, cx, ino, &sink);
}

static int history_run(struct tool *tool, const void *options)
{
	struct history h = { .tool = tool };
	struct report *r = &tool->report;
	struct dump_image im = { .dev = NULL };
	int err = image_open(&im, tool, tool->argv[0], NULL);

	(void)options;
	if (!err && report_is_text(r))
		table_begin(&h.table, r, "versions", columns, COLUMNS);
	else if (!err)
		report_list(r, "versions");
	if (!err) {
		err = show_versions(&h, im.vol, tool->argv[1]);
		if (report_is_text(r))
			table_end(&h.table);
		else if (!err)
			report_end(r);
	}
	image_close(&im);
	free(h.names);
	return err ? err : h.broken;
}

const struct cli_command history_command = {
	.name = "history",
	.summary = "the versions of a file over all checkpoints",
	.synopsis = "IMAGE PATH|INO",
	.about =
	"Shows each version of the files that are at PATH in some checkpoint, or have\n"
	"the inode number INO: the first and the last checkpoint that has it, the time\n"
	"of the first one, attributes, blocks changed since the version before, and all\n"
	"names.  cat -c and export -c get it.",
	.min_args = 2,
	.max_args = 2,
	.run = history_run,
};
