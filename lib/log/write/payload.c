// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Payloads: reference counting, and the kinds without external sources.
 *
 * A payload in memory has its blocks in the same allocation, or each in a
 * separate one that the caller passed on; one of a device is an offset.  The
 * caller that lists a payload knows its length.
 */
#include "log/write/payload.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

struct memory_payload {
	struct payload payload;
	uint32_t block_size;
	unsigned char data[];
};

struct given_payload {
	struct payload payload;
	uint32_t block_size;
	size_t count;
	struct {
		void *own;
		const void *data;
	} blocks[];
};

struct device_payload {
	struct payload payload;
	struct dev *dev;
	uint64_t blocknr;
	uint32_t block_size;
};

void payload_init(struct payload *p, const struct payload_ops *ops)
{
	p->ops = ops;
	p->refs = 1;
}

struct payload *payload_hold(struct payload *p)
{
	__atomic_fetch_add(&p->refs, 1, __ATOMIC_RELAXED);
	return p;
}

void payload_put(struct payload *p)
{
	/* The last owner sees the writes of the others. */
	if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (p->ops->free)
		p->ops->free(p);
	else
		free(p);
}

static int memory_fill(struct payload *p, struct context *cx, uint64_t at,
		       uint32_t count, void *buf)
{
	const struct memory_payload *mem = (const struct memory_payload *)p;

	(void)cx;
	memcpy(buf, mem->data + at * mem->block_size,
	       (size_t)count * mem->block_size);
	return 0;
}

static const struct payload_ops memory_ops = {
	.fill = memory_fill,
};

struct payload *payload_memory(const void *buf, uint32_t count,
			       uint32_t block_size, void **datap)
{
	struct memory_payload *mem;
	uint64_t bytes;

	if (!checked_mul(count, block_size, &bytes) ||
	    bytes > SIZE_MAX / 2)
		return NULL;
	mem = malloc(sizeof(*mem) + bytes);
	if (!mem)
		return NULL;
	payload_init(&mem->payload, &memory_ops);
	mem->block_size = block_size;
	if (buf)
		memcpy(mem->data, buf, bytes);
	else
		memset(mem->data, 0, bytes);
	if (datap)
		*datap = mem->data;
	return &mem->payload;
}

/* Copies the blocks and frees each, since it is read once. */
static int given_fill(struct payload *p, struct context *cx, uint64_t at,
		      uint32_t count, void *buf)
{
	struct given_payload *g = (struct given_payload *)p;
	uint32_t i;

	(void)cx;
	for (i = 0; i < count; i++) {
		memcpy((char *)buf + (size_t)i * g->block_size,
		       g->blocks[at + i].data, g->block_size);
		free(g->blocks[at + i].own);
		g->blocks[at + i].own = NULL;
	}
	return 0;
}

static void given_free(struct payload *p)
{
	struct given_payload *g = (struct given_payload *)p;
	size_t i;

	for (i = 0; i < g->count; i++)
		free(g->blocks[i].own);
	free(g);
}

static const struct payload_ops given_ops = {
	.fill = given_fill,
	.free = given_free,
};

struct payload *payload_given(size_t count, uint32_t block_size)
{
	struct given_payload *g;

	if (count > SIZE_MAX / 2 / sizeof(g->blocks[0]))
		return NULL;
	g = calloc(1, sizeof(*g) + count * sizeof(g->blocks[0]));
	if (!g)
		return NULL;
	payload_init(&g->payload, &given_ops);
	g->block_size = block_size;
	g->count = count;
	return &g->payload;
}

void payload_give(struct payload *p, size_t at, void *own, const void *data)
{
	struct given_payload *g = (struct given_payload *)p;

	g->blocks[at].own = own;
	g->blocks[at].data = data;
}

static int device_fill(struct payload *p, struct context *cx, uint64_t at,
		       uint32_t count, void *buf)
{
	const struct device_payload *d = (const struct device_payload *)p;

	return dev_read(d->dev, cx, (d->blocknr + at) * d->block_size, buf,
			(size_t)count * d->block_size);
}

static const struct payload_ops device_ops = {
	.fill = device_fill,
};

struct payload *payload_device(struct dev *dev, uint64_t blocknr,
			       uint32_t block_size)
{
	struct device_payload *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	payload_init(&d->payload, &device_ops);
	d->dev = dev;
	d->blocknr = blocknr;
	d->block_size = block_size;
	return &d->payload;
}
