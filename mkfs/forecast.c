// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forecast.
 *
 * Where a block goes depends on sizes and names, never on what files hold, so
 * the same code that fills a volume tells what it takes: on a device that is
 * larger than any need and keeps what is written in memory, without the blocks
 * of files.  Segments are taken one after the other, so those that were taken
 * are those that must be there.
 */
#include "mkfs/forecast.h"

#include "dev/memory.h"
#include "dev/overlay.h"
#include "disk/reserve.h"

#define ROOM (UINT64_C(8) << 40)

static int run_on(struct forecast *f, struct context *cx, struct dev *under)
{
	struct dev *dev;
	int ret = overlay_open(&dev, cx, under);

	if (ret)
		return ret;
	ret = content_write(&f->content, cx, dev, &f->plan);
	dev_close(dev);
	return ret;
}

/* Those in use, and no fewer than a volume must have. */
static uint64_t fewest_segments(const struct forecast *f)
{
	uint64_t least = reserve_min_segments(f->plan.reserved);
	uint64_t used = f->content.end.used_segments;

	if (f->plan.fit)
		return f->plan.g.nsegments;
	return used > least ? used : least;
}

int forecast_run(struct forecast *f, struct context *cx,
		 const struct plan *plan, const struct content *content)
{
	struct dev *under;
	int ret;

	*f = (struct forecast){ .plan = *plan, .content = *content };
	f->content.forecast = true;
	f->content.digest = false;
	f->content.allocate = 0;
	if (!plan->zoned.zones && plan->size < ROOM)
		plan_limit(&f->plan, ROOM);
	ret = memory_open_zeros(&under, cx, f->plan.size);
	if (ret)
		return ret;
	ret = run_on(f, cx, under);
	dev_close(under);
	f->nsegments = ret ? 0 : fewest_segments(f);
	return ret;
}
