// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * find: files by name and attributes, in one checkpoint or in all.
 *
 * One checkpoint is walked.  In all, the latest state is walked first; then each
 * checkpoint, the newest first, has the names that were removed since, which
 * the next newer one lacks.  Only what neighbours do not share is read.
 */
#include "dump/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pairtable.h"
#include "disk/inode.h"
#include "dump/dirchange.h"
#include "dump/filenames.h"
#include "dump/filter.h"
#include "dump/image.h"
#include "dump/listing.h"
#include "dump/removed.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/volume.h"

struct find_options {
	uint64_t checkpoint;
	bool all, deleted;
	bool details, inode, full_time;
	struct filter filter;
};

/* A pair of checkpoints that follow each other, and what was found. */
struct finder {
	struct tool *tool;
	const struct find_options *o;
	struct filter filter;
	struct listing *rows;
	struct root latest, newer, older;
	bool latest_broken;    /* that was reported */
	struct pairtable seen; /* hash of the path, and inode number */
	uint64_t dir;	       /* whose path is known; 0: none */
	char *path;
	size_t path_room, path_len, dir_len;
};

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS ||
	       err == -EPIPE;
}

static void report_checkpoint(struct finder *f, uint64_t cno, int err)
{
	char text[64];

	snprintf(text, sizeof(text), "checkpoint %llu",
		 (unsigned long long)cno);
	tool_failed(f->tool, text, err);
	f->rows->broken = true;
}

static int put_file(struct finder *f, const struct tree_item *item)
{
	f->rows->cno = f->rows->root->cno;
	listing_put(f->rows, item);
	return out_error(f->tool->out);
}

/* An item whose path ends with a NUL. */
static bool takes_item(const struct finder *f, const struct tree_item *item)
{
	return item->kind == TREE_ENTRY && item->inode &&
	       filter_takes(&f->filter, item->path, item->inode);
}

static int walk_files(struct finder *f, struct root *root)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct context *cx = &f->tool->cx;
	struct tree *tree = NULL;
	struct tree_item item;
	int ret = tree_open(&tree, cx, root, "/", &how);

	f->rows->root = root;
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind == TREE_BROKEN) {
			image_file_failed(f->tool, item.path, item.path_len,
					  item.error);
			f->rows->broken = true;
		} else if (takes_item(f, &item)) {
			ret = put_file(f, &item);
		}
	}
	tree_close(tree);
	return ret;
}

/* Sets the path of ENTRY, which the older checkpoint has. */
static int set_path(struct finder *f, struct context *cx,
		    const struct removed_entry *e)
{
	int err;

	if (f->dir != e->dir) {
		err = filenames_path(&f->older, cx, e->dir, e->name, e->len,
				     &f->path, &f->path_room, &f->path_len);
		f->dir = err ? 0 : e->dir;
		f->dir_len = f->path_len - e->len;
		return err;
	}
	if (array_reserve(cx, &f->path, &f->path_room,
			  f->dir_len + e->len + 1))
		return -ENOMEM;
	memcpy(f->path + f->dir_len, e->name, e->len);
	f->path_len = f->dir_len + e->len;
	f->path[f->path_len] = '\0';
	return 0;
}

/* Whether ROOT has the file that is INODE in the older checkpoint. */
static int has_file(struct root *root, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode)
{
	struct nilfs_inode other;
	int ret = root_inode(root, cx, ino, &other);

	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	return ret ? ret : inode_is_same_file(inode, &other);
}

/*
 * Whether the latest state has the path, whichever file that is.  What cannot be
 * read there is reported once, and does not hide what is elsewhere.
 */
static int has_path(struct finder *f, struct context *cx, uint64_t *ino)
{
	int err = dir_resolve(&f->latest, cx, f->path, ino);

	if (!err || is_fatal(err))
		return err ? err : 1;
	if (err != -ENOENT && err != -ENOTDIR && !f->latest_broken) {
		report_checkpoint(f, f->latest.cno, err);
		f->latest_broken = true;
	}
	fail_clear(cx);
	return 0;
}

/* A deleted file: neither the next checkpoint nor the latest state has it. */
static int is_deleted(struct finder *f, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode)
{
	int ret = has_file(&f->newer, cx, ino, inode);

	if (!ret)
		ret = has_file(&f->latest, cx, ino, inode);
	return ret < 0 ? ret : !ret;
}

/* Adds the path to those that were found: 1 if it is new. */
static int is_new(struct finder *f, struct context *cx, uint64_t ino)
{
	uint64_t hash = removed_hash(f->path, f->path_len);
	int err;

	if (pairtable_find(&f->seen, hash, ino))
		return 0;
	err = pairtable_add(&f->seen, cx, hash, ino, 1);
	return err ? err : 1;
}

/* Whether the entry, whose path is set, is one to look for: 1 or 0. */
static int is_wanted(struct finder *f, struct context *cx,
		     const struct removed_entry *e,
		     const struct nilfs_inode *inode)
{
	uint64_t ino;
	int ret;

	if (!filter_takes(&f->filter, f->path, inode))
		return 0;
	ret = has_path(f, cx, &ino);
	if (ret > 0 && (f->o->deleted || ino == e->ino))
		return 0;
	return ret < 0 ? ret : is_new(f, cx, e->ino);
}

