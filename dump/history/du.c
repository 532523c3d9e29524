// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * du: the space that files and directories take in a checkpoint, and the space
 * that deleting checkpoints would free.
 *
 * The space of a file is the number of blocks in its inode, which includes the
 * blocks of its map.  That of a directory includes all files below it, a file with
 * several names once.  One sum for each level of the walk is in memory, and the
 * largest rows if only these are printed.
 *
 * For shared space each block of each file is looked up in the DAT; for freed
 * space all entries of the DAT are read.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/inoset.h"
#include "cli/range.h"
#include "disk/inode.h"
#include "dump/blocks/held.h"
#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/files/listing.h"
#include "out/table.h"
#include "vol/datscan.h"
#include "vol/translate.h"
#include "vol/tree.h"
#include "vol/volume.h"

#define SECTOR 512u /* the unit of i_blocks */

struct du_options {
	uint64_t checkpoint;
	uint64_t depth;
	uint64_t top;
	bool all, shared;
	const char *free;
};

/* In bytes. */
struct space {
	uint64_t all;
	uint64_t unique; /* in no other checkpoint */
	uint64_t held;	 /* kept by snapshots only */
};

struct row {
	struct space space;
	uint64_t ino;
	uint8_t type;
	const char *path;
	size_t len;
	char *copy; /* the path, if the row is kept */
};

struct usage {
	struct tool *tool;
	const struct du_options *o;
	struct root *root;
	struct table table;
	struct held held;   /* with --shared */
	struct space *sums; /* of the directories above the current item */
	size_t depth, room;
	struct inoset linked; /* files with several names that were counted */
	struct row *rows; /* the largest, in descending order */
	size_t count, rows_room;
	bool broken;
};

enum { BYTES, PATH, INODE, TYPE, UNIQUE, HELD, COLUMNS };

static const struct column columns[COLUMNS] = {
	[BYTES] = { "bytes", NULL, VALUE_U64, 0 },
	[PATH] = { "path", NULL, VALUE_STRING, 0 },
	[INODE] = { "inode", NULL, VALUE_U64, 0 },
	[TYPE] = { "type", NULL, VALUE_STRING, 0 },
	[UNIQUE] = { "unique_bytes", NULL, VALUE_U64, 0 },
	[HELD] = { "held_bytes", NULL, VALUE_U64, 0 },
};

static void put_size(struct usage *u, uint64_t bytes)
{
	const struct value v = value_u64(bytes);
	struct out *out = u->tool->out;

	value_put(out, VALUE_SIZE, NULL, &v, out->exact ? 14 : 10, true);
	out_string(out, "  ");
}

/* The headings of the sizes of --shared, in text. */
static void put_headings(struct out *out)
{
	static const char *const heads[] = { "BYTES", "UNIQUE", "SNAPSHOTS" };
	size_t i, width = out->exact ? 14 : 10;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		out_repeat(out, ' ', width - strlen(heads[i]));
		out_string(out, heads[i]);
		out_string(out, "  ");
	}
	out_string(out, "PATH\n");
}

static void du_print_row(struct usage *u, const struct row *row)
{
	const struct value path = value_bytes(row->path, row->len);
	struct out *out = u->tool->out;
	struct value v[COLUMNS] = {
		[BYTES] = value_u64(row->space.all),
		[PATH] = path,
		[INODE] = value_u64(row->ino),
		[TYPE] = value_string(listing_type(row->type)),
	};

	if (!report_is_text(&u->tool->report)) {
		if (u->o->shared) {
			v[UNIQUE] = value_u64(row->space.unique);
			v[HELD] = value_u64(row->space.held);
		}
		table_row(&u->table, v);
		return;
	}
	put_size(u, row->space.all);
	if (u->o->shared) {
		put_size(u, row->space.unique);
		put_size(u, row->space.held);
	}
	value_put(out, VALUE_STRING, NULL, &path, 0, false);
	out_char(out, '\n');
}

/* Prints the row of ITEM, or keeps it if it is one of the largest. */
static int du_add_row(struct usage *u, const struct tree_item *item,
		      const struct space *space)
{
	struct context *cx = &u->tool->cx;
	size_t at = u->count;
	struct row row = {
		.space = *space,
		.ino = item->ino,
		.type = item->type,
		.path = item->path,
		.len = item->path_len,
	};

	if (item->depth > u->o->depth)
		return 0;
	if (!u->o->top) {
		du_print_row(u, &row);
		return u->tool->out->error;
	}
	while (at && u->rows[at - 1].space.all < space->all)
		at--;
	if (at >= u->o->top)
		return 0;
	if (array_reserve(cx, &u->rows, &u->rows_room, u->count + 1))
		return -ENOMEM;
	row.copy = malloc(row.len + 1);
	if (!row.copy)
		return fail(cx, -ENOMEM, "path");
	row.path = memcpy(row.copy, item->path, row.len);
	if (u->count == u->o->top)
		free(u->rows[--u->count].copy);
	memmove(&u->rows[at + 1], &u->rows[at],
		(u->count - at) * sizeof(u->rows[0]));
	u->rows[at] = row;
	u->count++;
	return 0;
}

