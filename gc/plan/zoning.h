/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of a device, for cleaning. */
#ifndef NILFS2_GC_ZONING_H
#define NILFS2_GC_ZONING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"

struct dev;
struct directwriter_known;
struct volume;

struct zoning {
	struct volume *vol;	/* borrowed */
	struct bitmap needed;	/* segments with content */
	struct bitmap shut;	/* those marked as erroneous */
	uint64_t lost;		/* neither, but never usable */
	/*
	 * Blocks follow the latest log, or the write pointer of its zone does
	 * not match: the next log begins another segment.
	 */
	bool torn;
	bool settled;		/* superblocks name the same log */
};

/*
 * Looks for logs after the latest one of VOL.  On a device with zones it also
 * reads the SUFILE, and the zone of that log.  To be closed after a failure,
 * too.  -EUCLEAN, -EIO, -ENOMEM.
 */
int zoning_open(struct zoning *z, struct context *cx, struct volume *vol);

/* Accepts a structure that is all zero. */
void zoning_close(struct zoning *z);

/*
 * Whether SEGNUM can never be used: its zone cannot be written from its
 * beginning, or has blocks of another segment.
 */
bool zoning_is_unusable(const struct zoning *z, uint64_t segnum);

/* Fills KNOWN, all zero, for a writer that handles zones; borrows Z. */
void zoning_fill(struct zoning *z, struct directwriter_known *known);

/*
 * For the volume on DEV, whose SUFILE is known to be correct: resets all zones
 * that have only clean segments, and the next one, once both superblocks name
 * the latest state.  If the number of active zones is limited, those that will
 * not be written to are finished.  Fails as volume_open() and dev_zone_change().
 */
int zoning_settle(struct context *cx, struct dev *dev);

#endif
