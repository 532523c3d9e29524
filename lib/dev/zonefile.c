// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Emulated zones.
 *
 * The device underneath has only the data, each byte at its offset, so the
 * image is an ordinary one.  The write pointers are kept here and, between two
 * uses, in a second file.  They cannot be derived from the data: a zone may end
 * in zeros that were written.
 *
 * A request may cross zones, as on a block device of Linux, which splits it;
 * here it is checked as a whole before any byte is written.
 */
#include "dev/zoned.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dev/zonedump.h"

struct zonefile {
	struct dev dev;
	struct zonedump state;
	bool changed;		/* the pointers, since they were kept */
	char side[];		/* "": nowhere */
};

static struct zonefile *to_zonefile(struct dev *dev)
{
	return (struct zonefile *)dev;
}

/* Bytes of [OFF, END) that lie in the zone of OFF. */
static uint64_t part_of(const struct zone *zone, uint64_t off, uint64_t end)
{
	uint64_t zone_end = zone->start + zone->size;

	return (end < zone_end ? end : zone_end) - off;
}

static int check_part(struct zonefile *file, struct context *cx,
		      const struct zone *zone, uint64_t off, uint64_t len)
{
	uint64_t n = zone_of(&file->state.zones, off);
	uint64_t pointer = file->state.pointers[n];

	if (zone->kind == ZONE_CONVENTIONAL)
		return 0;
	if (zone->kind == ZONE_UNWRITABLE)
		return fail(cx, -EIO, "%s: write at byte %" PRIu64 ": zone %"
			    PRIu64 " cannot be written to", file->dev.name,
			    off, n);
	if (off != pointer)
		return fail(cx, -EIO, "%s: write at byte %" PRIu64 ": zone %"
			    PRIu64 " is to be written at byte %" PRIu64,
			    file->dev.name, off, n, pointer);
	if (len > zone->start + zone->capacity - off)
		return fail(cx, -EIO, "%s: write of %" PRIu64 " bytes at byte %"
			    PRIu64 ": past the capacity of zone %" PRIu64,
			    file->dev.name, len, off, n);
	return 0;
}

static int check_write(struct zonefile *file, struct context *cx, uint64_t off,
		       uint64_t end)
{
	const struct zones *zones = &file->state.zones;
	int ret = 0;

	while (off < end && !ret) {
		struct zone zone = zone_at(zones, zone_of(zones, off));
		uint64_t len = part_of(&zone, off, end);

		ret = check_part(file, cx, &zone, off, len);
		off += len;
	}
	return ret;
}

static void advance_pointers(struct zonefile *file, uint64_t off, uint64_t end)
{
	const struct zones *zones = &file->state.zones;

	while (off < end) {
		uint64_t n = zone_of(zones, off);
		struct zone zone = zone_at(zones, n);

		off += part_of(&zone, off, end);
		if (zone.kind != ZONE_SEQUENTIAL)
			continue;
		file->state.pointers[n] = off;
		file->changed = true;
	}
}

static int zonefile_write(struct dev *dev, struct context *cx, uint64_t off,
			  const void *buf, size_t len)
{
	struct zonefile *file = to_zonefile(dev);
	int ret = check_write(file, cx, off, off + len);

	if (!ret)
		ret = dev_write(file->dev.under, cx, off, buf, len);
	if (!ret)
		advance_pointers(file, off, off + len);
	return ret;
}

static int zonefile_flush(struct dev *dev, struct context *cx)
{
	struct zonefile *file = to_zonefile(dev);
	int ret = dev_flush(file->dev.under, cx);

	if (ret || !file->changed || !file->side[0])
		return ret;
	ret = zonedump_write(cx, file->side, &file->state);
	file->changed = ret;
	return ret;
}

static int zonefile_report(struct dev *dev, struct context *cx, uint64_t first,
			   struct zone *zones, size_t n)
{
	struct zonefile *file = to_zonefile(dev);
	size_t i;

	(void)cx;
	for (i = 0; i < n; i++) {
		zones[i] = zone_at(&file->state.zones, first + i);
		zones[i].pointer = file->state.pointers[first + i];
	}
	return 0;
}

/* Zones [N, END) are sequential. */
static int reset_run(struct zonefile *file, struct context *cx, uint64_t n,
		     uint64_t end)
{
	uint64_t size = file->state.zones.size, off = n * size, to = end * size;
	int ret;

	if (to > file->dev.size)
		to = file->dev.size;
	ret = dev_discard(file->dev.under, cx, off, to - off);
	for (; n < end && !ret; n++)
		file->state.pointers[n] = n * size;
	file->changed = true;
	return ret;
}

