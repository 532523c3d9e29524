// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of moved blocks.
 *
 * All blocks of a batch are one payload: a block is found by bisection of the
 * positions where runs begin.  The blocks of one request are read in the order
 * of the device: a partly overwritten file has runs of a few blocks with a few
 * dead ones between them, which are read in one request, and dropped.
 *
 * A forecast has a second payload, without content, for blocks of files.  Nodes
 * and the ifile have content, since the next batch reads them.
 */
#include "gc/move/moved.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "dev/gather.h"
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

/* Blocks that follow each other on the device, and where they go. */
struct piece {
	uint64_t blocknr;
	uint32_t count;
	char *to;
};

static size_t count_pieces(const struct moved *m, uint64_t at, uint32_t count)
{
	return find_run(m, at + count - 1) - find_run(m, at) + 1;
}

/* Reads the COUNT blocks from AT on to BUF. */
static void list_pieces(const struct moved *m, uint64_t at, uint32_t count,
			char *buf, struct piece *p)
{
	const struct load_run *run = &m->runs[find_run(m, at)];
	uint64_t skip = at - m->starts[run - m->runs], n;

	for (; count; count -= n, run++, skip = 0, p++) {
		n = run->what.count - skip;
		if (n > count)
			n = count;
		*p = (struct piece){ run->blocknr + skip, (uint32_t)n, buf };
		buf += n << m->block_bits;
	}
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;

	return (p->blocknr > q->blocknr) - (p->blocknr < q->blocknr);
}

/* Finds out which of the blocks it is that cannot be read, if there is one. */
static int read_singly(struct moved *m, struct context *cx,
		       const struct piece *p)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < p->count && !ret; i++) {
		ret = dev_read(m->dev, cx, (p->blocknr + i) << m->block_bits,
			       p->to + ((size_t)i << m->block_bits),
			       (size_t)1 << m->block_bits);
		if (ret)
			__atomic_store_n(m->bad, p->blocknr + i,
					 __ATOMIC_RELAXED);
	}
	return ret;
}

/* Reads the pieces from P on, as many as make one request: *N. */
static int read_near(struct moved *m, struct context *cx,
		     const struct piece *p, size_t most, char *scrap, size_t *n)
{
	struct gather g = { .niov = 0 };
	size_t i = 0;
	int ret;

	while (i < most &&
	       gather_add(&g, p[i].blocknr << m->block_bits,
			  (size_t)p[i].count << m->block_bits, p[i].to, scrap))
		i++;
	*n = i;
	ret = gather_read(&g, cx, m->dev);
	if (ret != -EIO)
		return ret;
	/* Retry: perhaps only a dead block cannot be read. */
	fail_clear(cx);
	for (i = 0, ret = 0; i < *n && !ret; i++)
		ret = read_singly(m, cx, &p[i]);
	return ret;
}

static int read_pieces(struct moved *m, struct context *cx, struct piece *p,
		       size_t n, char *scrap)
{
	size_t i, near;
	int ret = 0;

	sort_in_place(p, n, sizeof(*p), compare_pieces);
	for (i = 0; i < n && !ret; i += near)
		ret = read_near(m, cx, p + i, n - i, scrap, &near);
	return ret;
}

static int fill_moved(struct payload *payload, struct context *cx, uint64_t at,
		      uint32_t count, void *buf)
{
	struct moved *m = (struct moved *)payload;
	size_t n = count_pieces(m, at, count);
	struct piece *pieces = calloc(n, sizeof(*pieces));
	char *scrap = malloc(GATHER_GAP);
	int ret;

	if (pieces && scrap) {
		list_pieces(m, at, count, buf, pieces);
		ret = read_pieces(m, cx, pieces, n, scrap);
	} else {
		ret = fail(cx, -ENOMEM, "blocks that are moved");
	}
	free(scrap);
	free(pieces);
	return ret;
}

static void release_moved(struct payload *p)
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
	.fill = fill_moved,
	.free = release_moved,
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
	m->n = load->has.nruns;
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
