/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments on a device with zones. */
#ifndef NILFS2_LOG_SEGZONES_H
#define NILFS2_LOG_SEGZONES_H

#include <stdbool.h>
#include <stdint.h>

#include "dev/zone.h"
#include "disk/geometry.h"

/* The zones [*FIRST, *END) that SEGNUM lies in. */
void segzones_range(const struct zones *zones, const struct nilfs_geometry *g,
		    uint64_t segnum, uint64_t *first, uint64_t *end);

/*
 * Whether SEGNUM can never be written: a zone of it is offline or read-only, or
 * it begins within a sequential one.
 */
bool segzones_is_unusable(const struct zones *zones,
			  const struct nilfs_geometry *g, uint64_t segnum);

#endif
