/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flipped bits of superblocks. */
#ifndef NILFS2_FSCK_SUPERBITS_H
#define NILFS2_FSCK_SUPERBITS_H

#include <stdbool.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/super.h"

struct superbits {
	uint64_t offset[2];		  /* bytes of the device; 0: no copy */
	struct nilfs_super_block copy[2]; /* with the bit corrected */
	bool read[2];
	/* The byte of the copy, and the bit in it, that is wrong; -1: none. */
	int byte[2], bit[2];
};

/*
 * Reads both superblocks of DEV.  One that is not valid is corrected if there
 * is just one bit whose flip makes it valid.
 */
void superbits_read(struct superbits *s, struct context *cx, struct dev *dev);

/*
 * The layout of the volume by the superblocks as corrected, and which of them
 * counts: 0 or 1, -1 where neither says where all segments are.
 */
int superbits_geometry(const struct superbits *s, const struct dev *dev,
		       struct nilfs_geometry *geo);

#endif
