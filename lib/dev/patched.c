// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A device of which some ranges read as other data.
 *
 * Patches are sorted by offset.  A read is split at their borders, so that a range
 * that the device cannot read is never requested from it if a patch covers it.  A
 * write that covers a patch replaces it.
 */
#include "config.h"

#include "dev/patched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/text.h"

struct patch {
	uint64_t off;
	unsigned char *data;
};

struct patched {
	struct dev dev;
	struct patch *list;
	size_t n, room;
	size_t len;		/* bytes of each patch */
};

/* The first patch that ends after OFF. */
static size_t first_after(const struct patched *p, uint64_t off)
{
	uint64_t from = off >= p->len ? off - p->len + 1 : 0;

	return search_number(p->list, p->n, sizeof(*p->list), from);
}

static int patched_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int count)
{
	struct patched *p = (struct patched *)dev;
	size_t i = first_after(p, off), n, len;
	unsigned char *at;
	int ret = 0;

	if (!p->n)
		return dev_readv(p->dev.under, cx, off, iov, count);
	for (; count && !ret; iov++, count--) {
		at = iov->iov_base;
		for (len = iov->iov_len; len && !ret; at += n, off += n, len -= n) {
			const struct patch *patch = i < p->n ? &p->list[i] : NULL;
			size_t skip = 0;

			n = len;
			if (!patch || patch->off > off) {
				if (patch && patch->off - off < n)
					n = (size_t)(patch->off - off);
				ret = dev_read(p->dev.under, cx, off, at, n);
				continue;
			}
			skip = (size_t)(off - patch->off);
			if (n >= p->len - skip) {
				n = p->len - skip;
				i++;
			}
			memcpy(at, patch->data + skip, n);
		}
	}
	return ret;
}

static bool patched_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	const struct patched *p = (struct patched *)dev;
	size_t i = first_after(p, off);

	return (i == p->n || p->list[i].off >= off + len) &&
	       dev_is_hole(p->dev.under, off, len);
}

void patched_remove(struct dev *dev, uint64_t off, uint64_t len)
{
	struct patched *p = (struct patched *)dev;
	size_t i = first_after(p, off), kept = i;

	for (; i < p->n && p->list[i].off < off + len; i++) {
		if (p->list[i].off < off ||
		    p->list[i].off + p->len > off + len)
			p->list[kept++] = p->list[i];
		else
			free(p->list[i].data);
	}
	if (kept == i)
		return;
	memmove(p->list + kept, p->list + i, (p->n - i) * sizeof(*p->list));
	p->n -= i - kept;
}

static int patched_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	int err = dev_write(dev->under, cx, off, buf, len);

	if (!err)
		patched_remove(dev, off, len);
	return err;
}

static int patched_clear(struct dev *dev, struct context *cx, uint64_t off,
			 uint64_t len, bool zeros)
{
	int err = zeros ? dev_zero(dev->under, cx, off, len) :
			  dev_discard(dev->under, cx, off, len);

	if (!err && zeros)
		patched_remove(dev, off, len);
	return err;
}

static void patched_close(struct dev *dev)
{
	patched_remove(dev, 0, UINT64_MAX);
	free(((struct patched *)dev)->list);
	free(dev);
}

static const struct dev_ops patched_ops = {
	.passes = true,
	.readv = patched_readv,
	.is_hole = patched_is_hole,
	.write = patched_write,
	.clear = patched_clear,
	.close = patched_close,
};

int patched_open(struct dev **devp, struct context *cx, struct dev *under)
{
	struct patched *p = calloc(1, sizeof(*p));

	if (!p)
		return fail(cx, -ENOMEM, "%s: patches", under->name);
	dev_init_over(&p->dev, &patched_ops, under);
	p->len = 1;
	*devp = &p->dev;
	return 0;
}

int patched_set(struct dev *dev, struct context *cx, uint64_t off,
		const void *buf, size_t len)
{
	struct patched *p = (struct patched *)dev;
	size_t i = search_number(p->list, p->n, sizeof(*p->list), off);
	unsigned char *data = NULL;

	p->len = len;
	if (i < p->n && p->list[i].off == off) {
		memcpy(p->list[i].data, buf, len);
		return 0;
	}
	if (array_reserve(cx, &p->list, &p->room, p->n + 1))
		return -ENOMEM;
	if ((p->n + 1) * (uint64_t)len <= cx->max_memory)
		data = malloc(len);
	if (!data)
		return fail(cx, -ENOMEM, "%s: patches", dev->name);
	memcpy(data, buf, len);
	memmove(p->list + i + 1, p->list + i, (p->n - i) * sizeof(*p->list));
	p->list[i] = (struct patch){ .off = off, .data = data };
	p->n++;
	return 1;
}

uint64_t patched_digest(const struct dev *dev)
{
	const struct patched *p = (const struct patched *)dev;
	uint64_t digest = 0;
	size_t i;

	for (i = 0; i < p->n; i++) {
		const uint64_t words[] = {
			p->list[i].off, text_hash(p->list[i].data, p->len),
		};

		digest += text_hash_words(p->len, words, 2);
	}
	return digest;
}
