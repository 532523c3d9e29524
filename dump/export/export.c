// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * export: a whole checkpoint, or the files below a path of it, to a directory
 * or a tar stream.
 *
 * Each deleted file is exported from the last checkpoint that has it, or from
 * logs if no checkpoint has it.  Of a damaged checkpoint all inodes are exported,
 * under the names that are left.
 *
 * This file walks the tree and finds the type of each file; the sinks create
 * them (export_dir.c, export_tar.c).  Layers are in export_since.c.  Files that cannot be read, or have invalid
 * names, are reported and skipped.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/export/export_put.h"
#include "dump/export/export_since.h"
#include "dump/export/tar_stream.h"
#include "dump/history/damaged.h"
#include "dump/history/filter.h"
#include "dump/history/logged.h"
#include "dump/history/lost.h"
#include "out/table.h"
#include "vol/cptable.h"
#include "vol/volume.h"

struct export_options {
	uint64_t checkpoint;
	uint64_t since;
	bool recover;
	bool deleted, inodes;
	bool each;
	bool force;
};

static const struct cli_option export_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "export this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct export_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0, "since", "CNO",
	  "only what differs from checkpoint CNO, as a container layer",
	  OPTION_CALL, offsetof(struct export_options, since), 1, 0,
	  NULL, moment_parse },
	{ 0, "each-snapshot", NULL,
	  "each snapshot as a layer over the one before it, to files in DIR",
	  OPTION_FLAG, offsetof(struct export_options, each) },
	{ 0, "deleted", NULL, "files that were deleted, as find --deleted",
	  OPTION_FLAG, offsetof(struct export_options, deleted), 1 },
	{ 0, "inodes", NULL, "all inodes of a damaged checkpoint, named or not",
	  OPTION_FLAG, offsetof(struct export_options, inodes), 1 },
	{ 0, "force", NULL, "replace FILE.tar if it exists", OPTION_FLAG,
	  offsetof(struct export_options, force) },
	{ 0, "recover", NULL, "export what the next mount would recover",
	  OPTION_FLAG, offsetof(struct export_options, recover) },
	{ 0 },
};

static int export_put_entry(struct export *e, const struct tree_item *item)
{
	struct context *cx = &e->tool->cx;
	struct export_file file;
	bool dots = false;
	int ret;

	if (item->depth && !tree_name_is_sane(item->name, item->name_len)) {
		tree_skip(e->tree);
		return -fail(cx, -EUCLEAN, "not a name of a file");
	}
	if (item->depth &&
	    export_names_meet(&e->names, item->name, item->name_len)) {
		tree_skip(e->tree);
		return -fail(cx, -EUCLEAN, "the directory has this name twice; "
			     "the first one was exported");
	}
	export_put_describe(e, item, &file);
	if (!S_ISDIR(le16_get(item->inode->i_mode))) {
		ret = export_put_file(e, &file);
		e->sink->tally.files += !ret;
		return ret;
	}
	ret = e->sink->ops->enter(e->sink, cx, &file);
	if (ret) {
		tree_skip(e->tree);
		return ret;
	}
	ret = file_init(&e->file, cx, e->root->vol, file.ino, file.inode);
	/* The walk reports a broken map. */
	if (ret == -EUCLEAN || ret == -EIO)
		fail_clear(cx);
	ret = export_names_enter(&e->names, cx, &e->file, &dots);
	if (ret)
		return ret;
	if (dots)
		return -fail(cx, -EUCLEAN, "has \".\" or \"..\" twice, or for "
			     "another directory, which is left out");
	e->sink->tally.files++;
	return 0;
}

static int walk_tree(struct export *e, const char *path)
{
	const struct tree_options how = {.recursive = true, .inodes = true};
	struct context *cx = &e->tool->cx;
	struct export_file file;
	struct tree_item item;
	int ret;

	ret = tree_open(&e->tree, cx, e->root, path, &how);
	while (!ret && (ret = tree_next(e->tree, cx, &item)) > 0) {
		if (item.kind == TREE_BROKEN) {
			ret = -item.error;
		} else if (item.kind == TREE_LEAVE) {
			export_put_describe(e, &item, &file);
			export_names_leave(&e->names);
			ret = e->sink->ops->leave(e->sink, cx, &file);
		} else {
			ret = export_put_entry(e, &item);
		}
		ret = export_put_note(e, item.path, item.path_len, ret);
	}
	tree_close(e->tree);
	return ret;
}