static int put_removed(struct finder *f, const struct removed_entry *e,
		       const struct nilfs_inode *inode)
{
	const struct tree_item item = {
		.kind = TREE_ENTRY,
		.path = f->path,
		.path_len = f->path_len,
		.name = f->path + f->dir_len,
		.name_len = f->path_len - f->dir_len,
		.ino = e->ino,
		.type = inode_dirent_type(le16_get(inode->i_mode)),
		.inode = inode,
	};

	return put_file(f, &item);
}

static int look_at_removed(struct finder *f, struct context *cx,
			   const struct removed_entry *e)
{
	struct nilfs_inode inode;
	int ret = root_inode(&f->older, cx, e->ino, &inode);

	if (!ret && f->o->deleted)
		ret = is_deleted(f, cx, e->ino, &inode);
	else if (!ret)
		ret = 1;
	if (ret <= 0)
		return ret;
	ret = set_path(f, cx, e);
	if (!ret)
		ret = is_wanted(f, cx, e, &inode);
	return ret > 0 ? put_removed(f, e, &inode) : ret;
}

static int found_removed(void *arg, struct context *cx,
			 const struct removed_entry *e)
{
	struct finder *f = arg;
	int err;

	if (!filter_takes_name(&f->filter, e->name, e->len))
		return 0;
	err = look_at_removed(f, cx, e);
	if (!err || is_fatal(err))
		return err;
	report_checkpoint(f, f->older.cno, err);
	return 0;
}

static void broken_directory(void *arg, uint64_t dir, int err)
{
	struct finder *f = arg;

	(void)dir;
	report_checkpoint(f, f->older.cno, err);
}

/* The names that checkpoint CNO has and the next newer one lacks. */
static int compare_checkpoint(struct finder *f, uint64_t cno)
{
	const struct removed_sink sink = { found_removed, broken_directory,
					   f };
	struct context *cx = &f->tool->cx;
	int err = root_open(&f->older, cx, f->latest.vol, cno);
	bool opened = !err;

	f->rows->root = &f->older;
	f->dir = 0;
	if (!err && !dirchange_is_same_map(&f->older.cp.cp_ifile_inode,
					   &f->newer.cp.cp_ifile_inode))
		err = removed_run(cx, &f->older, &f->newer, &sink);
	if (err && is_fatal(err))
		return err;
	if (err)
		report_checkpoint(f, cno, err);
	if (opened)
		f->newer = f->older;
	return context_cancelled(cx);
}

static int search_checkpoints(struct finder *f)
{
	uint64_t *cnos;
	size_t count, i;
	int err = cptable_list(f->latest.vol, &f->tool->cx, false, &cnos,
			       &count);

	f->newer = f->latest;
	for (i = count; i-- > 0 && !err;)
		if (cnos[i] < f->latest.cno)
			err = compare_checkpoint(f, cnos[i]);
	free(cnos);
	return err;
}

static int search_files(struct finder *f)
{
	int err = 0;

	listing_begin(f->rows);
	if (!f->o->deleted)
		err = walk_files(f, &f->latest);
	if (!err && (f->o->all || f->o->deleted))
		err = search_checkpoints(f);
	if (!err)
		listing_end(f->rows);
	return err;
}

static int run_finder(struct finder *f)
{
	struct dump_image im = { .dev = NULL };
	int err = image_open_root(&im, f->tool, f->tool->argv[0],
				  f->o->checkpoint, false);

	f->latest = im.root;
	if (!err)
		err = search_files(f);
	image_close(&im);
	if (err)
		return err;
	return f->rows->broken;
}

static int find_run(struct tool *tool, const void *options)
{
	const struct find_options *o = options;
	struct finder f = { .tool = tool, .o = o, .filter = o->filter };
	int err;

	if (o->checkpoint && (o->all || o->deleted))
		return tool_usage(tool, "--checkpoint: not with --all or --deleted");
	f.rows = calloc(1, sizeof(*f.rows));
	if (!f.rows)
		return fail(&tool->cx, -ENOMEM, "listing");
	f.filter.pattern = tool->argc > 1 ? tool->argv[1] : NULL;
	f.rows->tool = tool;
	f.rows->recursive = true;
	f.rows->inode = o->inode;
	f.rows->full_time = o->full_time;
	f.rows->details = o->details || o->full_time ||
			  !report_is_text(&tool->report);
	f.rows->checkpoints = o->all || o->deleted ||
			      !report_is_text(&tool->report);
	err = run_finder(&f);
	pairtable_fini(&f.seen);
	listing_fini(f.rows);
	free(f.rows);
	free(f.path);
	return err;
}

#define AT(member) offsetof(struct find_options, member)

static const struct cli_option find_rows[] = {
	{ 'c', "checkpoint", "CNO", "look at this checkpoint (0: the latest)",
	  OPTION_U64, AT(checkpoint) },
	{ 'a', "all", NULL, "in all checkpoints", OPTION_FLAG, AT(all), 1 },
	{ 'd', "deleted", NULL, "what the latest state lacks", OPTION_FLAG,
	  AT(deleted), 1 },
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
	"Lists the files whose name fits PATTERN, as the shell's *, ? and []; the path if\n"
	"it has a slash.  With --all and --deleted, each entry as of the newest\n"
	"checkpoint that has it; export -c with its number gets it.",
	.options = find_rows,
	.options_size = sizeof(struct find_options),
	.defaults = &find_defaults,
	.min_args = 1,
	.max_args = 2,
	.run = find_run,
};
