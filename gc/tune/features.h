/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing features of a volume. */
#ifndef NILFS2_GC_FEATURES_H
#define NILFS2_GC_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

enum features_ext {
	FEATURES_EXT_AS_IS,
	FEATURES_EXT_ON,	/* sufile_live_blks_ext */
	FEATURES_EXT_OFF,	/* neither that nor track_live_blks */
};

/* The result. */
struct features_done {
	bool changed;		/* false: nothing had to be changed */
	uint64_t written;	/* blocks of the log */
};

/*
 * Gives the volume on DEV a SUFILE with live-block counts, or one without them,
 * at TIME (seconds), by one log and superblocks with the new features.  At any
 * moment, also between the two superblocks, each valid superblock names a log
 * with SUFILE entries of the size that it records.  -EUCLEAN if the volume must
 * be recovered or repaired first, -ENOSPC, -EIO, -ENOMEM.
 */
int features_set(struct features_done *done, struct context *cx,
		 struct dev *dev, enum features_ext ext, uint64_t time);

#endif
