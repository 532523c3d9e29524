// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options on zones.
 *
 * A block device has the zones it has; only those of an image file can be
 * described, and one size is enough for that: zone 0 is conventional then, as
 * it must be, and all others are sequential.
 */
#include "mkfs/plan/zoneoptions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NAME "--conventional-zones"

int zoneoptions_ends(struct context *cx, const char *arg, void *where)
{
	const char *plus = strchr(arg, '+');
	size_t len = plus ? (size_t)(plus - arg) : strlen(arg);
	struct zone_ends *ends = where;
	char head[24];
	int ret;

	if (len >= sizeof(head))
		return fail(cx, -EINVAL, NAME ": '%s' is too large", arg);
	memcpy(head, arg, len);
	head[len] = '\0';
	ends->given = true;
	ret = option_number(cx, NAME, head, ZONE_COUNT_MAX, &ends->head);
	if (!ret && plus)
		ret = option_number(cx, NAME, plus + 1, ZONE_COUNT_MAX,
				    &ends->tail);
	return ret;
}

int zoneoptions_check(struct context *cx, const struct mkfs_options *o)
{
	if (o->zone_capacity && !o->zone_size)
		return fail(cx, -EINVAL, "--zone-capacity: needs --zone-size");
	if (o->conventional.given && !o->zone_size)
		return fail(cx, -EINVAL, NAME ": needs --zone-size");
	if (o->zone_size && o->zoned == OPTIONS_ZONED_OFF)
		return fail(cx, -EINVAL, "--zone-size: not with --zoned=off");
	return 0;
}

bool zoneoptions_emulate(const struct mkfs_options *o)
{
	return o->zone_size;
}

int zoneoptions_make(struct context *cx, const struct mkfs_options *o,
		     const char *path, uint64_t bytes, struct zones *zones)
{
	uint64_t capacity = o->zone_capacity ? o->zone_capacity : o->zone_size;
	uint64_t head = o->conventional.given ? o->conventional.head : 1;
	int ret;

	if (o->zone_size && bytes % o->zone_size)
		return fail(cx, -EINVAL, "--zone-size: %s has %" PRIu64
			    " bytes, which are no whole zones of %" PRIu64,
			    path, bytes, o->zone_size);
	ret = zone_make(zones, cx, bytes, o->zone_size, capacity, head,
			o->conventional.tail);
	zones->emulated = true;
	return ret;
}