static int put_deleted(void *arg, struct root *root,
		       const struct tree_item *item)
{
	struct export *e = arg;
	struct context *cx = &e->tool->cx;
	bool directory = S_ISDIR(le16_get(item->inode->i_mode));
	const char *at = item->path, *end = at + item->path_len;
	struct export_file file;
	const char *slash;
	size_t len;
	int ret = 0;

	e->root = root;
	for (; at < end && !ret; at += len) {
		at += *at == '/';
		len = strcspn(at, "/");
		if (!tree_name_is_sane(at, len))
			ret = -fail(cx, -EUCLEAN, "not a name of a file");
	}
	export_put_describe(e, item, &file);
	if (!ret)
		ret = export_paths_give(&e->given, cx, file.path, directory,
					&file.path);
	slash = strrchr(file.path, '/');
	file.name = slash ? slash + 1 : file.path;
	if (!ret && directory)
		ret = export_paths_add(&e->given, cx, &file);
	else if (!ret)
		ret = export_paths_go(&e->given, cx, e->sink, file.path,
				      slash ? (size_t)(slash - file.path) : 0);
	if (!ret && !directory)
		ret = export_put_file(e, &file);
	if (!ret)
		e->sink->tally.files++;
	return export_put_note(e, item->path, item->path_len, ret);
}

/* Exports a file from logs, which may be incomplete. */
static int put_logged(void *arg, struct logged_file *file)
{
	struct export *e = arg;
	const struct tree_item *item = file->item;
	uint64_t size = le64_get(item->inode->i_size);
	int ret;

	if (file->whole < size) {
		ret = fail_said(&e->tool->cx, -EUCLEAN,
				"%llu of its %llu bytes are lost, and exported "
				"as zeros",
				(unsigned long long)(size - file->whole),
				(unsigned long long)size);
		export_put_note(e, item->path, item->path_len, -ret);
	}
	e->found = &file->file;
	ret = put_deleted(e, e->root, item);
	e->found = NULL;
	return ret;
}

/* Reports the kinds of losses in the target; true if there are any. */
static bool report_losses(struct export *e, const struct export_options *o)
{
	static const char *const texts[EXPORT_LOSS_COUNT] = {
		[EXPORT_LOSS_OWNER] = "owner and group not kept",
		[EXPORT_LOSS_SETID] = "set-user-ID and set-group-ID not kept, "
				      "because the owner differs",
		[EXPORT_LOSS_DEVICE] = "device files not made",
		[EXPORT_LOSS_SOCKET] = "sockets left out: tar has none",
		[EXPORT_LOSS_TIME] = "times not kept exactly, out of the "
				     "target's range",
	};
	const struct export_tally *tally = &e->sink->tally;
	char size[VALUE_TEXT_MAX];
	bool any = false;
	int i;

	for (i = 0; i < EXPORT_LOSS_COUNT; i++) {
		if (!tally->losses[i])
			continue;
		any = true;
		tool_warn(e->tool, "%s (files: %llu)", texts[i],
			  (unsigned long long)tally->losses[i]);
	}
	if (e->broken)
		tool_warn(e->tool, "%llu file%s missing or incomplete%s",
			  (unsigned long long)e->broken,
			  e->broken == 1 ? "" : "s",
			  o->deleted || o->inodes ? "" :
			  "; --inodes also saves files without a path");
	tool_detail(e->tool, "%llu files with %s of content exported",
		    (unsigned long long)tally->files,
		    value_size_text(e->tool->out, tally->bytes, size));
	return any || e->broken;
}

static void checkpoint_broken(void *arg, uint64_t cno, int err)
{
	struct export *e = arg;

	image_checkpoint_failed(e->tool, cno, err);
	e->broken++;
}

