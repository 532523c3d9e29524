/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Failures caused by damage of the volume.
 *
 * A search that meets damage treats it as "not found", because the damage is
 * reported elsewhere.  Bytes that break a rule are -EUCLEAN, a missing block or
 * entry is -ENOENT, an unreadable block is -EIO.  -EINVAL is not damage: a
 * caller broke a contract.  It is an internal error and ends the repair.
 */
#ifndef NILFS2_CHECK_DAMAGE_H
#define NILFS2_CHECK_DAMAGE_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/context.h"
#include "base/sparse.h"

/* Whether ERR means that something is broken, missing or unreadable. */
static inline bool damage_is(int err)
{
	return err == -EIO || err == -EUCLEAN || err == -ENOENT;
}

/* Whether ERR is a failure not caused by the volume, which ends a check. */
static inline bool damage_is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS;
}

/* Returns 0 and clears the failure of CX if ERR is damage; else returns ERR. */
static inline int damage_forgive(struct context *cx, int err)
{
	if (!damage_is(err))
		return err;
	fail_clear(cx);
	return 0;
}

/* Adds NUMBER, read from the volume, to S as sparse_add() does.  A number after
   the end of the set is damage, -EUCLEAN. */
static inline int damage_add(struct sparse *s, struct context *cx,
			     uint64_t number)
{
	if (!sparse_can_have(s, number))
		return fail(cx, -EUCLEAN, "number %" PRIu64 ": there are %"
			    PRIu64 " only", number, s->bits);
	return sparse_add(s, cx, number);
}

/* Prepares the failure ERR of a check or repair for reporting: marks internal
   errors as such. */
static inline int damage_failed(struct context *cx, int err)
{
	char text[FAILURE_TEXT_MAX];

	if (err != -EINVAL)
		return err;
	memcpy(text, cx->failure, sizeof(text));
	return fail(cx, err, "internal error: %.480s", text);
}

#endif
