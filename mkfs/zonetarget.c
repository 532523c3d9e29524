// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which zones a device has, and whether they are used.
 *
 * A host-managed device can only be written by its zones; a host-aware one is
 * treated like any other unless --zoned=require is given.  An image file has
 * zones if the user describes them, or has done so before: then they are in a
 * file beside the image, and formatting it again uses them.
 */
#include "mkfs/zonetarget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev/probe.h"
#include "dev/zoned.h"
#include "dev/zonedisk.h"
#include "dev/zonedump.h"
#include "dev/zonefile.h"
#include "mkfs/plan/zoneoptions.h"

/* A zone cannot be cut where the content ends. */
static int check_size(struct context *cx, const struct mkfs_options *o)
{
	if (o->size.kind != OPTIONS_SIZE_AUTO)
		return 0;
	return fail(cx, -EINVAL, "--size: zones need a size in bytes");
}

static int open_disk(struct context *cx, const struct mkfs_options *o,
		     struct target *t)
{
	int ret = check_size(cx, o);

	if (!ret)
		ret = zonedisk_open(&t->dev, cx, t->file);
	if (!ret)
		t->zones = t->dev->zones;
	return ret;
}

static int open_block_device(struct context *cx, const struct mkfs_options *o,
			     struct target *t)
{
	struct probe_zones zones;
	int ret = probe_zoned(cx, t->path, &zones);

	if (ret)
		return ret;
	if (zoneoptions_emulate(o))
		return fail(cx, -EINVAL, "--zone-size: %s is a block device; "
			    "only image files are given zones", t->path);
	switch (zones.model) {
	case PROBE_ZONES_NONE:
		if (o->zoned == OPTIONS_ZONED_REQUIRE)
			return fail(cx, -EINVAL, "%s: has no zones", t->path);
		return 0;
	case PROBE_ZONES_HOST_AWARE:
		return o->zoned == OPTIONS_ZONED_REQUIRE ?
			       open_disk(cx, o, t) : 0;
	case PROBE_ZONES_HOST_MANAGED:
		break;
	}
	if (o->zoned == OPTIONS_ZONED_OFF)
		return fail(cx, -EINVAL, "%s: a host-managed zoned device "
			    "takes no other layout than that of its zones",
			    t->path);
	return open_disk(cx, o, t);
}

/* The zones that an earlier format has described. */
static int read_side(struct context *cx, struct target *t)
{
	struct zonedump dump;
	int ret = zonedump_read(cx, t->side, &dump);

	if (!ret && dump.bytes != t->size)
		ret = fail(cx, -EINVAL, "%s: has zones of %" PRIu64 " bytes in "
			   "%s, but %" PRIu64 " bytes itself; --zone-size "
			   "describes them again, --zoned=off ignores them",
			   t->path, dump.bytes, t->side, t->size);
	if (!ret)
		ret = zone_copy(&t->emulated, cx, &dump.zones);
	zonedump_fini(&dump);
	return ret;
}

static int emulate(struct context *cx, const struct mkfs_options *o,
		   struct target *t)
{
	int ret = check_size(cx, o);

	if (ret)
		return ret;
	t->zones = &t->emulated;
	return zoneoptions_emulate(o) ?
		       zoneoptions_make(cx, o, t->path, t->size, &t->emulated) :
		       read_side(cx, t);
}

static int open_file(struct context *cx, const struct mkfs_options *o,
		     struct target *t)
{
	int ret;

	if (o->zoned == OPTIONS_ZONED_OFF)
		return 0;
	ret = zoned_side(&t->side, cx, t->path);
	if (ret)
		return ret;
	if (zoneoptions_emulate(o) || !access(t->side, F_OK))
		return emulate(cx, o, t);
	if (o->zoned == OPTIONS_ZONED_REQUIRE)
		return fail(cx, -EINVAL, "%s: has no zones; --zone-size gives "
			    "an image file some", t->path);
	return 0;
}

int zonetarget_open(struct context *cx, const struct mkfs_options *o,
		    struct target *t)
{
	int ret = zoneoptions_check(cx, o);

	if (ret)
		return ret;
	return t->file && t->file->is_block_device ?
		       open_block_device(cx, o, t) :
		       open_file(cx, o, t);
}

int zonetarget_prepare(struct context *cx, struct target *t)
{
	if (t->zones != &t->emulated)
		return 0;
	return zonefile_open(&t->dev, cx, t->file, t->side, t->zones);
}

void zonetarget_close(struct target *t, bool failed)
{
	if (t->dev != t->file)
		dev_close(t->dev);
	if (failed && t->created && t->zones)
		unlink(t->side);
	zone_fini(&t->emulated);
	free(t->side);
}
