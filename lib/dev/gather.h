/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scattered ranges of a device, read in few requests.
 *
 * Ranges that lie near one another make one request, and what lies between
 * them is read as well and dropped: a few blocks cost less than a request does.
 */
#ifndef NILFS2_DEV_GATHER_H
#define NILFS2_DEV_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/context.h"
#include "dev/dev.h"

#define GATHER_GAP (32u << 10)	/* bytes between two ranges, at most */

/* One request; .niov is 0 at first. */
struct gather {
	struct iovec iov[DEV_IOV_MAX];
	int niov;
	uint64_t start, end;	/* bytes of the device */
};

/*
 * LEN bytes at OFF shall come to TO.  False, and nothing is added, where they
 * lie before the end of the request, or too far after it, or it has no room:
 * it is to be read first.  SCRAP has GATHER_GAP bytes for what is dropped, for
 * no more than one thread.
 */
bool gather_add(struct gather *g, uint64_t off, size_t len, void *to,
		void *scrap);

/*
 * Reads all that was added; there is nothing in the request then.  Fails as
 * dev_readv(), perhaps for what is dropped: what was wanted is to be read by
 * itself then.
 */
int gather_read(struct gather *g, struct context *cx, struct dev *dev);

#endif