static int export_to(struct export *e, const char *target, char *path,
		     const struct export_options *o)
{
	struct tool *tool = e->tool;
	const char *const inputs[] = {tool->argv[0], NULL};
	const struct output_how how = {
		.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.stream = true,
		.inputs = inputs,
	};
	struct filter filter = FILTER_ANY;
	const struct lost_search deleted = {
		.filter = &filter,
		.deleted = true,
		.found = put_deleted,
		.broken = checkpoint_broken,
		.arg = e,
	};
	const struct logged_search logs = {
		.filter = &filter,
		.found = put_logged,
		.broken = export_put_broken,
		.arg = e,
	};
	struct context *cx = &tool->cx;
	struct root *root = e->root;
	uint64_t blocks = path ? 0 : le64_get(e->root->cp.cp_blocks_count);
	int ret;

	ret = tar_stream_is_meant(target)
		      ? export_tar_open(&e->sink, cx, target, &how,
					e->comment[0] ? e->comment : NULL)
		      : export_dir_open(&e->sink, cx, target);
	if (ret)
		return ret;
	e->sink->progress = &tool->progress;
	progress_begin(&tool->progress, "export",
		       blocks << e->root->vol->geo.block_bits, true);
	if (o->deleted || o->inodes) {
		filter_set_pattern(&filter, path);
		ret = o->inodes ? logged_rescue(cx, root, &logs)
				: lost_run(cx, root, &deleted);
		e->root = root;
		if (!ret && o->deleted)
			ret = logged_run(cx, root, &logs);
		if (!ret)
			ret = export_paths_put(&e->given, cx, e->sink,
					       export_put_broken, e);
	} else if (e->base) {
		ret = export_since(e);
	} else {
		ret = walk_tree(e, path ? path : "/");
	}
	if (!ret && e->sink->ops->finish)
		ret = e->sink->ops->finish(e->sink, cx);
	progress_end(&tool->progress);
	if (!ret)
		ret = report_losses(e, o);
	e->tally = e->sink->tally;
	e->sink->ops->close(e->sink);
	return ret;
}

enum { FILE_NAME, SINCE, CNO, CREATED, FILES, BYTES, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FILE_NAME] = { "file", "FILE", VALUE_STRING, 24 },
	[SINCE] = { "since", "SINCE", VALUE_U64, 8 },
	[CNO] = { "checkpoint", "CNO", VALUE_U64, 8 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 25 },
	[FILES] = { "files", "FILES", VALUE_U64, 9 },
	[BYTES] = { "bytes", "CONTENT", VALUE_SIZE, 10 },
};

/* Exports e->root as layer N of DIR, and adds its row to TABLE. */
static int export_layer(struct export *e, const char *dir, unsigned int n,
			const struct export_options *o, struct table *table)
{
	struct tool *tool = e->tool;
	int ret = e->base ? export_since_mark(e) : 0;
	char *path;

	pairtable_fini(&e->links);
	e->paths_used = 0;
	if (ret)
		return ret;
	if (asprintf(&path, "%s/%04u-%llu.tar", dir, n,
		     (unsigned long long)e->root->cno) < 0)
		return fail(&tool->cx, -ENOMEM, "%s", dir);
	ret = export_to(e, path, NULL, o);
	if (ret >= 0 && !(tool->quiet && report_is_text(&tool->report)))
		table_row(table, (struct value[]){
			[FILE_NAME] = value_string(path),
			[SINCE] = e->base ? value_u64(e->base->cno)
					  : value_absent(),
			[CNO] = value_u64(e->root->cno),
			[CREATED] = value_u64(le64_get(e->root->cp.cp_create)),
			[FILES] = value_u64(e->tally.files),
			[BYTES] = value_u64(e->tally.bytes),
		});
	free(path);
	return ret;
}

/*
 * Exports the snapshots after e->base, up to e->root: the first one as what differs
 * from e->base, or whole if there is none.
 */
static int export_each(struct export *e, const char *dir,
		       const struct export_options *o)
{
	struct tool *tool = e->tool;
	struct context *cx = &tool->cx;
	struct volume *vol = e->root->vol;
	uint64_t *cnos, last = e->root->cno;
	struct table table = { 0 };
	struct root roots[2];
	size_t count, i;
	unsigned int n = 0;
	int status = 0, ret = cptable_list(vol, cx, true, &cnos, &count);

	if (!ret && mkdir(dir, 0777) && errno != EEXIST)
		ret = fail(cx, -errno, "%s", dir);
	if (!ret && !(tool->quiet && report_is_text(&tool->report)))
		table_begin(&table, &tool->report, "layers", columns, COLUMNS);
	for (i = 0; i < count && ret >= 0 && cnos[i] <= last; i++) {
		if (e->base && cnos[i] <= e->base->cno)
			continue;
		e->root = &roots[n++ % 2];
		ret = root_open(e->root, cx, vol, cnos[i]);
		if (!ret)
			ret = export_layer(e, dir, n, o, &table);
		e->base = e->root;
		status |= ret > 0;
	}
	if (ret >= 0 && !n)
		ret = fail(cx, -ENOENT, "--each-snapshot: no snapshot there");
	if (table.report)
		table_end(&table);
	free(cnos);
	return ret < 0 ? ret : status;
}

