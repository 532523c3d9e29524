// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of blocks that are moved.
 *
 * All of a batch is one payload: a block of it is found by bisection of the
 * places where runs begin.  Runs that follow each other on the device, though
 * not in their files, are read together.
 *
 * A forecast has a second payload, without content, for blocks of files.
 * Nodes, though, and the ifile, are looked at by the next batch, or between
 * two.
 */
#include "gc/moved.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "disk/inode.h"
#include "vol/volume.h"

struct moved {
	struct payload payload;
	struct payload *hollow;	/* of a forecast, or NULL */
	struct dev *dev;
	uint32_t block_bits;
	const struct load_run *runs;
	uint64_t *starts;	/* of the runs, in blocks of the payload */
	size_t n;
	uint64_t *bad;
};

/* The run that has block AT. */
static size_t find_run(const struct moved *m, uint64_t at)
{
	return search_lower_bound(m->starts, m->n, at + 1) - 1;
}

/* How many of COUNT blocks from AT on, in run I, follow each other. */
static uint32_t count_together(const struct moved *m, size_t i, uint64_t at,
			       uint32_t count)
{
	uint64_t end = m->runs[i].blocknr + m->runs[i].what.count;
	uint64_t n = m->starts[i] + m->runs[i].what.count - at;

	while (n < count && ++i < m->n && m->runs[i].blocknr == end) {
		n += m->runs[i].what.count;
		end += m->runs[i].what.count;
	}
	return n < count ? (uint32_t)n : count;
}

/* Finds out which of the blocks it was that could not be read. */
static int find_bad(struct moved *m, struct context *cx, uint64_t blocknr,
		    uint32_t count, void *buf)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		ret = dev_read(m->dev, cx, (blocknr + i) << m->block_bits, buf,
			       (size_t)1 << m->block_bits);
		if (ret)
			__atomic_store_n(m->bad, blocknr + i,
					 __ATOMIC_RELAXED);
	}
	return ret;
}

static int fill(struct payload *p, struct context *cx, uint64_t at,
		uint32_t count, void *buf)
{
	struct moved *m = (struct moved *)p;
	uint64_t blocknr;
	uint32_t n;
	size_t i;
	int ret;

	for (; count; count -= n, at += n) {
		i = find_run(m, at);
		n = count_together(m, i, at, count);
		blocknr = m->runs[i].blocknr + (at - m->starts[i]);
		ret = dev_read(m->dev, cx, blocknr << m->block_bits, buf,
			       (size_t)n << m->block_bits);
		if (ret == -EIO)
			ret = find_bad(m, cx, blocknr, n, buf);
		if (ret)
			return ret;
		buf = (char *)buf + ((size_t)n << m->block_bits);
	}
	return 0;
}

static void release(struct payload *p)
{
	struct moved *m = (struct moved *)p;

	payload_put(m->hollow);
	free(m->starts);
	free(m);
}

static void release_hollow(struct payload *p)
{
	free(p);
}

static const struct payload_ops ops = {
	.fill = fill,
	.free = release,
};

static const struct payload_ops hollow_ops = {
	.free = release_hollow,
};

static int make_hollow(struct moved *m)
{
	m->hollow = malloc(sizeof(*m->hollow));
	if (!m->hollow)
		return -ENOMEM;
	payload_init(m->hollow, &hollow_ops);
	return 0;
}

int moved_make(struct moved **mp, struct context *cx, const struct load *load,
	       bool forecast, uint64_t *bad)
{
	struct moved *m = calloc(1, sizeof(*m));
	uint64_t at = 0;
	size_t i;

	if (!m)
		return fail(cx, -ENOMEM, "blocks that are moved");
	payload_init(&m->payload, &ops);
	m->dev = load->facts->vol->dev;
	m->block_bits = load->facts->vol->geo.block_bits;
	m->runs = load->runs;
	m->n = load->nruns;
	m->bad = bad;
	*bad = 0;
	m->starts = malloc((m->n + 1) * sizeof(*m->starts));
	if (!m->starts || (forecast && make_hollow(m))) {
		moved_put(m);
		return fail(cx, -ENOMEM, "blocks that are moved");
	}
	for (i = 0; i < m->n; i++) {
		m->starts[i] = at;
		at += m->runs[i].what.count;
	}
	*mp = m;
	return 0;
}

struct payload *moved_payload(struct moved *m, const struct load_run *run)
{
	if (m->hollow && !run->what.node && !inode_is_metadata(run->what.ino))
		return m->hollow;
	return &m->payload;
}

void moved_put(struct moved *m)
{
	payload_put(m ? &m->payload : NULL);
}
