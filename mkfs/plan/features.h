/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The -O option: which features a new volume has. */
#ifndef NILFS2_MKFS_FEATURES_H
#define NILFS2_MKFS_FEATURES_H

#include <stdint.h>

#include "base/context.h"

/* The words of the superblock. */
struct features {
	uint64_t compat, compat_ro, incompat;
};

/*
 * Applies LIST ("block_count,^track_live_blks", "none"; NULL: nothing) to the
 * default features, word by word from the left.  -EINVAL with the failure
 * text for a name that is no feature, and for features that need others.
 */
int features_parse(struct context *cx, const char *list, struct features *f);

#endif
