/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Failures that the volume is to blame for.
 *
 * Whoever looks for something that may be broken as well takes them for "not
 * there": what is wrong with it is found and told where it belongs.
 */
#ifndef NILFS2_FSCK_DAMAGE_H
#define NILFS2_FSCK_DAMAGE_H

#include <errno.h>
#include <stdbool.h>

#include "base/context.h"

/* Whether ERR says that something is broken or cannot be read. */
static inline bool damage_is(int err)
{
	return err == -EIO || err == -EUCLEAN || err == -EINVAL ||
	       err == -ENOENT;
}

/* ERR, or 0 where it is damage, of which CX then says nothing any more. */
static inline int damage_forgive(struct context *cx, int err)
{
	if (!damage_is(err))
		return err;
	fail_clear(cx);
	return 0;
}

#endif
