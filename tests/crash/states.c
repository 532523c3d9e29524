// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Device states met in a test.
 *
 * A state is distinguished from others by a sum over the sectors in which it
 * differs from the image underneath; so one that was written over with what
 * was there already is no other one.
 */
#include "states.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "dev/devfile.h"
#include "dev/overlay.h"

#define SECTOR 512u
#define CHUNK (64u << 10)

/* FNV-1a. */
static uint64_t add(uint64_t sum, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len--)
		sum = (sum ^ *p++) * UINT64_C(0x100000001b3);
	return sum;
}

static uint64_t add_range(uint64_t sum, struct context *cx,
			  struct dev *overlay, struct dev *under, uint64_t off,
			  size_t len)
{
	char now[SECTOR], before[SECTOR];
	size_t at;

	for (at = 0; at < len; at += SECTOR) {
		uint64_t where = off + at;

		if (dev_read(overlay, cx, where, now, SECTOR) ||
		    dev_read(under, cx, where, before, SECTOR) ||
		    !memcmp(now, before, SECTOR))
			continue;
		sum = add(sum, &where, sizeof(where));
		sum = add(sum, now, SECTOR);
	}
	return sum;
}

bool states_meet(struct states *s, struct context *cx, struct dev *overlay,
		 struct dev *under)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325), off;
	size_t cursor = 0, len, i;

	while (overlay_next_range(overlay, &cursor, &off, &len))
		sum = add_range(sum, cx, overlay, under, off, len);
	for (i = 0; i < s->n; i++)
		if (s->sums[i] == sum)
			return false;
	s->sums = array_grow(cx, s->sums, &s->room, s->n + 1,
			     sizeof(*s->sums));
	if (!s->sums)
		abort();
	s->sums[s->n++] = sum;
	return true;
}

int states_keep(const struct states *s, struct context *cx, struct dev *dev,
		const char *class)
{
	static const char zeros[CHUNK];
	static char buf[CHUNK];
	struct dev *file = NULL;
	char path[4096];
	uint64_t off;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/%s.%03zu", s->dir, class, s->n);
	close(open(path, O_CREAT | O_WRONLY, 0666));
	err = devfile_open(&file, cx, path, DEVFILE_WRITE | DEVFILE_EMPTY);
	if (!err)
		err = devfile_resize(file, cx, dev->size);
	for (off = 0; off < dev->size && !err; off += len) {
		len = dev->size - off < CHUNK ? (size_t)(dev->size - off) :
						CHUNK;
		err = dev_read(dev, cx, off, buf, len);
		if (!err && memcmp(buf, zeros, len))
			err = dev_write(file, cx, off, buf, len);
	}
	dev_close(file);
	return err;
}

void states_fini(struct states *s)
{
	free(s->sums);
}
