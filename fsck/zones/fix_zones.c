// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resets and finishes zones.
 *
 * This is the last repair, so that segments that are clean in the SUFILE are
 * clean.  Nothing is reset while logs after the latest one may be needed, or
 * while the places of blocks are unknown.  The zones are changed after
 * everything else is on the device: until then an interruption needs the old
 * content.
 *
 * A zone whose pointer is before the end of the blocks in use is finished,
 * because its pointer cannot be moved otherwise.  Only an emulated zone, or one
 * that lost written data, can have such a pointer.
 */
#include "check/pass/passes.h"
#include "dev/overlay.h"
#include "dev/zone.h"
#include "fsck/plan/fixers.h"
#include "log/tables/segzones.h"

struct zoning {
	struct fixer_job *job;
	uint64_t emptied, finished;	/* numbers of segments and zones */
};

/* IS_ACTIVE: only if it contains data. */
static int finish_zone(struct zoning *z, struct context *cx, uint64_t n,
		       bool is_active)
{
	struct dev *dev = z->job->dev;
	struct zone zone;
	int ret = dev_zone_report(dev, cx, n, &zone, 1);

	if (ret || zone.kind != ZONE_SEQUENTIAL ||
	    zone.pointer == zone.start + zone.capacity ||
	    (is_active && zone.pointer <= zone.start))
		return ret;
	z->finished++;
	return dev_zone_change(dev, cx, zone.start, zone.size, true);
}

static int repair_zone(void *arg, struct context *cx,
		       const struct finding *f)
{
	struct zoning *z = arg;
	struct dev *dev = z->job->dev;
	bool empty = f->rule == RULE_ZONE_CLEAN ||
		     f->rule == RULE_ZONE_NEXT;
	uint64_t n, end;
	int ret = 0;

	/* All active zones that will not be written to. */
	if (f->rule == RULE_ZONE_ACTIVE) {
		for (n = 0; n < dev->zones->count && !ret; n++)
			if (!pass_zones_is_current(z->job->check, n))
				ret = finish_zone(z, cx, n, true);
		return ret;
	}
	if ((!empty && f->rule != RULE_ZONE_BEHIND) ||
	    (empty && pass_zones_is_held(z->job->check, f->place.number)))
		return 0;
	segzones_range(dev->zones, &z->job->vol->geo, f->place.number, &n, &end);
	for (; n < end && !ret; n++)
		ret = empty ? overlay_reset_last(dev, cx, n) :
			      finish_zone(z, cx, n, false);
	z->emptied += empty;
	return ret;
}

int fix_zones(struct fixer_job *job, struct context *cx,
	      const struct finding *fixes, size_t n)
{
	struct zoning z = { .job = job };
	int ret;

	(void)fixes;
	(void)n;
	if (job->vol->latest.orphans_start || job->check->dat_broken)
		return 0;
	ret = pass_zones_walk(job->check, cx, repair_zone, &z);
	if (ret)
		return ret;
	if (z.emptied)
		fixers_note(job, "zones of %llu clean segment%s: reset",
			    (unsigned long long)z.emptied,
			    z.emptied == 1 ? "" : "s");
	if (z.finished)
		fixers_note(job, "%llu zone%s: finished",
			    (unsigned long long)z.finished,
			    z.finished == 1 ? "" : "s");
	return 0;
}
