// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of small images and of what lies beside them.
 *
 * Most faults leave what was there before, or one of a few states.  So the
 * verdict on each is kept, by a sum of all bytes, and a judge that takes its
 * time is asked once.
 */
#include "filestate.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc.h"

#define VERDICT_MAX 65536u

const char *filestate_names[FILES_MAX + 1];

static void load_file(struct file_bytes *f, const char *name)
{
	FILE *file = fopen(name, "re");
	long size;

	*f = (struct file_bytes){ .present = file };
	if (!file && errno != ENOENT)
		err(99, "%s", name);
	if (!file)
		return;
	if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		err(99, "%s", name);
	rewind(file);
	f->size = (size_t)size;
	f->bytes = malloc(f->size + 1);
	if (!f->bytes || fread(f->bytes, 1, f->size, file) != f->size)
		err(99, "%s", name);
	fclose(file);
}

void filestate_load(struct filestate *s)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; filestate_names[i]; i++)
		load_file(&s->files[i], filestate_names[i]);
}

void filestate_store(const struct filestate *s)
{
	unsigned int i;

	for (i = 0; filestate_names[i]; i++) {
		const struct file_bytes *f = &s->files[i];
		FILE *file;

		if (!f->present) {
			unlink(filestate_names[i]);
			continue;
		}
		file = fopen(filestate_names[i], "we");
		if (!file || fwrite(f->bytes, 1, f->size, file) != f->size ||
		    fclose(file))
			err(99, "%s", filestate_names[i]);
	}
}

void filestate_copy(struct filestate *to, const struct filestate *from)
{
	unsigned int i;

	*to = *from;
	for (i = 0; i < FILES_MAX; i++) {
		struct file_bytes *f = &to->files[i];

		if (!f->present)
			continue;
		f->bytes = malloc(f->size + 1);
		if (!f->bytes)
			err(99, "memory");
		memcpy(f->bytes, from->files[i].bytes, f->size);
	}
}

void filestate_free(struct filestate *s)
{
	unsigned int i;

	for (i = 0; i < FILES_MAX; i++)
		free(s->files[i].bytes);
}

uint64_t filestate_sum(const struct filestate *s)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	unsigned int i;

	for (i = 0; i < FILES_MAX; i++) {
		const struct file_bytes *f = &s->files[i];
		size_t half = f->size / 2;

		sum = (sum ^ f->size ^ (uint64_t)f->present << 63) *
		      UINT64_C(0x100000001b3);
		if (!f->size)
			continue;
		sum ^= crc32_le(~0u, f->bytes, half) |
		       (uint64_t)crc32_le(~0u, f->bytes + half, f->size - half)
			       << 32;
	}
	return sum;
}

void filestate_resize(struct filestate *s, unsigned int file, size_t size)
{
	struct file_bytes *f = &s->files[file];

	f->bytes = realloc(f->bytes, size + 1);
	if (!f->bytes)
		err(99, "memory");
	if (size > f->size)
		memset(f->bytes + f->size, 0, size - f->size);
	f->size = size;
	f->present = true;
}

void filestate_write(struct filestate *s, unsigned int file, uint64_t off,
		     const void *bytes, size_t len)
{
	struct file_bytes *f = &s->files[file];

	if (!f->present || off + len > f->size)
		filestate_resize(s, file, off + len);
	memcpy(f->bytes + off, bytes, len);
}

void filestate_zero(struct filestate *s, unsigned int file, uint64_t off,
		    size_t len)
{
	struct file_bytes *f = &s->files[file];

	if (off < f->size)
		memset(f->bytes + off, 0,
		       len < f->size - off ? len : f->size - off);
}

static char *ask(const char *command)
{
	char *text = calloc(1, VERDICT_MAX);
	FILE *pipe = popen(command, "r");
	size_t n;

	if (!text || !pipe)
		err(99, "judge");
	n = fread(text, 1, VERDICT_MAX - 1, pipe);
	text[n] = 0;
	if (pclose(pipe)) {
		fputs(text, stderr);
		free(text);
		return NULL;
	}
	return text;
}

const char *filestate_judge(const struct filestate *s, const char *command)
{
	static struct known {
		uint64_t sum;
		char *verdict;
	} *known;
	static size_t n;
	uint64_t sum = filestate_sum(s);
	size_t i;

	for (i = 0; i < n; i++)
		if (known[i].sum == sum)
			return known[i].verdict;
	known = realloc(known, (n + 1) * sizeof(*known));
	if (!known)
		err(99, "memory");
	filestate_store(s);
	known[n] = (struct known){ sum, ask(command) };
	return known[n++].verdict;
}
