// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merging ranges with small gaps into requests.
 */
#include "dev/gather.h"

bool gather_add(struct gather *g, uint64_t off, size_t len, void *to,
		void *scrap)
{
	struct iovec parts[2], *last;
	unsigned int i;

	if (!g->niov)
		g->start = g->end = off;
	if (off < g->end || off - g->end > GATHER_GAP ||
	    g->niov > DEV_IOV_MAX - 2)
		return false;
	parts[0] = (struct iovec){ scrap, (size_t)(off - g->end) };
	parts[1] = (struct iovec){ to, len };
	for (i = off == g->end; i < 2; i++) {
		last = g->niov ? &g->iov[g->niov - 1] : NULL;
		if (last && (char *)last->iov_base + last->iov_len ==
				    parts[i].iov_base)
			last->iov_len += parts[i].iov_len;
		else
			g->iov[g->niov++] = parts[i];
	}
	g->end = off + len;
	return true;
}