static int export_run(struct tool *tool, const void *options)
{
	const struct export_options *o = options;
	struct dump_image im = {.dev = NULL};
	struct root base;
	bool broken = false;
	struct export *e = calloc(1, sizeof(*e));
	int ret;

	if (o->since && tool->argc > 2)
		ret = tool_usage(tool, "--since: not with a path");
	else if (o->each && (tool->argc > 2 || o->deleted || o->inodes ||
			     o->recover))
		ret = tool_usage(tool, "--each-snapshot: only with -c and --since");
	else if (o->each && tar_stream_is_meant(tool->argv[1]))
		ret = tool_usage(tool, "--each-snapshot: needs a directory");
	else if (o->since && !o->each && !tar_stream_is_meant(tool->argv[1]))
		ret = tool_usage(tool, "--since: needs a tar stream");
	else if (o->force && !o->each && !tar_stream_is_meant(tool->argv[1]))
		ret = tool_usage(tool, "--force: replaces no directory");
	else if (o->deleted && (o->checkpoint || o->recover))
		ret = tool_usage(tool, "--deleted: not with a checkpoint");
	else if (o->inodes && (o->deleted || o->since || o->recover))
		ret = tool_usage(tool, "--inodes: not with --deleted, --since or --recover");
	else
		ret = 0;
	if (ret || !e) {
		free(e);
		return ret ? ret : fail(&tool->cx, -ENOMEM, "export");
	}
	e->tool = tool;
	e->root = &im.root;
	e->buffer = malloc(CONTENT_BUFFER_SIZE);
	e->patient = o->inodes;
	if (!e->buffer)
		ret = fail(&tool->cx, -ENOMEM, "buffer");
	else if (o->inodes)
		ret = damaged_open(&im, tool, tool->argv[0],
					 o->checkpoint, &broken);
	else
		ret = image_open_root(&im, tool, tool->argv[0], o->checkpoint,
				      o->recover);
	if (!ret && o->since) {
		e->base = &base;
		ret = image_root(&base, &tool->cx, im.vol, o->since);
		if (!ret)
			ret = o->each ? 0 : export_since_mark(e);
	}
	if (!ret && o->each)
		ret = export_each(e, tool->argv[1], o);
	else if (!ret)
		ret = export_to(e, tool->argv[1],
				tool->argc > 2 ? tool->argv[2] : NULL, o);
	if (!ret && broken)
		ret = 1;
	image_close(&im);
	pairtable_fini(&e->links);
	export_paths_fini(&e->given);
	free(e->paths);
	export_names_fini(&e->names);
	free(e->buffer);
	free(e);
	return ret;
}

const struct cli_command export_command = {
	.name = "export",
	.summary = "export files to a directory or a tar stream",
	.synopsis = "IMAGE DIR|FILE.tar|- [PATH]",
	.about =
		"Exports a whole checkpoint, or what is below PATH, to the "
		"directory DIR, which\nmust be empty or not there, or to a tar "
		"stream: FILE.tar (.tar.gz, .tar.bz2,\n.tar.xz, .tar.zst, "
		".tar.lz4: compressed), or - for standard output.\n"
		"With --since only what differs from an older checkpoint, as "
		"a layer of a\ncontainer image; with --deleted deleted files, "
		"PATH being a pattern as of find;\nthe older ones at one path "
		"are numbered.  With --inodes what is left of a\ndamaged "
		"checkpoint, as find --inodes lists it.  With --each-snapshot a "
		"layer for\neach snapshot, DIR/0001-CNO.tar and so on.",
	.options = export_rows,
	.options_size = sizeof(struct export_options),
	.min_args = 2,
	.max_args = 3,
	.run = export_run,
};
