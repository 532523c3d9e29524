// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merging ranges near one another into requests.
 */
#include "dev/gather.h"

static bool is_next(const struct iovec *last, const char *to)
{
	return (const char *)last->iov_base + last->iov_len == to;
}

/* Adds LEN bytes for TO, for which there is room. */
static void extend(struct gather *g, void *to, size_t len)
{
	if (g->niov && is_next(&g->iov[g->niov - 1], to))
		g->iov[g->niov - 1].iov_len += len;
	else
		g->iov[g->niov++] = (struct iovec){ to, len };
	g->end += len;
}

bool gather_add(struct gather *g, uint64_t off, size_t len, void *to,
		void *scrap)
{
	if (!g->niov)
		g->start = g->end = off;
	if (off < g->end || off - g->end > GATHER_GAP ||
	    g->niov > DEV_IOV_MAX - 2)
		return false;
	if (off > g->end)
		extend(g, scrap, (size_t)(off - g->end));
	extend(g, to, len);
	return true;
}

int gather_read(struct gather *g, struct context *cx, struct dev *dev)
{
	int n = g->niov;

	g->niov = 0;
	return dev_readv(dev, cx, g->start, g->iov, n);
}