/*
 * Sets *SPACE to the space of the file itself; of its blocks, the DAT records which
 * checkpoints have them.  A map that cannot be read is reported.
 */
static int measure_item(struct usage *u, const struct tree_item *item,
			struct space *space)
{
	struct context *cx = &u->tool->cx;
	struct volume *vol = u->root->vol;
	struct blockmap_cursor cur = { .map = NULL };
	struct blockmap_item block;
	struct nilfs_dat_entry de;
	struct blockmap map;
	int ret;

	*space = (struct space){
		.all = le64_get(item->inode->i_blocks) * SECTOR,
	};
	if (!u->o->shared || !inode_has_bmap(item->inode))
		return 0;
	ret = blockmap_init(&map, cx, vol, item->ino, item->inode);
	if (!ret)
		ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &block)) > 0) {
		ret = translate_entry(vol, cx, block.ptr, &de);
		if (ret)
			break;
		if (held_count(&u->held, &de, NULL) == 1)
			space->unique += vol->geo.block_size;
		if (held_state(&u->held, &de) == HELD_SNAPSHOT)
			space->held += vol->geo.block_size;
		ret = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	if (!ret || ret == -ENOMEM || ret == -EINTR)
		return ret;
	image_file_failed(u->tool, item->path, item->path_len, ret);
	u->broken = true;
	return 0;
}

static void add_to_parent(struct usage *u, const struct space *space)
{
	struct space *sum;

	if (!u->depth)
		return;
	sum = &u->sums[u->depth - 1];
	sum->all += space->all;
	sum->unique += space->unique;
	sum->held += space->held;
}

static int count_item(struct usage *u, const struct tree_item *item)
{
	struct context *cx = &u->tool->cx;
	struct space space;
	int ret = 1;

	if (item->kind == TREE_LEAVE) {
		space = u->sums[--u->depth];
		add_to_parent(u, &space);
		return du_add_row(u, item, &space);
	}
	if (item->kind == TREE_BROKEN) {
		image_file_failed(u->tool, item->path, item->path_len,
				  item->error);
		u->broken = true;
		return 0;
	}
	if (item->entered) {
		if (array_reserve(cx, &u->sums, &u->room, u->depth + 1))
			return -ENOMEM;
		return measure_item(u, item, &u->sums[u->depth++]);
	}
	/* A file is counted under the first of its names. */
	if (le16_get(item->inode->i_links_count) > 1)
		ret = inoset_add(&u->linked, cx, item->ino);
	if (ret <= 0)
		return ret;
	ret = measure_item(u, item, &space);
	if (ret)
		return ret;
	add_to_parent(u, &space);
	return u->o->all || !item->depth ? du_add_row(u, item, &space) : 0;
}

static int show_usage(struct usage *u, struct root *root, const char *path)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct report *r = &u->tool->report;
	struct context *cx = &u->tool->cx;
	struct tree *tree = NULL;
	struct tree_item item;
	size_t i;
	int ret;

	if (!report_is_text(r))
		table_begin(&u->table, r, "usage", columns, COLUMNS);
	else if (u->o->shared)
		put_headings(u->tool->out);
	u->root = root;
	ret = tree_open(&tree, cx, root, path, &how);
	if (!ret && u->o->shared)
		ret = held_load(&u->held, cx, root->vol);
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0)
		ret = count_item(u, &item);
	tree_close(tree);
	if (ret)
		return ret;
	for (i = 0; i < u->count; i++)
		du_print_row(u, &u->rows[i]);
	if (!report_is_text(r))
		table_end(&u->table);
	return u->broken;
}

/*
 * The effect of deleting checkpoints: UNIQUE blocks are in no checkpoint afterwards;
 * FREED blocks are kept by a cleaner now, for snapshots, and not afterwards.
 */
struct freeing {
	struct held now, after;
	uint64_t unique, freed; /* blocks */
};

