// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the zones of a path come from.
 *
 * An image file that was formatted with zones keeps them in a file beside it,
 * so that it can still be brought to a device: whoever writes to it must know.
 * A device is asked itself; one of which nothing can be learned has none.
 */
#include "config.h"

#include "dev/zoned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dev/probe.h"
#include "dev/zonedisk.h"
#include "dev/zonefile.h"

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
	struct probe_zones zones;

	/* Of what model it is is told also where its zones cannot be. */
	if (probe_zoned(cx, path, &zones))
		fail_clear(cx);
	return zones.model == PROBE_ZONES_HOST_MANAGED ?
		       zonedisk_open(devp, cx, under) : 0;
}

int zoned_open(struct dev **devp, struct context *cx, struct dev *under,
	       const char *path)
{
	*devp = under;
	return under->is_block_device ? open_disk(devp, cx, under, path) :
					open_image(devp, cx, under, path);
}
