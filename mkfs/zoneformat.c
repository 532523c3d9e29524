// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resetting zones.
 *
 * The order is that of any format: old superblocks are destroyed first.  A
 * second one in a sequential zone is destroyed by the reset of that zone, which
 * takes effect on the medium at once.  Then every other zone is reset: a clean
 * segment must be an empty zone, or the kernel cannot write to it.
 *
 * Only conventional zones are wiped and discarded.
 */
#include "mkfs/zoneformat.h"

#include "disk/super.h"
#include "mkfs/wipe.h"

#define PIECE 4096u

static bool is_conventional(const struct zones *zones, uint64_t off)
{
	return zones->kinds[zone_of(zones, off)] == ZONE_CONVENTIONAL;
}

static int wipe_superblocks(struct context *cx, struct dev *dev,
			    const struct zones *zones)
{
	static const uint8_t zeros[PIECE];
	uint64_t super2 = super_offset2(dev->size);
	uint64_t last = zone_at(zones, zone_of(zones, super2)).start;
	int ret = dev_write(dev, cx, 0, zeros, PIECE);

	if (!ret && is_conventional(zones, super2))
		ret = dev_write(dev, cx, super2, zeros, PIECE);
	if (!ret)
		ret = dev_flush(dev, cx);
	if (!ret)
		ret = dev_zone_reset(dev, cx, last, dev->size - last);
	return ret;
}

/* Discards the conventional zones. */
static int discard(struct context *cx, struct dev *dev,
		   const struct zones *zones)
{
	uint64_t n, end, to;
	int ret = 0;

	for (n = 0; n < zones->count && !ret; n = end) {
		end = zone_run_end(zones, n);
		to = end < zones->count ? end * zones->size : dev->size;
		if (zones->kinds[n] == ZONE_CONVENTIONAL)
			ret = dev_discard(dev, cx, n * zones->size,
					  to - n * zones->size);
	}
	return ret;
}

/* What of [OFF, END) is conventional. */
static int wipe_conventional(struct context *cx, struct dev *dev,
			     const struct zones *zones, uint64_t off,
			     uint64_t end)
{
	int ret = 0;

	while (off < end && !ret) {
		struct zone zone = zone_at(zones, zone_of(zones, off));
		uint64_t to = zone.start + zone.size;

		if (to > end)
			to = end;
		if (zone.kind == ZONE_CONVENTIONAL)
			ret = wipe_range(cx, dev, off, to);
		off = to;
	}
	return ret;
}

static int wipe_signatures(struct context *cx, struct dev *dev,
			   const struct zones *zones)
{
	uint64_t head = dev->size < WIPE_RANGE ? dev->size : WIPE_RANGE;
	uint64_t tail = (dev->size - head) & ~(uint64_t)(PIECE - 1);
	int ret = wipe_conventional(cx, dev, zones, 0, head);

	return ret ? ret : wipe_conventional(cx, dev, zones,
					     tail > head ? tail : head,
					     dev->size);
}

int zoneformat_prepare(struct context *cx, struct dev *dev,
		       const struct plan *plan, const struct format_how *how)
{
	const struct zones *zones = plan->zoned.zones;
	int ret = 0;

	if (!how->blank)
		ret = wipe_superblocks(cx, dev, zones);
	if (!ret)
		ret = dev_zone_reset(dev, cx, 0, dev->size);
	if (!ret && how->discard && !how->blank)
		ret = discard(cx, dev, zones);
	if (!ret && !how->blank)
		ret = wipe_signatures(cx, dev, zones);
	return ret;
}
