/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zones of a device with the changes of an overlay, in versions, like its
 * pages.
 */
#ifndef NILFS2_DEV_ZONECHANGES_H
#define NILFS2_DEV_ZONECHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "dev/pages.h"
#include "dev/zone.h"

/* Of one zone, until there is a later one. */
struct zonechange {
	uint64_t zone;
	uint64_t pointer;	/* as struct zone has it */
	bool reset;		/* what is underneath counts no more, */
	size_t since;		/* nor do pages before this one */
	bool early;		/* the reset comes before all writes */
	bool finished;
	size_t pages;		/* how many there were when it was made */
	size_t before;		/* the one before it of this zone + 1, or 0 */
};

/* None while all but the first two members are zero; without zones it stays so. */
struct zonechanges {
	struct dev *under;	/* borrowed */
	const struct pages *pages;	/* borrowed */
	struct zonechange *list;	/* in the order in which they were made */
	size_t count, room;
	size_t marked;		/* those before it do not change any more */
	size_t *latest;		/* by zone: its change + 1, or 0 */
	size_t resets;		/* zones that are reset as it is */
};

/* Forgets all. */
void zonechanges_fini(struct zonechanges *z);

/* What has become of zone N, or NULL for nothing. */
const struct zonechange *zonechanges_of(const struct zonechanges *z,
					uint64_t n);

/*
 * Whether LEN bytes can be written at OFF: what is written to sequential zones
 * begins at the pointer, in whole pages, and fits the capacity.  -EIO; -EINVAL
 * for parts of pages.  Then moves the pointers.
 */
int zonechanges_check(const struct zonechanges *z, struct context *cx,
		      uint64_t off, uint64_t len);
int zonechanges_wrote(struct zonechanges *z, struct context *cx, uint64_t off,
		      uint64_t len);

/*
 * Resets zone N if it is sequential, or finishes it.  One that is already
 * empty, or full, is unchanged, except that a pending reset becomes EARLY.
 */
int zonechanges_reset(struct zonechanges *z, struct context *cx, uint64_t n,
		      bool early);
int zonechanges_finish(struct zonechanges *z, struct context *cx, uint64_t n);

/* Forgets the last change. */
void zonechanges_pop(struct zonechanges *z);

/* Whether the data of PAGE was reset since it was written. */
bool zonechanges_is_void(const struct zonechanges *z, size_t page);

/*
 * Performs resets on the device: those of zones that were written to since, and
 * early ones; or, if LAST, all others, and finishes, if there are any, with a
 * flush.  Failures as dev_zone_reset().
 */
int zonechanges_commit(const struct zonechanges *z, struct context *cx, bool last);

#endif
