/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zones of a device with the changes of an overlay, in versions, like its pages.
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

/* The state of one zone, until there is a later change of it. */
struct zonechange {
	uint64_t zone;
	uint64_t pointer;	/* as in struct zone */
	bool reset;		/* drops data underneath, */
	size_t since;		/* and pages before this one */
	bool early;		/* the reset precedes all writes */
	bool finished;
	size_t pages;		/* number of pages when it was made */
	size_t before;		/* previous change of this zone + 1, or 0 */
};

/* Empty if all members except the first two are zero; always so without zones. */
struct zonechanges {
	struct dev *under;	/* borrowed */
	const struct pages *pages;	/* borrowed */
	struct zonechange *list;	/* in the order of creation */
	size_t count, room;
	size_t marked;		/* changes before it are final */
	size_t *latest;		/* by zone: its change + 1, or 0 */
	size_t resets;		/* zones with a pending reset */
};

/* The latest change of zone N, or NULL. */
const struct zonechange *zonechanges_of(const struct zonechanges *z,
					uint64_t n);

/*
 * Checks whether LEN bytes can be written at OFF: a write to a sequential zone
 * begins at the pointer, in whole pages, and fits the capacity.  -EIO; -EINVAL for
 * parts of pages.  zonechanges_wrote() then moves the pointers.
 */
int zonechanges_check(const struct zonechanges *z, struct context *cx,
		      uint64_t off, uint64_t len);
int zonechanges_wrote(struct zonechanges *z, struct context *cx, uint64_t off,
		      uint64_t len);

enum zonechange_kind {
	ZONECHANGE_RESET,	/* before all writes */
	ZONECHANGE_RESET_LAST,	/* after them, unless the zone is written to */
	ZONECHANGE_FINISH,
};

/*
 * Adds a change of zone N if it is sequential.  A zone that is already empty (or full)
 * is unchanged, except that a pending reset precedes all writes after ZONECHANGE_RESET.
 */
int zonechanges_add(struct zonechanges *z, struct context *cx, uint64_t n,
		    enum zonechange_kind kind);

/* Whether the data of PAGE was reset since it was written. */
bool zonechanges_is_void(const struct zonechanges *z, size_t page);

/*
 * Performs resets on the device: those of zones that were written to since, and
 * early ones; or, if LAST, all others, and finishes, if there are any, with a
 * flush.  Failures as dev_zone_change().
 */
int zonechanges_commit(const struct zonechanges *z, struct context *cx, bool last);

#endif
