// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A volume on a failing device.
 *
 * Each read of a device with bad sectors takes long and may be the last one that
 * works, so it is read once, in large pieces, and small ones where these fail;
 * everything else is done with the copy.  Where ddrescue has made the copy
 * already, its map file says what it lacks.
 */
#include "fsck/rescue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/zeros.h"
#include "dev/badareas.h"
#include "dev/devfile.h"

#define PIECE (1u << 20)
#define SMALL_PIECE 4096u

/* The number at *TEXT, in C's notation, and steps past it. */
static bool take_number(char **text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(*text, &end, 0);
	if (end == *text || errno || strchr(*text, '-') == *text)
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

/* Parsing of a map file. */
struct mapfile {
	const char *path;
	unsigned int line;
	bool begun;		/* the line of the current position was read */
	uint64_t end;		/* of what was mentioned so far */
};

static int fail_line(const struct mapfile *m, struct context *cx)
{
	return fail(cx, -EBADMSG, "%s: line %u: not of a ddrescue map file",
		    m->path, m->line);
}

/* Adds [FROM, END), as far as the device goes. */
static int add_area(struct dev *bad, struct context *cx, uint64_t from,
		    uint64_t end)
{
	if (end > bad->size)
		end = bad->size;
	return from < end ? badareas_add(bad, cx, from, end - from) : 0;
}

/* "POSITION STATUS ...", where ddrescue was, comes before the list. */
static int take_position(struct mapfile *m, struct context *cx, char *text)
{
	uint64_t pos;

	m->begun = true;
	if (!take_number(&text, &pos) || !*text || !strchr("?*/-FG+", *text))
		return fail_line(m, cx);
	return 0;
}

/* "POSITION SIZE STATUS" of an area, ascending. */
static int take_area(struct mapfile *m, struct context *cx, struct dev *bad,
		     char *text)
{
	uint64_t pos, size, end;
	int err;

	if (!take_number(&text, &pos) || !take_number(&text, &size) ||
	    !*text || !strchr("?*/-+", *text) || pos < m->end ||
	    __builtin_add_overflow(pos, size, &end))
		return fail_line(m, cx);
	err = add_area(bad, cx, m->end, pos);
	if (!err && *text != '+')
		err = add_area(bad, cx, pos, end);
	m->end = end;
	return err;
}

static int read_lines(struct mapfile *m, struct context *cx, struct dev *bad,
		      FILE *f)
{
	char *text = NULL, *at;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&text, &room, f) >= 0) {
		m->line++;
		at = text + strspn(text, " \t");
		if (!*at || *at == '#' || *at == '\n')
			continue;
		err = m->begun ? take_area(m, cx, bad, at) :
				 take_position(m, cx, at);
	}
	free(text);
	if (!err && ferror(f))
		err = fail(cx, -EIO, "%s", m->path);
	if (!err && !m->begun)
		err = fail_line(m, cx);
	return err ? err : add_area(bad, cx, m->end, UINT64_MAX);
}

int rescue_read_map(struct dev *bad, struct context *cx, const char *path)
{
	struct mapfile m = { .path = path };
	FILE *f = fopen(path, "re");
	int err;

	if (!f)
		return fail(cx, -errno, "%s", path);
	err = read_lines(&m, cx, bad, f);
	fclose(f);
	return err;
}

struct copying {
	struct tool *tool;
	struct dev *source, *copy, *bad;
	char *buf;		/* PIECE bytes */
};

/* Where the run of small pieces that are all zero, or none is, ends. */
static size_t end_of_run(const char *buf, size_t at, size_t len, bool zero)
{
	size_t n;

	for (; at < len; at += n) {
		n = len - at < SMALL_PIECE ? len - at : SMALL_PIECE;
		if (zeros_only(buf + at, n) != zero)
			break;
	}
	return at;
}

/* What is zero stays a hole. */
static int write_piece(struct copying *c, struct context *cx, uint64_t off,
		       size_t len)
{
	size_t at = end_of_run(c->buf, 0, len, true), end;
	int err = 0;

	for (; at < len && !err; at = end_of_run(c->buf, end, len, true)) {
		end = end_of_run(c->buf, at, len, false);
		err = dev_write(c->copy, cx, off + at, c->buf + at, end - at);
	}
	return err;
}

/* Copies a small piece, or notes that it cannot be read. */
static int copy_small(struct copying *c, struct context *cx, uint64_t off,
		      size_t len)
{
	int err;

	if (badareas_have(c->bad, off, len))
		return badareas_add(c->bad, cx, off, len);
	err = dev_read(c->source, cx, off, c->buf, len);
	if (err != -EIO)
		return err ? err : write_piece(c, cx, off, len);
	fail_clear(cx);
	return badareas_add(c->bad, cx, off, len);
}

static int copy_piece(struct copying *c, struct context *cx, uint64_t off,
		      size_t len)
{
	size_t at, n;
	int err = -EIO;

	if (!badareas_have(c->bad, off, len)) {
		err = dev_read(c->source, cx, off, c->buf, len);
		if (err != -EIO)
			return err ? err : write_piece(c, cx, off, len);
		fail_clear(cx);
	}
	for (at = 0, err = 0; at < len && !err; at += n) {
		n = len - at < SMALL_PIECE ? len - at : SMALL_PIECE;
		err = copy_small(c, cx, off + at, n);
		if (!err)
			err = context_cancelled(cx);
	}
	return err;
}

static int copy_all(struct copying *c, struct context *cx)
{
	uint64_t size = c->source->size, off, n;
	int err = 0;

	c->buf = malloc(PIECE);
	if (!c->buf)
		return fail(cx, -ENOMEM, "%s: buffer", c->source->name);
	progress_begin(&c->tool->progress, "copying", size, true);
	for (off = 0; off < size && !err; off += n) {
		n = size - off < PIECE ? size - off : PIECE;
		err = copy_piece(c, cx, off, (size_t)n);
		progress_update(&c->tool->progress, off + n);
		if (!err)
			err = context_cancelled(cx);
	}
	progress_end(&c->tool->progress);
	free(c->buf);
	return err ? err : dev_flush(c->copy, cx);
}

static void note_areas(struct tool *tool, const struct dev *bad,
		       const char *path)
{
	uint64_t bytes;
	size_t n = badareas_count(bad, &bytes);

	if (n)
		tool_warn(tool, "%s: %" PRIu64 " bytes in %zu area%s could not "
			  "be read; they are zeros in %s", tool->argv[0],
			  bytes, n, n == 1 ? "" : "s", path);
}

int rescue_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map)
{
	struct context *cx = &tool->cx;
	struct copying c = { .tool = tool, .source = source };
	int err = devfile_create(copy, cx, file);

	if (err)
		return err;
	err = devfile_resize(*copy, cx, source->size);
	if (!err)
		err = badareas_open(bad, cx, *copy);
	if (!err && map)
		err = rescue_read_map(*bad, cx, map);
	c.copy = *copy;
	c.bad = *bad;
	if (!err)
		err = copy_all(&c, cx);
	if (!err)
		note_areas(tool, *bad, output_path(file));
	return err;
}
