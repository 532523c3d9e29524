/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of mkfs.nilfs2. */
#ifndef NILFS2_MKFS_ANNOUNCE_H
#define NILFS2_MKFS_ANNOUNCE_H

#include <stdbool.h>

#include "mkfs/content.h"
#include "mkfs/plan/plan.h"
#include "out/report.h"

/* Puts PLAN for the device PATH on R.  WRITTEN is false in a dry run. */
void announce_plan(struct report *r, const char *path,
		   const struct plan *plan, bool written);

/*
 * Reports the content C of the volume of PLAN.  A forecast also reports LEAST_SIZE,
 * the minimum size of the device in bytes; it is 0 otherwise.
 */
void announce_content(struct report *r, const struct content *c,
		      const struct plan *plan, uint64_t least_size);

#endif