/* Zones [N, END) are sequential. */
static int finish_run(struct zonefile *file, struct context *cx, uint64_t n,
		      uint64_t end)
{
	(void)cx;
	for (; n < end; n++) {
		struct zone zone = zone_at(&file->state.zones, n);

		file->state.pointers[n] = zone.start + zone.capacity;
	}
	file->changed = true;
	return 0;
}

/* Does DO_RUN to the runs of sequential zones in a range. */
static int each_run(struct zonefile *file, struct context *cx, uint64_t off,
		    uint64_t len,
		    int (*do_run)(struct zonefile *file, struct context *cx,
				  uint64_t n, uint64_t end))
{
	const struct zones *zones = &file->state.zones;
	uint64_t n = zone_of(zones, off), last = zone_of(zones, off + len - 1);
	int ret = 0;

	while (n <= last && !ret) {
		uint64_t end = zone_run_end(zones, n);

		if (end > last + 1)
			end = last + 1;
		if (zones->kinds[n] == ZONE_SEQUENTIAL)
			ret = do_run(file, cx, n, end);
		n = end;
	}
	return ret;
}

static int zonefile_reset(struct dev *dev, struct context *cx, uint64_t off,
			  uint64_t len)
{
	return each_run(to_zonefile(dev), cx, off, len, reset_run);
}

static int zonefile_finish(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len)
{
	return each_run(to_zonefile(dev), cx, off, len, finish_run);
}

static void zonefile_close(struct dev *dev)
{
	struct zonefile *file = to_zonefile(dev);

	zonedump_fini(&file->state);
	free(file);
}

static const struct dev_ops zonefile_ops = {
	.write = zonefile_write,
	.flush = zonefile_flush,
	.zone_report = zonefile_report,
	.zone_reset = zonefile_reset,
	.zone_finish = zonefile_finish,
	.close = zonefile_close,
};

/* STATE is taken over, also in case of failure. */
static int open_with(struct dev **devp, struct context *cx, struct dev *under,
		     const char *side, struct zonedump *state)
{
	size_t side_size = side ? strlen(side) + 1 : 1;
	struct zonefile *file = calloc(1, sizeof(*file) + side_size);

	if (!file) {
		zonedump_fini(state);
		return fail(cx, -ENOMEM, "%s: open with zones", under->name);
	}
	dev_init_over(&file->dev, &zonefile_ops, under);
	file->state = *state;
	file->dev.zones = &file->state.zones;
	if (side)
		memcpy(file->side, side, side_size);
	*devp = &file->dev;
	return 0;
}

static int fill_pointers(struct context *cx, struct dev *under,
			 struct zonedump *state)
{
	uint64_t n, count = state->zones.count;

	if ((count - 1) * state->zones.size + state->zones.last_size !=
	    under->size)
		return fail(cx, -EINVAL, "%s: its zones are those of a device "
			    "of another size", under->name);
	state->pointers = calloc(count, sizeof(*state->pointers));
	if (!state->pointers)
		return fail(cx, -ENOMEM, "%s: open with zones", under->name);
	for (n = 0; n < count; n++) {
		struct zone zone = zone_at(&state->zones, n);

		if (zone.kind == ZONE_SEQUENTIAL)
			state->pointers[n] = zone.start + zone.capacity;
	}
	return 0;
}

int zonefile_open(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side, const struct zones *zones)
{
	struct zonedump state = {
		.bytes = under->size,
		.sector_size = under->sector_size,
	};
	int ret = zone_copy(&state.zones, cx, zones);

	state.zones.emulated = true;
	if (!ret)
		ret = fill_pointers(cx, under, &state);
	if (ret) {
		zonedump_fini(&state);
		return ret;
	}
	return open_with(devp, cx, under, side, &state);
}

int zonefile_load(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side)
{
	struct zonedump state;
	int ret = zonedump_read(cx, side, &state);

	if (!ret && state.bytes != under->size)
		ret = fail(cx, -EINVAL, "%s: is for a device of %" PRIu64
			   " bytes, but %s has %" PRIu64, side, state.bytes,
			   under->name, under->size);
	if (ret) {
		zonedump_fini(&state);
		return ret;
	}
	return open_with(devp, cx, under, side, &state);
}
