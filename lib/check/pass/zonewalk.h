/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments whose zones do not have the state that the kernel needs. */
#ifndef NILFS2_CHECK_ZONEWALK_H
#define NILFS2_CHECK_ZONEWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "disk/rule.h"

struct zonewalk_item {
	enum rule rule;
	uint64_t segnum;	/* not of RULE_ZONE_ACTIVE */
	uint64_t want, got;	/* blocks of the device; zones, of that rule */
};

typedef int zonewalk_visit(void *arg, struct context *cx,
			   const struct zonewalk_item *item);

/*
 * Compares the SUFILE of c->vol with the zones of c->dev, and calls VISIT for
 * each error; without zones there are none.  Segments in which the DAT names
 * blocks (c->live_segments) are not treated as clean.  Fails as
 * sutable_cursor_next(), dev_zone_report() and VISIT.
 */
int zonewalk_run(struct check *c, struct context *cx, zonewalk_visit *visit,
		 void *arg);

/*
 * Whether the zones of SEGNUM have blocks in use, apart from its own entry in
 * the SUFILE.
 */
bool zonewalk_is_held(const struct check *c, uint64_t segnum);

/* Whether zone N is one of the latest segment, or of the next one. */
bool zonewalk_is_current(const struct check *c, uint64_t n);

#endif
