/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options on zones. */
#ifndef NILFS2_MKFS_ZONEOPTIONS_H
#define NILFS2_MKFS_ZONEOPTIONS_H

#include <stdbool.h>

#include "dev/zone.h"
#include "mkfs/plan/options.h"

/*
 * Parses "N" or "N+M", conventional zones at the beginning and at the end,
 * into a struct zone_ends at WHERE.
 */
int zoneoptions_ends(struct context *cx, const char *arg, void *where);

/* -EINVAL where the options on zones contradict each other. */
int zoneoptions_check(struct context *cx, const struct mkfs_options *o);

/* Whether O describes zones for an image file. */
bool zoneoptions_emulate(const struct mkfs_options *o);

/* The zones that O describes, for a file PATH of BYTES; see zone_make(). */
int zoneoptions_make(struct context *cx, const struct mkfs_options *o,
		     const char *path, uint64_t bytes, struct zones *zones);

#endif
