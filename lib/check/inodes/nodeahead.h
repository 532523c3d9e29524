/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes of the maps of many inodes, announced to the device at once. */
#ifndef NILFS2_CHECK_NODEAHEAD_H
#define NILFS2_CHECK_NODEAHEAD_H

#include <stdint.h>

#include "base/context.h"
#include "check/vblocks.h"

#define NODEAHEAD_MAX 1024u

struct nodeahead {
	struct vblocks *vblocks;	/* to find them with */
	uint64_t places[NODEAHEAD_MAX];	/* ascending */
	unsigned int n;
};

/*
 * Adds what the roots of the B-trees of the inodes at BLOCK lead to, a block
 * of an ifile, as far as there is room.  What is wrong with them is for others
 * to say.  0, or what vblocks_seek() fails with.
 */
int nodeahead_add(struct nodeahead *a, struct context *cx, const void *block);

/* Announces all added nodes to the device. */
void nodeahead_end(struct nodeahead *a);

#endif
