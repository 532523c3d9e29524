// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of moved blocks.
 *
 * All blocks of a batch are one payload: a block is found by bisection of the
 * positions where runs begin.  The blocks of one request are read in the order
 * of the device: a partly overwritten file has runs of a few blocks with a few
 * dead ones between them, which are read in the same request and dropped.
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

/* Consecutive blocks on the device, and their position in the buffer. */
struct stretch {
	uint64_t blocknr;
	uint32_t count;
	char *to;
};

/*
 * Reads N stretches, those near each other with one request; SCRAP is a buffer.
 */
static int read_stretches(struct moved *m, struct context *cx,
			  struct stretch *p, size_t n, char *scrap)
{
	size_t i = 0, first, size = (size_t)1 << m->block_bits;
	uint64_t blocknr = 0;
	uint32_t k;
	int ret = 0;

	sort_in_place(p, n, sizeof(*p), sort_compare_number);
	while (i < n && !ret) {
		struct gather g = { .niov = 0 };

		for (first = i; i < n; i++)
			if (!gather_add(&g, p[i].blocknr << m->block_bits,
					p[i].count * size, p[i].to, scrap))
				break;
		ret = dev_readv(m->dev, cx, g.start, g.iov, g.niov);
		if (ret != -EIO)
			continue;
		/*
		 * Read one block after the other to find the unreadable one,
		 * which may be a dead one between them.
		 */
		fail_clear(cx);
		for (ret = 0; first < i && !ret; first++)
			for (k = 0; k < p[first].count && !ret; k++) {
				blocknr = p[first].blocknr + k;
				ret = dev_read(m->dev, cx,
					       blocknr << m->block_bits,
					       p[first].to + k * size, size);
			}
		if (ret)
			__atomic_store_n(m->bad, blocknr, __ATOMIC_RELAXED);
	}
	return ret;
}

/* Reads the COUNT blocks from AT on to BUF. */
static int fill_moved(struct payload *payload, struct context *cx, uint64_t at,
		      uint32_t count, void *buf)
{
	struct moved *m = (struct moved *)payload;
	size_t first = search_lower_bound(m->starts, m->n, at + 1) - 1, n = 0;
	size_t most = search_lower_bound(m->starts, m->n, at + count) - first;
	struct stretch *p = calloc(most, sizeof(*p));
	const struct load_run *run = &m->runs[first];
	uint64_t skip = at - m->starts[first], length;
	char *scrap = malloc(GATHER_GAP), *to = buf;
	int ret;

	for (; p && count; count -= (uint32_t)length, run++, skip = 0) {
		length = run->entry.count - skip;
		if (length > count)
			length = count;
		p[n++] = (struct stretch){ run->blocknr + skip,
					   (uint32_t)length, to };
		to += length << m->block_bits;
	}
	ret = p && scrap ? read_stretches(m, cx, p, n, scrap) :
			   fail(cx, -ENOMEM, "blocks that are moved");
	free(scrap);
	free(p);
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
	if (forecast)
		m->hollow = malloc(sizeof(*m->hollow));
	if (m->hollow)
		payload_init(m->hollow, &hollow_ops);
	if (!m->starts || (forecast && !m->hollow)) {
		moved_put(m);
		return fail(cx, -ENOMEM, "blocks that are moved");
	}
	for (i = 0; i < m->n; i++) {
		m->starts[i] = at;
		at += m->runs[i].entry.count;
	}
	*mp = m;
	return 0;
}

struct payload *moved_payload(struct moved *m, const struct load_run *run)
{
	if (m->hollow && !run->entry.node && !inode_is_metadata(run->entry.ino))
		return m->hollow;
	return &m->payload;
}

void moved_put(struct moved *m)
{
	payload_put(m ? &m->payload : NULL);
}
