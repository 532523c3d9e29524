// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over zones: whether the kernel can write where it will.
 *
 * It needs the SUFILE, whose damage the pass over segments reports, and from
 * the pass over the DAT which segments only look clean.
 */
#include "check/check.h"
#include "check/damage.h"
#include "check/pass/passes.h"
#include "check/pass/zonewalk.h"

static int add_finding(void *arg, struct context *cx,
		       const struct zonewalk_item *item)
{
	struct check *c = arg;
	struct place place = item->rule == RULE_ZONE_ACTIVE ?
				     place_number(PLACE_VOLUME, 0) :
				     place_number(PLACE_SEGMENT, item->segnum);

	(void)cx;
	if (item->rule == RULE_ZONE_UNWRITABLE ||
	    item->rule == RULE_ZONE_SHARED)
		findings_broken(c->findings, item->rule, place);
	else
		findings_differ(c->findings, item->rule, place, item->want,
				item->got);
	return 0;
}

int pass_zones(struct check *c, struct context *cx)
{
	/* Other passes report what could not be read. */
	return damage_forgive(cx, zonewalk_run(c, cx, add_finding, c));
}

uint64_t pass_zones_work(const struct check *c)
{
	return c->dev->zones ? c->vol->geo.nsegments : 0;
}
