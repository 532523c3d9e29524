// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power cuts, without running the tool again for each.
 *
 * A disk may keep back, tear and reorder what it was given since the last
 * flush, and nothing else.  So each state that a cut can leave is made of the
 * trace of one run: all changes that a flush of their file followed before the
 * cut, and some of the others.
 */
#include "powercut.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inject.h"

#define SECTOR 512u

struct change {
	struct trace t;
	unsigned int file;
	const unsigned char *bytes;
};

struct powercut {
	unsigned char *trace;
	struct change *changes;		/* and flushes */
	size_t n;
};

/* Whether it is one of our files. */
static bool find_file(uint64_t inode, unsigned int *file)
{
	struct stat st;

	for (*file = 0; filestate_names[*file]; ++*file)
		if (!stat(filestate_names[*file], &st) && st.st_ino == inode)
			return true;
	return false;
}

static void add_change(struct powercut *p, const struct change *c)
{
	p->changes = realloc(p->changes, (p->n + 1) * sizeof(*c));
	if (!p->changes)
		err(99, "memory");
	p->changes[p->n++] = *c;
}

struct powercut *powercut_open(int fd)
{
	struct powercut *p = calloc(1, sizeof(*p));
	struct change c;
	FILE *file = fdopen(fd, "r");
	size_t size, at;
	long end;

	if (!p || !file || fseek(file, 0, SEEK_END) || (end = ftell(file)) < 0)
		err(99, "trace");
	size = (size_t)end;
	p->trace = malloc(size + 1);
	rewind(file);
	if (!p->trace || fread(p->trace, 1, size, file) != size)
		err(99, "trace");
	fclose(file);
	for (at = 0; at < size;) {
		memcpy(&c.t, p->trace + at, sizeof(c.t));
		at += sizeof(c.t);
		c.bytes = p->trace + at;
		if (c.t.what == TRACE_WRITE)
			at += c.t.len;
		if (find_file(c.t.inode, &c.file))
			add_change(p, &c);
	}
	return p;
}

void powercut_close(struct powercut *p)
{
	free(p->changes);
	free(p->trace);
	free(p);
}

uint64_t powercut_count(const struct powercut *p)
{
	return p->n;
}

/* splitmix64 */
static uint64_t draw(uint64_t *random)
{
	uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void carry_out(const struct change *c, struct filestate *s)
{
	switch (c->t.what) {
	case TRACE_WRITE:
		filestate_write(s, c->file, c->t.off, c->bytes, c->t.len);
		break;
	case TRACE_ZERO:
		filestate_zero(s, c->file, c->t.off, c->t.len);
		break;
	case TRACE_RESIZE:
		filestate_resize(s, c->file, c->t.off);
		break;
	default:
		break;
	}
}

/* The first LEN bytes, of a write. */
static void carry_out_part(const struct change *c, uint64_t len,
			   struct filestate *s)
{
	if (c->t.what == TRACE_WRITE && len)
		filestate_write(s, c->file, c->t.off, c->bytes, len);
}

/* Some sectors, each by the toss of a coin. */
static void carry_out_some(const struct change *c, uint64_t *random,
			   struct filestate *s)
{
	uint64_t at, n;

	if (c->t.what != TRACE_WRITE)
		return;
	for (at = 0; at < c->t.len; at += n) {
		n = SECTOR - (c->t.off + at) % SECTOR;
		if (n > c->t.len - at)
			n = c->t.len - at;
		if (draw(random) & 1)
			filestate_write(s, c->file, c->t.off + at,
					c->bytes + at, n);
	}
}

/* Whether a flush followed change I, of its file, before change END. */
static bool is_flushed(const struct powercut *p, size_t i, size_t end)
{
	unsigned int file = p->changes[i].file;

	while (++i < end)
		if (p->changes[i].file == file &&
		    p->changes[i].t.what == TRACE_FLUSH)
			return true;
	return false;
}

static void lose_any(const struct powercut *p, size_t end,
		     struct filestate *s)
{
	uint64_t random = end;
	size_t i;

	for (i = 0; i < end; i++) {
		uint64_t fate = is_flushed(p, i, end) ? 0 : draw(&random) % 3;

		if (!fate)
			carry_out(&p->changes[i], s);
		else if (fate == 1)
			carry_out_some(&p->changes[i], &random, s);
	}
}

/* All but change AT that a cut right before the next flush can leave. */
static void lose_one(const struct powercut *p, size_t at, struct filestate *s)
{
	size_t i;

	for (i = 0; i < p->n && !is_flushed(p, at, i + 1); i++)
		if (i != at)
			carry_out(&p->changes[i], s);
}

void powercut_replay(const struct powercut *p, const struct filestate *before,
		     struct filestate *after)
{
	size_t i;

	filestate_copy(after, before);
	for (i = 0; i < p->n; i++)
		carry_out(&p->changes[i], after);
}

void powercut_make(const struct powercut *p, const struct filestate *before,
		   enum cut_way way, uint64_t at, struct filestate *after)
{
	const struct change *torn = &p->changes[--at];
	uint64_t random = at;
	size_t i;

	filestate_copy(after, before);
	if (way == CUT_LOST) {
		lose_one(p, at, after);
		return;
	}
	if (way == CUT_REORDERED) {
		lose_any(p, at + 1, after);
		return;
	}
	for (i = 0; i < at; i++)
		carry_out(&p->changes[i], after);
	if (way == CUT_TORN && torn->t.len)
		carry_out_part(torn, draw(&random) % torn->t.len / SECTOR *
			       SECTOR + SECTOR / 2, after);
}
