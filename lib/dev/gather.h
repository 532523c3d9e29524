/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading scattered ranges of a device with few requests.
 *
 * Ranges with small gaps are merged, and the bytes of the gaps are read and dropped:
 * a few blocks cost less than a request.
 */
#ifndef NILFS2_DEV_GATHER_H
#define NILFS2_DEV_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "dev/dev.h"

#define GATHER_GAP (32u << 10)	/* bytes between two ranges, at most */

/*
 * One request, to be read by dev_readv() of START and IOV; .niov is 0 at first.  The
 * read may fail for dropped bytes: each range is then read separately.
 */
struct gather {
	struct iovec iov[DEV_IOV_MAX];
	int niov;
	uint64_t start, end;	/* bytes of the device */
};

/*
 * Adds LEN bytes at OFF, to be read to TO.  False, without a change, if they lie
 * before the end of the request, or too far after it, or the request is full: it
 * must be read first.  SCRAP has GATHER_GAP bytes for dropped data; each thread
 * needs its own.
 */
bool gather_add(struct gather *g, uint64_t off, size_t len, void *to,
		void *scrap);

#endif
