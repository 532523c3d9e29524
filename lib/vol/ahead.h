/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Announcing blocks that will be read soon to the device.
 */
#ifndef NILFS2_VOL_AHEAD_H
#define NILFS2_VOL_AHEAD_H

#include <stdint.h>

#include "vol/volume.h"

struct ahead {
	struct dev *dev;
	unsigned int block_bits;
	uint64_t first, end;	/* blocks not announced yet */
};

/* An empty list for VOL. */
static inline struct ahead ahead_of(const struct volume *vol)
{
	return (struct ahead){ vol->dev, vol->geo.block_bits, 0, 0 };
}

/*
 * Adds COUNT blocks from BLOCKNR on.  Adjacent blocks, and blocks with a small gap
 * between them, are announced in one request.
 */
void ahead_add(struct ahead *a, uint64_t blocknr, uint64_t count);

/* Announces the rest. */
void ahead_end(struct ahead *a);

#endif
