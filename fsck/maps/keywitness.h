/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is right about the key of a node: itself, or its parent? */
#ifndef NILFS2_FSCK_KEYWITNESS_H
#define NILFS2_FSCK_KEYWITNESS_H

#include <stdint.h>

#include "base/context.h"
#include "disk/bmap.h"
#include "fsck/maps/snapmaps.h"

/*
 * Whether what pointer I of NODE, of the file that S is at, leads to says that
 * it is at the key that NODE has for it: 1, 0 where it says another or nothing,
 * -ENOMEM, -EINTR.
 */
int keywitness_ask(struct snapmaps *s, struct context *cx,
		   const struct bmap_node *node, uint32_t i);

#endif
