/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture of the segments before and after, as one SVG file. */
#ifndef NILFS2_GC_BEFOREAFTER_H
#define NILFS2_GC_BEFOREAFTER_H

#include <stdint.h>

#include "base/context.h"
#include "cli/outfile.h"
#include "dev/dev.h"
#include "out/picture.h"

struct beforeafter {
	struct outfile file;
	struct picture *before;
	unsigned int cell;	/* pixels */
	uint64_t protect;	/* seconds */
};

/*
 * Makes PATH, not to be the image IMAGE, and looks at the volume on DEV, of
 * which PROTECT seconds are protected.  To be ended unless it fails.
 */
int beforeafter_begin(struct beforeafter *b, struct context *cx,
		      const char *path, const char *image, struct dev *dev,
		      uint64_t protect);

/*
 * Looks at it once more and writes the file; with the failure ERR, which is
 * returned then, it stays empty.
 */
int beforeafter_end(struct beforeafter *b, struct context *cx, struct dev *dev,
		    int err);

#endif
