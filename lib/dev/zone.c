// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The zones of a device.
 *
 * Linux supports only devices with zones of equal size (except the last one), a
 * power of 2; so a zone is described by its number and its kind, one byte each.
 * Capacities may differ in principle: the smallest one is kept, since a layout with
 * segments of equal length can use no more.  Write pointers are not included: they
 * change, and are read on demand.
 */
#include "dev/zone.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int zone_begin(struct zones *zones, struct context *cx, uint64_t count,
	       uint64_t size)
{
	memset(zones, 0, sizeof(*zones));
	if (size < 512 || size & (size - 1))
		return fail(cx, -EINVAL, "zones of %" PRIu64
			    " bytes: not a power of 2 of at least 512", size);
	if (!count || count > ZONE_COUNT_MAX || count > INT64_MAX / size)
		return fail(cx, -EINVAL, "%" PRIu64 " zones: not from 1 to %u",
			    count, ZONE_COUNT_MAX);
	zones->kinds = malloc(count);
	if (!zones->kinds)
		return fail(cx, -ENOMEM, "%" PRIu64 " zones", count);
	memset(zones->kinds, ZONE_UNWRITABLE, count);
	zones->count = count;
	zones->size = size;
	zones->last_size = size;
	zones->capacity = size;
	return 0;
}

int zone_add(struct zones *zones, struct context *cx, uint64_t n,
	     const struct zone *zone)
{
	bool last = n + 1 == zones->count;

	if (n >= zones->count || zone->start != n * zones->size)
		return fail(cx, -EINVAL, "zone at byte %" PRIu64
			    " is not where zone %" PRIu64 " must be",
			    zone->start, n);
	if (!zone->size || zone->size > zones->size ||
	    (zone->size < zones->size && !last))
		return fail(cx, -EINVAL, "zone %" PRIu64 " has %" PRIu64
			    " bytes, others have %" PRIu64, n, zone->size,
			    zones->size);
	if (!zone->capacity || zone->capacity > zone->size)
		return fail(cx, -EINVAL, "zone %" PRIu64
			    " has a capacity of %" PRIu64 " bytes in %" PRIu64,
			    n, zone->capacity, zone->size);
	zones->kinds[n] = (uint8_t)zone->kind;
	zones->last_size = zone->size;
	/* A short last zone does not count for the capacity. */
	if (zone->kind == ZONE_SEQUENTIAL && zone->size == zones->size &&
	    zone->capacity < zones->capacity)
		zones->capacity = zone->capacity;
	return 0;
}

int zone_make(struct zones *zones, struct context *cx, uint64_t bytes,
	      uint64_t size, uint64_t capacity, uint64_t head, uint64_t tail)
{
	int ret = zone_begin(zones, cx, size ? bytes / size : 0, size);

	if (ret)
		return ret;
	if (bytes % size)
		return fail(cx, -EINVAL, "%" PRIu64
			    " bytes are not a multiple of zones of %" PRIu64,
			    bytes, size);
	if (!capacity || capacity > size || capacity % 512)
		return fail(cx, -EINVAL, "a zone of %" PRIu64
			    " bytes cannot have a capacity of %" PRIu64, size,
			    capacity);
	if (head > zones->count || tail > zones->count - head)
		return fail(cx, -EINVAL, "%" PRIu64 " zones cannot have %"
			    PRIu64 " and %" PRIu64 " conventional ones",
			    zones->count, head, tail);
	zones->capacity = capacity;
	memset(zones->kinds, ZONE_SEQUENTIAL, zones->count);
	memset(zones->kinds, ZONE_CONVENTIONAL, head);
	memset(zones->kinds + zones->count - tail, ZONE_CONVENTIONAL, tail);
	return 0;
}

void zone_fini(struct zones *zones)
{
	free(zones->kinds);
	memset(zones, 0, sizeof(*zones));
}

uint64_t zone_count(const struct zones *zones, enum zone_kind kind)
{
	uint64_t n, count = 0;

	for (n = 0; n < zones->count; n++)
		count += zones->kinds[n] == kind;
	return count;
}

struct zone zone_at(const struct zones *zones, uint64_t n)
{
	struct zone zone = {
		.start = n * zones->size,
		.size = n + 1 < zones->count ? zones->size : zones->last_size,
		.kind = zones->kinds[n],
	};

	zone.capacity = zone.size;
	if (zone.kind == ZONE_SEQUENTIAL) {
		zone.pointer = zone.start;
		if (zone.capacity > zones->capacity)
			zone.capacity = zones->capacity;
	}
	return zone;
}

int zone_check_write(const struct zone *zone, struct context *cx,
		     const char *name, uint64_t n, uint64_t off, uint64_t len)
{
	uint64_t end = zone->start + zone->capacity;

	if (zone->kind != ZONE_SEQUENTIAL)
		return fail(cx, -EIO, "%s: write at byte %" PRIu64 ": zone %"
			    PRIu64 " cannot be written to", name, off, n);
	if (off == zone->pointer && len <= end - off)
		return 0;
	return fail(cx, -EIO, "%s: write of %" PRIu64 " bytes at byte %" PRIu64
		    ": zone %" PRIu64 " must be written from byte %" PRIu64
		    " to %" PRIu64, name, len, off, n, zone->pointer, end);
}

uint64_t zone_part(const struct zones *zones, uint64_t off, uint64_t end)
{
	struct zone zone = zone_at(zones, zone_of(zones, off));
	uint64_t zone_end = zone.start + zone.size;

	return (end < zone_end ? end : zone_end) - off;
}

uint64_t zone_run_end(const struct zones *zones, uint64_t n)
{
	uint8_t kind = zones->kinds[n];

	while (n < zones->count && zones->kinds[n] == kind)
		n++;
	return n;
}
