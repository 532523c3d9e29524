/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zeros for all space of the segments that nothing is in. */
#ifndef NILFS2_GC_ZEROING_H
#define NILFS2_GC_ZEROING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

struct zeroing {
	uint64_t bytes;		/* that are zero now */
	uint64_t skipped;	/* segments that are marked as erroneous */
	/* Told of the bytes done, or NULL. */
	void (*done)(void *arg, uint64_t bytes);
	void *arg;
};

/*
 * Makes the clean segments of VOL, and what lies after the last log of the
 * others, read as zeros on its device; with FORECAST only counts.  -EUCLEAN,
 * before anything is lost, where the DAT has a block in such a place.  -EIO,
 * -ENOMEM, -EINTR.
 */
int zeroing_run(struct zeroing *z, struct context *cx, struct volume *vol,
		bool forecast);

#endif
