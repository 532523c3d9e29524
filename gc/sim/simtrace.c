// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces.
 *
 * A trace is read twice: the size of each file must be known before the first
 * block gets a place.  Nothing else of it is kept.
 */
#include "gc/sim/simtrace.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "gc/sim/simop.h"

/* Lines between two checks for cancellation. */
#define PATIENCE 0xffffu

/*
 * Lines of traces.
 *
 * fio, versions 1 and 2:	FILE ACTION OFFSET LENGTH, or FILE ACTION
 *				(version 1 has lines DIRECTION,OFFSET,LENGTH)
 * fio, version 3:		TIME FILE ACTION OFFSET LENGTH
 * blkparse:			MAJOR,MINOR CPU SEQUENCE TIME PID Q RWBS
 *				SECTOR + SECTORS [PROGRAM]
 * CSV:				TIME,OPERATION,OFFSET,LENGTH
 *
 * A number that is too large to be a place of a volume makes the line rubbish.
 */

struct simtrace_line {
	enum simop_kind kind;
	const char *file;	/* "" where there is one only; in the text */
	uint64_t offset, length;	/* bytes */
};

#define WORDS 12u
#define SECTOR_BITS 9
/* Past this no volume reaches; sums of two such numbers do not overflow. */
#define OFFSET_MAX (UINT64_C(1) << 62)

static bool number(const char *text, uint64_t *value)
{
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*text))
		return false;
	v = strtoull(text, &end, 10);
	*value = v;
	return !*end && v < OFFSET_MAX;
}

/* Cuts TEXT into words at any character of BETWEEN. */
static unsigned int cut(char *text, const char *between, char **words)
{
	unsigned int n = 0;
	char *rest, *word = strtok_r(text, between, &rest);

	for (; word && n < WORDS; word = strtok_r(NULL, between, &rest))
		words[n++] = word;
	return n;
}

/* What the action of fio or a CSV means; false: nothing here. */
static bool action(const char *word, enum simop_kind *kind)
{
	static const struct {
		const char *word;
		enum simop_kind kind;
	} rows[] = {
		{ "write", SIMOP_WRITE }, { "w", SIMOP_WRITE },
		{ "trim", SIMOP_TRIM },	  { "delete", SIMOP_TRIM },
		{ "discard", SIMOP_TRIM }, { "d", SIMOP_TRIM },
		{ "sync", SIMOP_SYNC },	  { "datasync", SIMOP_SYNC },
		{ "flush", SIMOP_SYNC },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcasecmp(word, rows[i].word)) {
			*kind = rows[i].kind;
			return true;
		}
	return false;
}

/* FILE ACTION [OFFSET LENGTH] */
static bool parse_action(char **words, unsigned int n,
			 struct simtrace_line *line)
{
	if (n < 2 || !action(words[1], &line->kind))
		return false;
	line->file = words[0];
	if (line->kind == SIMOP_SYNC)
		return true;
	return n >= 4 && number(words[2], &line->offset) &&
	       number(words[3], &line->length);
}

static bool parse_fio(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, " \t", words);
	uint64_t time;

	/* Of version 1: reads are 0, writes 1, syncs 2, trims 3. */
	if (n == 1 && cut(words[0], ",", words) == 3) {
		if (strcmp(words[0], "1") && strcmp(words[0], "3"))
			return false;
		line->kind = *words[0] == '1' ? SIMOP_WRITE : SIMOP_TRIM;
		return number(words[1], &line->offset) &&
		       number(words[2], &line->length);
	}
	if (n >= 3 && number(words[0], &time) &&
	    parse_action(words + 1, n - 1, line))
		return true;
	return parse_action(words, n, line);
}

static bool parse_blkparse(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, " \t", words);

	if (n < 7 || strcmp(words[5], "Q"))
		return false;
	line->kind = strchr(words[6], 'D') ? SIMOP_TRIM : SIMOP_WRITE;
	if (n < 10 || strcmp(words[8], "+")) {
		line->kind = SIMOP_SYNC;
		return strchr(words[6], 'F') != NULL;
	}
	if (!strpbrk(words[6], "WD") || !number(words[7], &line->offset) ||
	    !number(words[9], &line->length) ||
	    line->offset + line->length >= OFFSET_MAX >> SECTOR_BITS)
		return false;
	line->offset <<= SECTOR_BITS;
	line->length <<= SECTOR_BITS;
	return true;
}

static bool parse_csv(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, ", \t", words);

	if (n < 2 || !action(words[1], &line->kind))
		return false;
	if (line->kind == SIMOP_SYNC)
		return true;
	return n >= 4 && number(words[2], &line->offset) &&
	       number(words[3], &line->length);
}

/*
 * Takes TEXT, which it changes, apart.  False where it is nothing that
 * matters: a read, a heading, rubbish.
 */
static bool simtrace_line_parse(enum simtrace_format format, char *text,
				struct simtrace_line *line)
{
	*line = (struct simtrace_line){ .file = "" };
	text[strcspn(text, "\r\n")] = '\0';
	switch (format) {
	case SIMTRACE_FIO:
		return parse_fio(text, line);
	case SIMTRACE_BLKPARSE:
		return parse_blkparse(text, line);
	case SIMTRACE_CSV:
		return parse_csv(text, line);
	case SIMTRACE_GUESS:
		break;
	}
	return false;
}

/* What TEXT looks like, SIMTRACE_GUESS where like nothing. */
static enum simtrace_format simtrace_line_guess(const char *text)
{
	size_t digits = strspn(text + strspn(text, " "), "0123456789");
	const char *rest = text + strspn(text, " ") + digits;

	if (!strncmp(text, "fio version", 11))
		return SIMTRACE_FIO;
	/* "  8,16   1   12 ..." */
	if (digits && *rest == ',' && isdigit((unsigned char)rest[1]) &&
	    isspace((unsigned char)rest[1 + strspn(rest + 1, "0123456789")]))
		return SIMTRACE_BLKPARSE;
	return strchr(text, ',') ? SIMTRACE_CSV : SIMTRACE_GUESS;
}

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

static struct simtrace_file *find_file(struct simtrace *t, const char *name)
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
	if (array_reserve(cx, &t->files, &t->room, t->nfiles + 1))
		return -ENOMEM;
	*file = &t->files[t->nfiles];
	**file = (struct simtrace_file){ .name = strdup(name) };
	if (!(*file)->name)
		return fail(cx, -ENOMEM, "%s", t->path);
	t->nfiles++;
	return 0;
}

static int note_operation(struct simtrace *t, struct context *cx,
			  const struct simtrace_line *line)
{
	struct simtrace_file *file = find_file(t, line->file);
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
		ret = note_operation(t, cx, &line);
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
		file = find_file(t, line.file);
		if (!file)
			continue;
		make_op(t, file, &line, op);
		if (op->count)
			return 1;
	}
	return ret;
}
