// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The forecast.
 *
 * The position of a block depends on sizes and names, never on the content of
 * files, so the code that fills a volume also computes the space it needs: on a
 * device that is larger than any need and keeps writes in memory, without the
 * blocks of files.  Segments are used one after the other, so the number used
 * is the number needed.
 */
#include "mkfs/forecast.h"

#include <string.h>

#include "dev/overlay.h"
#include "disk/reserve.h"

#define ROOM (UINT64_C(8) << 40)

static int zeros_read(struct dev *dev, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	(void)dev;
	(void)cx;
	(void)off;
	memset(buf, 0, len);
	return 0;
}

/* Enough under an overlay, which neither writes to it nor closes it. */
static const struct dev_ops zeros_ops = {
	.read = zeros_read,
};

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
	struct dev zeros = {
		.ops = &zeros_ops,
		.name = "forecast",
		.sector_size = 512,
	};
	int ret;

	*f = (struct forecast){ .plan = *plan, .content = *content };
	f->content.forecast = true;
	f->content.digest = false;
	f->content.allocate = 0;
	if (!plan->zoned.zones && plan->size < ROOM)
		plan_limit(&f->plan, ROOM);
	zeros.size = f->plan.size;
	ret = run_on(f, cx, &zeros);
	f->nsegments = ret ? 0 : fewest_segments(f);
	return ret;
}

int forecast_zones(struct forecast *f, struct context *cx,
		   const struct plan *plan, const struct content *content)
{
	struct plan room = *plan;
	int ret;

	room.zoned.zones = NULL;
	ret = forecast_run(f, cx, &room, content);
	f->nsegments *= plan->zoned.per_zone;
	if (!ret && f->nsegments <= plan->g.nsegments)
		f->nsegments = plan->g.nsegments + 1;
	return ret;
}
