// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Determining the zones of a path.
 *
 * An image file that was formatted with zones has them in a second file, so
 * that it can be written to a zoned device: every writer has to update it.  A
 * device is queried; if that fails it is treated as having no zones.
 */
#include "config.h"

#include "dev/zoned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dev/probe.h"

int zoned_side(char **side, struct context *cx, const char *path)
{
	if (asprintf(side, "%s.zones", path) >= 0)
		return 0;
	*side = NULL;
	return fail(cx, -ENOMEM, "%s: open", path);
}

static int open_image(struct dev **devp, struct context *cx, struct dev *under,
		      const char *path)
{
	char *side;
	int ret = zoned_side(&side, cx, path);

	if (!ret && !access(side, F_OK))
		ret = zonefile_load(devp, cx, under, side);
	free(side);
	return ret;
}

static int open_disk(struct dev **devp, struct context *cx, struct dev *under,
		     const char *path)
{
	enum probe_zone_model model;

	if (probe_zoned(cx, path, &model))
		fail_clear(cx);
	return model == PROBE_ZONES_HOST_MANAGED ?
		       zonedisk_open(devp, cx, under) : 0;
}

int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path)
{
	*devp = under;
	return under->is_block_device ? open_disk(devp, cx, under, path) :
					open_image(devp, cx, under, path);
}
