// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A device of which some areas cannot be read.
 *
 * Areas are sorted by offset and do not touch each other.
 */
#include "dev/badareas.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

struct area {
	uint64_t end, off;	/* the key, END, is first: search_number() */
};

struct badareas {
	struct dev dev;
	struct area *list;
	size_t n, room;
};

bool badareas_have(const struct dev *dev, uint64_t off, uint64_t len)
{
	const struct badareas *b = (const struct badareas *)dev;
	size_t i = search_number(b->list, b->n, sizeof(*b->list), off + 1);

	return len && i < b->n && b->list[i].off < off + len;
}

size_t badareas_count(const struct dev *dev, uint64_t *bytes)
{
	const struct badareas *b = (const struct badareas *)dev;
	size_t i;

	*bytes = 0;
	for (i = 0; i < b->n; i++)
		*bytes += b->list[i].end - b->list[i].off;
	return b->n;
}

static void replace_areas(struct badareas *b, size_t from, size_t to,
			  const struct area *with, size_t n)
{
	memmove(b->list + from + n, b->list + to,
		(b->n - to) * sizeof(*b->list));
	if (n)
		memcpy(b->list + from, with, n * sizeof(*with));
	b->n += n;
	b->n -= to - from;
}

int badareas_add(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len)
{
	struct badareas *b = (struct badareas *)dev;
	struct area area = { .off = off, .end = off + len };
	size_t from = search_number(b->list, b->n, sizeof(*b->list), off);
	size_t to = from;

	if (!len)
		return 0;
	if (array_reserve(cx, &b->list, &b->room, b->n + 1))
		return -ENOMEM;
	for (; to < b->n && b->list[to].off <= area.end; to++) {
		if (b->list[to].off < area.off)
			area.off = b->list[to].off;
		if (b->list[to].end > area.end)
			area.end = b->list[to].end;
	}
	replace_areas(b, from, to, &area, 1);
	return 0;
}

static int badareas_readv(struct dev *dev, struct context *cx, uint64_t off,
			  struct iovec *iov, int n)
{
	uint64_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (badareas_have(dev, off, len))
		return fail(cx, -EIO, "%s: offset %" PRIu64 ": counts as "
			    "unreadable", dev->name, off);
	return dev_readv(dev->under, cx, off, iov, n);
}

/* Written bytes become readable; the rest of their areas does not. */
static int badareas_write(struct dev *dev, struct context *cx, uint64_t off,
			  const void *buf, size_t len)
{
	struct badareas *b = (struct badareas *)dev;
	size_t from = search_number(b->list, b->n, sizeof(*b->list), off + 1);
	size_t to = from, n = 0;
	struct area left[2];
	int err;

	/* One area may become two. */
	err = array_reserve(cx, &b->list, &b->room, b->n + 1);
	if (!err)
		err = dev_write(dev->under, cx, off, buf, len);
	if (err)
		return err;
	while (to < b->n && b->list[to].off < off + len)
		to++;
	if (to == from)
		return 0;
	if (b->list[from].off < off)
		left[n++] = (struct area){ .off = b->list[from].off, .end = off };
	if (b->list[to - 1].end > off + len)
		left[n++] = (struct area){ .off = off + len,
					   .end = b->list[to - 1].end };
	replace_areas(b, from, to, left, n);
	return 0;
}

static void badareas_close(struct dev *dev)
{
	free(((struct badareas *)dev)->list);
	free(dev);
}

static const struct dev_ops badareas_ops = {
	.readv = badareas_readv,
	.write = badareas_write,
	.close = badareas_close,
};

int badareas_open(struct dev **devp, struct context *cx, struct dev *under)
{
	struct badareas *b = calloc(1, sizeof(*b));

	if (!b)
		return fail(cx, -ENOMEM, "%s: bad areas", under->name);
	dev_init_over(&b->dev, &badareas_ops, under);
	*devp = &b->dev;
	return 0;
}
