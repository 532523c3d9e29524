/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zeroing all unused space of the segments. */
#ifndef NILFS2_GC_ZEROING_H
#define NILFS2_GC_ZEROING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

struct zeroing {
	uint64_t bytes;		/* that are zero now */
	uint64_t skipped;	/* segments that are marked as erroneous */
	/* Called with the bytes done, or NULL. */
	void (*done)(void *arg, uint64_t bytes);
	void *arg;
};

/*
 * Zeros the clean segments of VOL, and the space after the last log of the
 * others, on its device; with FORECAST only counts.  -EUCLEAN, before anything
 * is lost, if the DAT has a block in such a place.  -EIO, -ENOMEM, -EINTR.
 */
int zeroing_run(struct zeroing *z, struct context *cx, struct volume *vol,
		bool forecast);

#endif
