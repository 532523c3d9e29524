/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that are written out, to the device that they are of. */
#ifndef NILFS2_DEV_PAGEOUT_H
#define NILFS2_DEV_PAGEOUT_H

#include "dev/dev.h"
#include "dev/pages.h"
#include "dev/zonechanges.h"

/* Bytes of page NUMBER of BYTES; the last one of a device may be short. */
size_t pageout_size(const struct dev *to, size_t bytes, uint64_t number);

/* The pages that have these bytes of the device. */
struct pageout_late {
	const uint64_t *bytes;
	unsigned int n;
};

/*
 * Writes the newest versions: first all but those LATE, and a flush, then these
 * one after another, each with a flush.  As writes to the device fail, or
 * -ENOMEM.
 */
int pageout_last(const struct zonechanges *z, struct context *cx,
		 const struct pageout_late *late);

/*
 * Steps through the newest versions, none of them late: true and the range of
 * *LEN bytes at *OFF, false at the end.  *CURSOR begins as 0.
 */
bool pageout_next_range(const struct zonechanges *z, size_t *cursor,
			uint64_t *off, size_t *len);

#endif
