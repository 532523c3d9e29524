// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device that is to be cleaned.
 *
 * A mounted volume has a cleaner of its own, and a loop device over an image
 * somebody who may mount it.
 */
#include "gc/target.h"

#include <errno.h>

#include "dev/devfile.h"
#include "dev/probe.h"

static int check_use(struct context *cx, const char *path)
{
	struct probe_use use;

	/* Where nothing can be said of PATH, opening it tells why. */
	if (probe_mounted(cx, path, &use)) {
		fail_clear(cx);
		return 0;
	}
	switch (use.kind) {
	case PROBE_UNUSED:
		return 0;
	case PROBE_MOUNTED:
		return fail(cx, -EBUSY, "%s: mounted on %s", path, use.where);
	case PROBE_LOOP:
		return fail(cx, -EBUSY, "%s: the loop device %s uses it", path,
			    use.where);
	default:
		return fail(cx, -EBUSY, "%s: in use by the system", path);
	}
}

/* Write pointers are not followed yet. */
static int check_zones(struct context *cx, const char *path)
{
	struct probe_zones zones;

	if (probe_zoned(cx, path, &zones)) {
		fail_clear(cx);
		return 0;
	}
	if (zones.model == PROBE_ZONES_NONE)
		return 0;
	return fail(cx, -EOPNOTSUPP, "%s: has zones, which cannot be cleaned",
		    path);
}

int target_open(struct dev **devp, struct context *cx, const char *path,
		bool read_only)
{
	int ret = check_use(cx, path);

	*devp = NULL;
	if (!ret && !read_only)
		ret = check_zones(cx, path);
	return ret ? ret : devfile_open(devp, cx, path,
					read_only ? DEVFILE_READ :
						    DEVFILE_WRITE);
}
