// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export to a tar stream.
 *
 * A sparse file begins with its map: the number of its runs, then the offset
 * and length of each.  The map of the file is walked once to measure, once to
 * write that, once to copy; so it may have any number of runs, and none is
 * kept.
 *
 * The size in a header is always followed by as many bytes: content that cannot
 * be read is replaced by zeros, and the file is reported as broken.
 */
#include "config.h"

#include "dump/export/export_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "dump/export/pax.h"
#include "dump/export/tar_stream.h"
#include "out/number.h"

struct export_tar {
	struct export_sink sink;
	struct tar_stream *stream;
	struct pax pax;
};

static struct export_tar *tar_of(struct export_sink *sink)
{
	return (struct export_tar *)sink;
}

static struct pax_entry entry_of(const struct export_file *file,
				 enum pax_type type)
{
	const struct nilfs_inode *inode = file->inode;
	struct inode_time mtime = inode_mtime(inode);

	return (struct pax_entry){
		.type = type,
		.path = file->path,
		.mode = le16_get(inode->i_mode) & ~(uint32_t)S_IFMT,
		.uid = le32_get(inode->i_uid),
		.gid = le32_get(inode->i_gid),
		.mtime = mtime.sec,
		.mtime_nsec = mtime.nsec,
	};
}

static int tar_enter(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_tar *t = tar_of(sink);
	struct pax_entry entry = entry_of(file, PAX_DIRECTORY);

	if (!*file->path)
		entry.path = ".";
	return pax_put(&t->pax, cx, t->stream, &entry);
}

static int tar_leave(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	(void)sink;
	(void)cx;
	(void)file;
	return 0;
}

/* The form of a file in the stream, before it is written. */
struct measures {
	uint64_t runs;
	uint64_t data; /* bytes in them */
	uint64_t map;  /* bytes of their text */
	bool tail;     /* the file ends in a hole */
};

static uint64_t round_up(uint64_t v)
{
	return (v + PAX_UNIT - 1) / PAX_UNIT * PAX_UNIT;
}

/* Bytes of a line for each of the two numbers. */
static uint64_t line_bytes(uint64_t offset, uint64_t len)
{
	return number_digits(offset) + number_digits(len) + 2;
}

static int measure(struct context *cx, struct file *file, struct measures *m)
{
	struct content_piece run = {.offset = 0};
	struct content content;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = content_open(&content, cx, file, NULL);
	while (!ret) {
		ret = content_next_run(&content, cx, &run);
		if (ret <= 0)
			break;
		m->runs++;
		m->data += run.len;
		m->map += line_bytes(run.offset, run.len);
		ret = context_cancelled(cx);
	}
	content_close(&content);
	m->tail = run.offset + run.len < content.size;
	if (m->tail) {
		m->runs++;
		m->map += line_bytes(content.size, 0);
	}
	m->map += number_digits(m->runs) + 1;
	return ret;
}

static int put_line(struct export_tar *t, struct context *cx, uint64_t v)
{
	char text[21], *end = number_u64(text, v);

	*end++ = '\n';
	return tar_stream_put(t->stream, cx, text, (size_t)(end - text));
}

static int put_run(struct export_tar *t, struct context *cx, uint64_t offset,
		   uint64_t len)
{
	int err = put_line(t, cx, offset);

	return err ? err : put_line(t, cx, len);
}

static int put_map(struct export_tar *t, struct context *cx, struct file *file,
		   const struct measures *m)
{
	struct content_piece run;
	struct content content;
	int ret;

	ret = content_open(&content, cx, file, NULL);
	if (!ret)
		ret = put_line(t, cx, m->runs);
	while (!ret) {
		ret = content_next_run(&content, cx, &run);
		if (ret <= 0)
			break;
		ret = put_run(t, cx, run.offset, run.len);
	}
	content_close(&content);
	if (!ret && m->tail)
		ret = put_run(t, cx, content.size, 0);
	return ret ? ret : tar_stream_align(t->stream, cx, PAX_UNIT);
}

/* Copies the runs one after the other; holes are not in the stream. */
static int put_content(struct export_tar *t, struct context *cx,
		       struct content *content, uint64_t promised)
{
	struct content_piece piece;
	uint64_t done = 0;
	int ret, err;

