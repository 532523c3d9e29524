/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture of the segments before and after, as one SVG file. */
#ifndef NILFS2_GC_BEFOREAFTER_H
#define NILFS2_GC_BEFOREAFTER_H

#include <stdint.h>

#include "base/context.h"
#include "cli/outfile.h"
#include "dev/dev.h"
#include "out/segmap.h"
#include "vol/volume.h"

struct beforeafter {
	struct outfile file;
	struct picture *before;
	struct segmap_volume volume;	/* the state drawn last */
	char label[VOLUME_LABEL_MAX];
	unsigned int cell;	/* pixels */
	uint64_t protect;	/* seconds */
};

/*
 * Creates PATH, which must not be the image IMAGE, and counts the volume on DEV
 * with a protection period of PROTECT seconds.  Must be ended unless it fails.
 */
int beforeafter_begin(struct beforeafter *b, struct context *cx,
		      const char *path, const char *image, struct dev *dev,
		      uint64_t protect);

/*
 * Counts it again and writes the file; after a failure ERR, which is then
 * returned, the file stays empty.
 */
int beforeafter_end(struct beforeafter *b, struct context *cx, struct dev *dev,
		    int err);

#endif
