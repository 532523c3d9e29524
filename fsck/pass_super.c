// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pass 1: superblocks and super root.
 *
 * It checks both superblocks and finds the latest super root, as the kernel
 * does.  It needs nothing, and leaves an open volume to the others; where it
 * cannot, there is nothing to check.
 */
#include "fsck/check.h"
#include "fsck/passes.h"

int pass_super(struct check *c, struct context *cx)
{
	int err = volume_open(&c->vol, cx, c->dev, NULL);

	return check_damage(c, cx, err, RULE_SB_MAGIC,
			    place_number(PLACE_VOLUME, 0));
}