static int count_entry(void *arg, struct context *cx, unsigned int worker,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct freeing *f = arg;
	enum held_state now = held_state(&f->now, de), after;

	(void)cx;
	(void)worker;
	(void)vblocknr;
	if (now != HELD_SNAPSHOT && now != HELD_CHECKPOINT)
		return 0;
	after = held_state(&f->after, de);
	if (after == HELD_DEAD)
		__atomic_fetch_add(&f->unique, 1, __ATOMIC_RELAXED);
	if (now == HELD_SNAPSHOT && after != HELD_SNAPSHOT)
		__atomic_fetch_add(&f->freed, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Removes from the COUNT numbers of LIST those in RANGES, except LATEST.  Returns
   the new count. */
static size_t remove_ranges(uint64_t *list, size_t count,
			    struct range_set *ranges, uint64_t latest)
{
	size_t i, left = 0;

	for (i = 0; i < count; i++)
		if (!range_has(ranges, list[i]) || list[i] == latest)
			list[left++] = list[i];
	return left;
}

static int report_freed(struct tool *tool, const char *text)
{
	struct dump_image im = { .dev = NULL };
	struct range_set ranges = { .count = 0 };
	struct freeing f = { .unique = 0 };
	const struct datscan_visitor visitor = {
		.used = count_entry,
		.arg = &f,
	};
	struct held *now = &f.now, *after = &f.after;
	struct report *r = &tool->report;
	struct context *cx = &tool->cx;
	uint64_t latest;
	int err = range_parse_list(cx, "--free", text, &ranges);

	tool->bad_usage = err == -EINVAL;
	if (!err)
		err = image_open(&im, tool, tool->argv[0], NULL);
	if (!err)
		err = held_load(now, cx, im.vol);
	if (!err)
		err = held_load(after, cx, im.vol);
	if (err)
		goto out;
	latest = im.vol->latest.cno;
	after->count = remove_ranges(after->cnos, after->count, &ranges, latest);
	after->nsnapshots = remove_ranges(after->snapshots, after->nsnapshots,
					  &ranges, latest);
	err = range_check_met(cx, "checkpoint", &ranges);
	if (!err)
		err = datscan_run(im.vol, cx, &visitor);
	if (err)
		goto out;
	report_begin(r, "free", NULL);
	report_u64(r, "checkpoints", "Checkpoints", now->count - after->count);
	report_u64(r, "snapshots", "Snapshots",
		   now->nsnapshots - after->nsnapshots);
	report_u64(r, "unique_blocks", "Unique blocks", f.unique);
	report_u64(r, "freed_blocks", "Blocks freed", f.freed);
	report_size(r, "freed_bytes", "Space freed",
		    f.freed << im.vol->geo.block_bits);
	report_end(r);
out:
	held_free(now);
	held_free(after);
	range_set_free(&ranges);
	image_close(&im);
	return err;
}

static int du_run(struct tool *tool, const void *options)
{
	const struct du_options *o = options;
	struct usage u = { .tool = tool, .o = o };
	struct dump_image im = { .dev = NULL };
	int err;

	if (o->free && tool->argc > 1)
		return tool_usage(tool, "--free: not with a path");
	if (o->free)
		return report_freed(tool, o->free);
	err = image_open_root(&im, tool, tool->argv[0], o->checkpoint, false);
	if (!err)
		err = show_usage(&u, &im.root,
				 tool->argc > 1 ? tool->argv[1] : "/");
	while (u.count)
		free(u.rows[--u.count].copy);
	free(u.rows);
	held_free(&u.held);
	free(u.sums);
	inoset_fini(&u.linked);
	image_close(&im);
	return err;
}

#define AT(member) offsetof(struct du_options, member)

static const struct cli_option du_rows[] = {
	{ 'a', "all", NULL, "files too, not only directories", OPTION_FLAG,
	  AT(all) },
	{ 'd', "max-depth", "N", "directories N levels below PATH at most",
	  OPTION_U64, AT(depth) },
	{ 'n', "top", "N", "only the N largest, the largest first",
	  OPTION_U64, AT(top) },
	{ 's', "shared", NULL, "also the bytes in no other checkpoint",
	  OPTION_FLAG, AT(shared) },
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, AT(checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0, "free", "RANGES", "space that deleting these checkpoints would free",
	  OPTION_STRING, AT(free) },
	{ 0 },
};

static const struct du_options du_defaults = {
	.depth = UINT64_MAX,
};

const struct cli_command du_command = {
	.name = "du",
	.summary = "space of directories, and of checkpoints",
	.synopsis = "IMAGE [PATH]",
	.about =
	"Shows the bytes that each directory takes, with all below it; a file with\n"
	"several names is counted once.  With --shared, also the bytes that no other\n"
	"checkpoint has, and those that only snapshots keep.  With --free, the space\n"
	"that deleting checkpoints would free.",
	.options = du_rows,
	.options_size = sizeof(struct du_options),
	.defaults = &du_defaults,
	.min_args = 1,
	.max_args = 2,
	.run = du_run,
};
