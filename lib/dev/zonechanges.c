// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The changes of zones that an overlay records in place of making them.
 *
 * A change describes its zone completely, so the latest one of a zone is its state,
 * and dropping it restores the previous one.  Like a page, a change made after the
 * last mark is updated in place.  Changes and pages are one sequence: each change
 * records how many pages preceded it.
 *
 * A reset is done last, because the old state of the device may need the content of
 * the zone.  It is done first only if the zone is written to again, or the caller
 * requests it.
 */
#include "dev/zonechanges.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

const struct zonechange *zonechanges_of(const struct zonechanges *z,
					uint64_t n)
{
	return z->latest && z->latest[n] ? &z->list[z->latest[n] - 1] : NULL;
}

/* Reports zone N with its changes.  Fails as dev_zone_report(). */
static int zonechanges_report(const struct zonechanges *z, struct context *cx,
			      uint64_t n, struct zone *zone)
{
	const struct zonechange *change = zonechanges_of(z, n);
	int ret = dev_zone_report(z->under, cx, n, zone, 1);

	if (!ret && change)
		zone->pointer = change->pointer;
	return ret;
}

int zonechanges_check(const struct zonechanges *z, struct context *cx,
		      uint64_t off, uint64_t len)
{
	const struct zones *zones = z->under->zones;
	const char *name = z->under->name;
	uint64_t n, end = off + len;
	struct zone zone;
	int ret;

	for (; zones && off < end; off += len) {
		n = zone_of(zones, off);
		len = zone_part(zones, off, end);
		if (zones->kinds[n] == ZONE_CONVENTIONAL)
			continue;
		ret = zonechanges_report(z, cx, n, &zone);
		if (ret)
			return ret;
		ret = zone_check_write(&zone, cx, name, n, off, len);
		if (ret)
			return ret;
		if ((off | len) % PAGES_BYTES)
			return fail(cx, -EINVAL, "%s: write of %" PRIu64
				    " bytes at byte %" PRIu64 ": no whole "
				    "blocks", name, len, off);
	}
	return 0;
}

/* Begins a change of zone N, whose current state is ZONE. */
static int begin_change(struct zonechanges *z, struct context *cx, uint64_t n,
			const struct zone *zone, struct zonechange **change)
{
	const struct zonechange *old = zonechanges_of(z, n);
	struct zonechange new = { .zone = n, .pointer = zone->pointer };

	if (old && z->latest[n] > z->marked) {
		*change = &z->list[z->latest[n] - 1];
		return 0;
	}
	if (old)
		new = *old;
	if (array_reserve(cx, &z->list, &z->room, z->count + 1))
		return -ENOMEM;
	if (!z->latest)
		z->latest = calloc(z->under->zones->count, sizeof(*z->latest));
	if (!z->latest)
		return fail(cx, -ENOMEM, "%s: changes of zones",
			    z->under->name);
	new.before = z->latest[n];
	new.pages = z->pages->count;
	*change = &z->list[z->count++];
	**change = new;
	z->latest[n] = z->count;
	return 0;
}

int zonechanges_wrote(struct zonechanges *z, struct context *cx, uint64_t off,
		      uint64_t len)
{
	const struct zones *zones = z->under->zones;
	uint64_t end = off + len;
	struct zonechange *change;
	int ret = 0;

	while (zones && off < end && !ret) {
		uint64_t n = zone_of(zones, off);
		struct zone zone = zone_at(zones, n);

		off += zone_part(zones, off, end);
		if (zone.kind != ZONE_SEQUENTIAL)
			continue;
		ret = begin_change(z, cx, n, &zone, &change);
		if (!ret)
			change->pointer = off;
	}
	return ret;
}

int zonechanges_add(struct zonechanges *z, struct context *cx, uint64_t n,
		    enum zonechange_kind kind)
{
	const struct zonechange *old = zonechanges_of(z, n);
	bool finish = kind == ZONECHANGE_FINISH, early = kind == ZONECHANGE_RESET;
	struct zonechange *change;
	struct zone zone;
	uint64_t pointer;
	int ret = zonechanges_report(z, cx, n, &zone);

	if (ret || zone.kind != ZONE_SEQUENTIAL)
		return ret;
	pointer = zone.start + (finish ? zone.capacity : 0);
	if (zone.pointer == pointer && (!early || !old || old->early))
		return 0;
	ret = begin_change(z, cx, n, &zone, &change);
	if (ret)
		return ret;
	change->finished = finish;
	change->pointer = pointer;
	if (finish)
		return 0;
	z->resets += !change->reset;
	change->reset = true;
	change->early |= early;
	change->since = z->pages->count;
	return 0;
}

bool zonechanges_is_void(const struct zonechanges *z, size_t page)
{
	const struct zonechange *change;

	if (!z->resets)
		return false;
	change = zonechanges_of(z, zone_of(z->under->zones,
					   z->pages->list[page].number *
						   z->pages->bytes));
	return change && change->reset && page < change->since;
}

int zonechanges_commit(const struct zonechanges *z, struct context *cx, bool last)
{
	bool any = false, early;
	size_t i;
	int ret = 0;

	for (i = 0; i < z->count && !ret; i++) {
		const struct zonechange *change = &z->list[i];
		struct zone zone = zone_at(z->under->zones, change->zone);

		/* Only the latest change of a zone counts. */
		if (z->latest[change->zone] != i + 1)
			continue;
		early = change->early || change->pointer != zone.start;
		if (last && change->finished)
			ret = dev_zone_change(z->under, cx, zone.start,
					      zone.size, true);
		else if (change->reset && early != last)
			ret = dev_zone_change(z->under, cx, zone.start,
					     zone.size, false);
		else
			continue;
		any = true;
	}
	return ret || !last || !any ? ret : dev_flush(z->under, cx);
}