	for (;;) {
		ret = content_next(content, cx, &piece);
		if (ret <= 0 || piece.len > promised - done)
			break;
		err = tar_stream_put(t->stream, cx, content->buffer, piece.len);
		if (!err)
			err = context_cancelled(cx);
		if (err)
			return err;
		done += piece.len;
		export_sink_count(&t->sink, piece.len);
	}
	if (ret >= 0 && done < promised)
		ret = fail(cx, -ESTALE, "file changed while it was read");
	err = tar_stream_put_zeroes(t->stream, cx, promised - done);
	if (!err)
		err = tar_stream_align(t->stream, cx, PAX_UNIT);
	return err ? err : -ret;
}

static int put_regular(struct export_tar *t, struct context *cx,
		       const struct export_file *file)
{
	struct content *content = file->content;
	struct pax_entry entry = entry_of(file, PAX_FILE);
	struct measures m;
	int err = measure(cx, content->file, &m);

	if (err)
		return err == -ENOMEM || err == -EINTR ? err : -err;
	entry.sparse = m.data < content->size;
	entry.real_size = content->size;
	entry.size = entry.sparse ? round_up(m.map) + m.data : m.data;
	err = pax_put(&t->pax, cx, t->stream, &entry);
	if (!err && entry.sparse)
		err = put_map(t, cx, content->file, &m);
	return err ? err : put_content(t, cx, content, m.data);
}

static enum pax_type type_of(const struct export_file *file)
{
	switch (le16_get(file->inode->i_mode) & S_IFMT) {
	case S_IFLNK:
		return PAX_SYMLINK;
	case S_IFCHR:
		return PAX_CHARACTER;
	case S_IFBLK:
		return PAX_BLOCK;
	default:
		return PAX_FIFO;
	}
}

static int put_other(struct export_tar *t, struct context *cx,
		     const struct export_file *file)
{
	struct pax_entry entry = entry_of(file, type_of(file));

	entry.link = file->target;
	if (inode_has_rdev(file->inode))
		inode_rdev(file->inode, &entry.major, &entry.minor);
	return pax_put(&t->pax, cx, t->stream, &entry);
}

static int put_link(struct export_tar *t, struct context *cx,
		    const struct export_file *file)
{
	struct pax_entry entry = entry_of(file, PAX_HARD_LINK);

	entry.link = file->linked;
	return pax_put(&t->pax, cx, t->stream, &entry);
}

static int tar_put(struct export_sink *sink, struct context *cx,
		   const struct export_file *file)
{
	struct export_tar *t = tar_of(sink);
	mode_t mode = le16_get(file->inode->i_mode);

	if (S_ISSOCK(mode)) {
		sink->tally.losses[EXPORT_LOSS_SOCKET]++;
		return 0;
	}
	if (file->linked)
		return put_link(t, cx, file);
	return S_ISREG(mode) ? put_regular(t, cx, file)
			     : put_other(t, cx, file);
}

/*
 * A whiteout as the image specification of the Open Container Initiative has
 * it: an empty file beside the path, its name after ".wh.".
 */
static int tar_remove(struct export_sink *sink, struct context *cx,
		      const char *path)
{
	struct export_tar *t = tar_of(sink);
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash + 1 - path) : 0;
	struct pax_entry entry = {.type = PAX_FILE};
	char *name;
	int err;

	if (asprintf(&name, "%.*s" PAX_WHITEOUT "%s", dir, path,
		     path + dir) < 0)
		return fail(cx, -ENOMEM, "%s", path);
	entry.path = name;
	err = pax_put(&t->pax, cx, t->stream, &entry);
	free(name);
	return err;
}

static int tar_finish(struct export_sink *sink, struct context *cx)
{
	struct export_tar *t = tar_of(sink);
	int err = pax_end(cx, t->stream);

	return err ? err : tar_stream_finish(t->stream, cx);
}

static void tar_close(struct export_sink *sink)
{
	struct export_tar *t = tar_of(sink);

	tar_stream_close(t->stream);
	pax_fini(&t->pax);
	free(t);
}

static const struct export_ops tar_ops = {
	.enter = tar_enter,
	.leave = tar_leave,
	.put = tar_put,
	.remove = tar_remove,
	.finish = tar_finish,
	.close = tar_close,
};

int export_tar_open(struct export_sink **sink, struct context *cx,
		    const char *path)
{
	struct export_tar *t = calloc(1, sizeof(*t));
	int err;

	*sink = NULL;
	if (!t)
		return fail(cx, -ENOMEM, "%s", path);
	t->sink.ops = &tar_ops;
	err = tar_stream_open(&t->stream, cx, path);
	if (err)
		tar_close(&t->sink);
	else
		*sink = &t->sink;
	return err;
}
