/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of a directory that is written again: those that stay. */
#ifndef NILFS2_FSCK_DIRKEEP_H
#define NILFS2_FSCK_DIRKEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/blockbatch.h"

struct dirwrite;

/*
 * Gives W what stays of the block ITEM, which was read to DATA.  Fails as
 * dirwrite_emit().
 */
int dirkeep_block(struct dirwrite *w, struct context *cx,
		  const struct blockbatch_item *item, const void *data);

/*
 * Whether a name in the directory is the one that directory INO is to have:
 * true once for each.
 */
bool dirkeep_is_its_name(struct dirwrite *w, uint64_t ino);

#endif
