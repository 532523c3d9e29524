// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces.
 *
 * A trace is read twice: the size of each file must be known before the first
 * block gets a place.  Nothing else of it is kept.
 */
#include "gc/sim/simtrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "gc/sim/simtrace_line.h"

/* Lines between two checks for cancellation. */
#define PATIENCE 0xffffu

/* The next line that matters: 1, or 0 at the end. */
static int next_line(struct simtrace *t, struct context *cx,
		     struct simtrace_line *line)
{
	errno = 0;
	while (getline(&t->text, &t->size, t->stream) >= 0) {
		if ((t->lines++ & PATIENCE) == 0 && context_cancelled(cx))
			return -EINTR;
		if (t->format == SIMTRACE_GUESS)
			t->format = simtrace_line_guess(t->text);
		if (simtrace_line_parse(t->format, t->text, line))
			return 1;
	}
	if (ferror(t->stream))
		return fail(cx, errno ? -errno : -EIO, "%s", t->path);
	return 0;
}

static struct simtrace_file *find(struct simtrace *t, const char *name)
{
	size_t i;

	/* The last one first: traces mostly stay with a file. */
	for (i = t->nfiles; i > 0; i--)
		if (!strcmp(t->files[i - 1].name, name))
			return &t->files[i - 1];
	return NULL;
}

static int add_traced_file(struct simtrace *t, struct context *cx,
			   const char *name, struct simtrace_file **file)
{
	struct simtrace_file *grown = array_grow(cx, t->files, &t->room,
						 t->nfiles + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	t->files = grown;
	*file = &grown[t->nfiles];
	**file = (struct simtrace_file){ .name = strdup(name) };
	if (!(*file)->name)
		return fail(cx, -ENOMEM, "%s", t->path);
	t->nfiles++;
	return 0;
}

static int note(struct simtrace *t, struct context *cx,
		const struct simtrace_line *line)
{
	struct simtrace_file *file = find(t, line->file);
	int ret = 0;

	if (line->kind != SIMOP_WRITE)
		return 0;
	if (!file)
		ret = add_traced_file(t, cx, line->file, &file);
	if (!ret && file->end < line->offset + line->length)
		file->end = line->offset + line->length;
	return ret;
}

/* Gives each file its place. */
static int lay_out(struct simtrace *t, struct context *cx)
{
	size_t i;

	for (i = 0; i < t->nfiles; i++) {
		struct simtrace_file *f = &t->files[i];

		f->first = t->blocks;
		t->blocks += div_round_up(f->end, t->block_size);
		if (t->blocks >= UINT32_MAX)
			return fail(cx, -EINVAL, "%s: reaches further than "
				    "can be simulated", t->path);
	}
	return t->blocks ? 0 : fail(cx, -EINVAL, "%s: no write in the trace",
				    t->path);
}

static int survey(struct simtrace *t, struct context *cx)
{
	struct simtrace_line line;
	int ret;

	while ((ret = next_line(t, cx, &line)) > 0) {
		ret = note(t, cx, &line);
		if (ret)
			return ret;
	}
	if (!ret)
		ret = lay_out(t, cx);
	if (!ret && fseek(t->stream, 0, SEEK_SET))
		return fail(cx, -errno, "%s", t->path);
	return ret;
}

int simtrace_open(struct simtrace *t, struct context *cx, const char *path,
		  enum simtrace_format format, uint32_t block_size)
{
	*t = (struct simtrace){ .path = path, .format = format,
				.block_size = block_size };
	t->stream = fopen(path, "re");
	if (!t->stream)
		return fail(cx, -errno, "%s", path);
	return survey(t, cx);
}

void simtrace_close(struct simtrace *t)
{
	size_t i;

	for (i = 0; i < t->nfiles; i++)
		free(t->files[i].name);
	free(t->files);
	free(t->text);
	if (t->stream)
		fclose(t->stream);
	*t = (struct simtrace){ 0 };
}

/*
 * What is written, in blocks.  A trim takes whole blocks only, and none behind
 * the last that was ever written.
 */
static void make_op(const struct simtrace *t, const struct simtrace_file *f,
		    const struct simtrace_line *line, struct simop *op)
{
	uint64_t bs = t->block_size, end = line->offset + line->length;
	uint64_t first, last;

	if (line->kind == SIMOP_TRIM) {
		if (end >= f->end)
			end = div_round_up(f->end, bs) * bs;
		first = div_round_up(line->offset, bs);
		last = end / bs;
	} else {
		first = line->offset / bs;
		last = div_round_up(end, bs);
	}
	*op = (struct simop){ line->kind, f->first + first,
			      last > first ? last - first : 0 };
}

int simtrace_next(struct simtrace *t, struct context *cx, struct simop *op)
{
	const struct simtrace_file *file;
	struct simtrace_line line;
	int ret;

	while ((ret = next_line(t, cx, &line)) > 0) {
		*op = (struct simop){ SIMOP_SYNC, 0, 0 };
		if (line.kind == SIMOP_SYNC)
			return 1;
		file = find(t, line.file);
		if (!file)
			continue;
		make_op(t, file, &line, op);
		if (op->count)
			return 1;
	}
	return ret;
}
