/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling what was made, or would be. */
#ifndef NILFS2_MKFS_ANNOUNCE_H
#define NILFS2_MKFS_ANNOUNCE_H

#include <stdbool.h>

#include "mkfs/content.h"
#include "mkfs/plan.h"
#include "out/report.h"

/* Puts PLAN for the device PATH on R; WRITTEN is false in a dry run. */
void announce_plan(struct report *r, const char *path,
		   const struct plan *plan, bool written);

/*
 * Puts what C has put on the volume of PLAN; of a forecast also LEAST_SIZE, the
 * bytes that the device must have (0 otherwise).
 */
void announce_content(struct report *r, const struct content *c,
		      const struct plan *plan, uint64_t least_size);

#endif
