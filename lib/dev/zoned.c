// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The zones of a path, and emulated ones.
 *
 * An image file that was formatted with zones has a second file that describes them,
 * so that it can be copied to a zoned device; every writer must update that file.  A
 * device is queried; if that fails it is treated as having no zones.
 *
 * The device under emulated zones contains only the data, each byte at its offset,
 * so the image is an ordinary one.  The write pointers are kept in memory and,
 * between two uses, in the second file.  They cannot be derived from the data: a
 * zone may end in written zeros.
 *
 * A request may cross zones, as on a block device of Linux, which splits it; here it
 * is checked as a whole before any byte is written.
 */
#include "config.h"

#include "dev/zoned.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev/probe.h"
#include "dev/zonedump.h"

struct zonefile {
	struct dev dev;
	struct zonedump state;
	bool changed;		/* pointers changed since they were saved */
	char side[];		/* "": none */
};

static int zonefile_write(struct dev *dev, struct context *cx, uint64_t off,
			  const void *buf, size_t len)
{
	struct zonefile *file = (struct zonefile *)dev;
	const struct zones *zones = &file->state.zones;
	uint64_t at, n, part, end = off + len;
	struct zone zone;
	int ret;

	for (at = off; at < end; at += part) {
		n = zone_of(zones, at);
		part = zone_part(zones, at, end);
		if (zones->kinds[n] == ZONE_CONVENTIONAL)
			continue;
		zone = zone_at(zones, n);
		zone.pointer = file->state.pointers[n];
		ret = zone_check_write(&zone, cx, dev->name, n, at, part);
		if (ret)
			return ret;
	}
	ret = dev_write(dev->under, cx, off, buf, len);
	for (at = off; at < end && !ret; at += part) {
		n = zone_of(zones, at);
		part = zone_part(zones, at, end);
		if (zones->kinds[n] != ZONE_SEQUENTIAL)
			continue;
		file->state.pointers[n] = at + part;
		file->changed = true;
	}
	return ret;
}

static int zonefile_flush(struct dev *dev, struct context *cx)
{
	struct zonefile *file = (struct zonefile *)dev;
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
	struct zonefile *file = (struct zonefile *)dev;
	size_t i;

	(void)cx;
	for (i = 0; i < n; i++) {
		zones[i] = zone_at(&file->state.zones, first + i);
		zones[i].pointer = file->state.pointers[first + i];
	}
	return 0;
}

/* Resets, or with FINISH fills, the sequential zones of a range. */
static int zonefile_change(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len, bool finish)
{
	struct zonefile *file = (struct zonefile *)dev;
	const struct zones *zones = &file->state.zones;
	uint64_t n = zone_of(zones, off), last = zone_of(zones, off + len - 1);
	uint64_t end, to;
	int ret = 0;

	for (; n <= last && !ret; n = end) {
		end = zone_run_end(zones, n);
		if (end > last + 1)
			end = last + 1;
		if (zones->kinds[n] != ZONE_SEQUENTIAL)
			continue;
		to = end * zones->size;
		if (to > dev->size)
			to = dev->size;
		off = n * zones->size;
		if (!finish)
			ret = dev_discard(dev->under, cx, off, to - off);
		for (; n < end && !ret; n++) {
			struct zone zone = zone_at(zones, n);

			file->state.pointers[n] =
				zone.start + (finish ? zone.capacity : 0);
		}
		file->changed = true;
	}
	return ret;
}

static void zonefile_close(struct dev *dev)
{
	struct zonefile *file = (struct zonefile *)dev;

	zonedump_fini(&file->state);
	free(file);
}

static const struct dev_ops zonefile_ops = {
	.write = zonefile_write,
	.flush = zonefile_flush,
	.zone_report = zonefile_report,
	.zone_change = zonefile_change,
	.close = zonefile_close,
};

int zoned_emulate(struct dev **devp, struct context *cx, struct dev *under,
		  const char *side, const struct zones *zones)
{
	size_t n, side_size = side ? strlen(side) + 1 : 1;
	struct zonefile *file = calloc(1, sizeof(*file) + side_size);
	struct zonedump *state;
	int ret = 0;

	if (!file)
		return fail(cx, -ENOMEM, "%s: open with zones", under->name);
	dev_init_over(&file->dev, &zonefile_ops, under);
	if (side)
		memcpy(file->side, side, side_size);
	state = &file->state;
	file->dev.zones = &state->zones;
	if (!zones) {
		ret = zonedump_read(cx, side, state);
		if (!ret && state->bytes != under->size)
			ret = fail(cx, -EINVAL, "%s: is for a device of %"
				   PRIu64 " bytes, but %s has %" PRIu64, side,
				   state->bytes, under->name, under->size);
	} else if ((zones->count - 1) * zones->size + zones->last_size !=
		   under->size) {
		ret = fail(cx, -EINVAL, "%s: its zones are those of a device "
			   "of another size", under->name);
	} else {
		state->zones = *zones;
		state->zones.emulated = true;
		state->bytes = under->size;
		state->sector_size = under->sector_size;
		state->zones.kinds = malloc(zones->count);
		state->pointers = calloc(zones->count, sizeof(*state->pointers));
		if (!state->zones.kinds || !state->pointers)
			ret = fail(cx, -ENOMEM, "%s: open with zones",
				   under->name);
		else
			memcpy(state->zones.kinds, zones->kinds, zones->count);
		for (n = 0; n < zones->count && !ret; n++) {
			struct zone zone = zone_at(&state->zones, n);

			if (zone.kind == ZONE_SEQUENTIAL)
				state->pointers[n] = zone.start + zone.capacity;
		}
	}
	if (ret)
		zonefile_close(&file->dev);
	else
		*devp = &file->dev;
	return ret;
}

int zoned_side(char **side, struct context *cx, const char *path)
{
	if (asprintf(side, "%s.zones", path) >= 0)
		return 0;
	*side = NULL;
	return fail(cx, -ENOMEM, "%s: open", path);
}

int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path)
{
	enum probe_zone_model model;
	char *side = NULL;
	int ret;

	*devp = under;
	if (under->is_block_device) {
		if (probe_zoned(cx, path, &model))
			fail_clear(cx);
		return model == PROBE_ZONES_HOST_MANAGED ?
			       zonedisk_open(devp, cx, under) : 0;
	}
	ret = zoned_side(&side, cx, path);
	if (!ret && !access(side, F_OK))
		ret = zoned_emulate(devp, cx, under, side, NULL);
	free(side);
	return ret;
}
