// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cat: the content of files on standard output.
 *
 * A hole is skipped if standard output is a regular file, so that it stays a
 * hole; otherwise its zeros are written.  A file that cannot be read is reported,
 * and the next one follows.  One that is named by its number, and whose inode cannot be
 * read, is searched in the logs first.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/files/content.h"
#include "dump/history/damaged.h"
#include "dump/history/logged.h"
#include "vol/dir.h"

struct cat_options {
	uint64_t checkpoint;
	bool recover;
};

static const struct cli_option cat_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct cat_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0, "recover", NULL, "show files as the next mount would recover them",
	  OPTION_FLAG, offsetof(struct cat_options, recover) },
	{ 0 },
};

struct cat {
	struct tool *tool;
	char *buffer;
	bool seekable; /* holes may be skipped */
	bool skipped;  /* the output ends with a hole */
	/* Of a file that is searched in logs. */
	uint64_t ino;
	const char *path;
	bool found, resolved;
	bool broken;	/* the volume was opened without damaged metadata */
};

static const char zeroes[64 << 10];

/* Whether a seek on standard output leaves a hole. */
static bool can_seek(void)
{
	struct stat st;
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	off_t at = lseek(STDOUT_FILENO, 0, SEEK_CUR);

	return flags >= 0 && !(flags & O_APPEND) && at >= 0 &&
	       !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) &&
	       at >= st.st_size;
}

static int put_hole(struct cat *cat, uint64_t len)
{
	struct out *out = cat->tool->out;
	int err = 0;

	if (!len)
		return 0;
	if (cat->seekable) {
		out_flush(out);
		if (lseek(STDOUT_FILENO, (off_t)len, SEEK_CUR) < 0)
			return fail(&cat->tool->cx, -errno, "standard output");
		cat->skipped = true;
		return 0;
	}
	while (len && !out->error && !err) {
		size_t n = len < sizeof(zeroes) ? (size_t)len : sizeof(zeroes);

		out_bytes(out, zeroes, n);
		len -= n;
		err = context_cancelled(&cat->tool->cx);
	}
	return err;
}

static int put_content(struct cat *cat, struct content *content)
{
	struct context *cx = &cat->tool->cx;
	struct content_part part;
	uint64_t at = 0;
	int ret = 0, err;

	while (!cat->tool->out->error) {
		ret = content_next(content, cx, &part);
		if (ret <= 0)
			break;
		err = put_hole(cat, part.offset - at);
		if (err)
			return err;
		out_bytes(cat->tool->out, cat->buffer, part.len);
		cat->skipped = false;
		at = part.offset + part.len;
		err = context_cancelled(cx);
		if (err)
			return err;
	}
	return ret < 0 ? ret : put_hole(cat, content->size - at);
}

static int put_file(struct cat *cat, struct file *file, uint64_t ino)
{
	struct context *cx = &cat->tool->cx;
	struct content content;
	int err;

	if (S_ISDIR(le16_get(file->inode.i_mode)))
		return fail(cx, -EISDIR, "inode %llu", (unsigned long long)ino);
	if (!S_ISREG(le16_get(file->inode.i_mode)))
		return fail(cx, -EINVAL, "inode %llu: not a regular file",
			    (unsigned long long)ino);
	err = content_open(&content, cx, file, cat->buffer);
	if (!err)
		err = put_content(cat, &content);
	content_close(&content);
	return err;
}

/* Prints the file that was found; the search then finds no other. */
static int put_logged(void *arg, struct logged_file *file)
{
	struct cat *cat = arg;
	uint64_t size = le64_get(file->item->inode->i_size);

	if (file->item->ino != cat->ino || cat->found)
		return 0;
	cat->found = true;
	tool_warn(cat->tool, "%s: read from the logs, as of checkpoint %llu",
		  cat->path, (unsigned long long)file->cno);
	if (file->whole < size)
		tool_warn(cat->tool, "%s: %llu of its %llu bytes are lost, and "
			  "written as zeros", cat->path,
			  (unsigned long long)(size - file->whole),
			  (unsigned long long)size);
	return put_file(cat, &file->file, cat->ino);
}

/* The damage of other files does not matter. */
static void ignore_broken(void *arg, const char *path, size_t len, int err)
{
	struct cat *cat = arg;

	(void)path;
	(void)len;
	(void)err;
	fail_clear(&cat->tool->cx);
}

static int cat_file(struct cat *cat, struct root *root, const char *path)
{
	static const struct filter any = FILTER_ANY;
	struct context *cx = &cat->tool->cx;
	struct logged_search logs = {
		.filter = &any,
		.found = put_logged,
		.broken = ignore_broken,
		.arg = cat,
	};
	struct file file;
	int err = dir_resolve(root, cx, path, &cat->ino), failed;

	cat->resolved = !err;
	if (!err)
		err = root_file(root, cx, cat->ino, &file);
	if (!err)
		return put_file(cat, &file, cat->ino);
	if (*path != '<' || path[strlen(path) - 1] != '>' ||
	    (err != -EUCLEAN && err != -EIO && (err != -ENOENT || !cat->broken)))
		return err;
	tool_failed(cat->tool, path, err);
	logs.only = cat->ino;
	cat->path = path;
	cat->found = false;
	failed = logged_rescue(cx, root, &logs);
	if (!failed && !cat->found)
		failed = fail_said(cx, -ENOENT, "not in the logs, either");
	return failed ? failed : 1;
}

static int cat_run(struct tool *tool, const void *options)
{
	const struct cat_options *o = options;
	struct cat cat = {.tool = tool, .seekable = can_seek()};
	struct dump_image im = {.dev = NULL};
	char **path = tool->argv + 1;
	int status = 0, ret;
	off_t at;

	cat.buffer = malloc(CONTENT_BUFFER_SIZE);
	if (!cat.buffer)
		return fail(&tool->cx, -ENOMEM, "buffer");
	ret = image_open_root(&im, tool, tool->argv[0], o->checkpoint,
			      o->recover);
	if ((ret == -EUCLEAN || ret == -EIO) && !o->recover && **path == '<') {
		image_close(&im);
		fail_clear(&tool->cx);
		ret = damaged_open(&im, tool, tool->argv[0], o->checkpoint,
				   &cat.broken);
		status = cat.broken;
	}
	for (; !ret && *path && !tool->out->error; path++) {
		ret = cat_file(&cat, &im.root, *path);
		/* In JSON only a failure is a document; content of others is bytes. */
		if (!ret || ret == -EINTR || ret == -ENOMEM ||
		    (ret < 0 && tool->argc == 2 && !report_is_text(&tool->report)))
			continue;
		if (ret < 0)
			tool_failed(tool, cat.resolved ? *path : NULL, ret);
		status = 1;
		ret = 0;
	}
	/* A hole at the end exists only if the file has that length. */
	if (!ret && cat.skipped) {
		at = lseek(STDOUT_FILENO, 0, SEEK_CUR);
		if (at < 0 || ftruncate(STDOUT_FILENO, at))
			ret = fail(&tool->cx, -errno, "standard output");
	}
	image_close(&im);
	free(cat.buffer);
	return ret ? ret : status;
}

const struct cli_command cat_command = {
	.name = "cat",
	.summary = "the content of files",
	.synopsis = "IMAGE PATH...",
	.about = "Writes the files one after the other to standard output. "
		 "Paths begin at\nthe root of the volume; symbolic links are "
		 "not followed.",
	.options = cat_rows,
	.options_size = sizeof(struct cat_options),
	.min_args = 2,
	.max_args = TOOL_ANY_ARGS,
	.run = cat_run,
};
