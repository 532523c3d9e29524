// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device that is to be cleaned.
 *
 * A mounted volume has a cleaner of its own, and a loop device over an image
 * somebody who may mount it.
 *
 * Zones are kept to, those of an image file, too: it can be brought to a device
 * still.
 */
#include "config.h"

#include "gc/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/zonedisk.h"
#include "dev/zonefile.h"

#define ZONES_SUFFIX ".zones"	/* as mkfs.nilfs2 has it */

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

static int open_side(struct target *t, struct context *cx, const char *path)
{
	char *side = NULL;
	int ret = 0;

	if (asprintf(&side, "%s" ZONES_SUFFIX, path) < 0)
		return fail(cx, -ENOMEM, "%s: open", path);
	if (!access(side, F_OK))
		ret = zonefile_load(&t->dev, cx, t->file, side);
	free(side);
	return ret;
}

/* Puts its zones over what is open; a host-aware device needs none. */
static int open_zones(struct target *t, struct context *cx, const char *path)
{
	struct probe_zones zones;

	t->dev = t->file;
	if (!t->file->is_block_device)
		return open_side(t, cx, path);
	if (probe_zoned(cx, path, &zones)) {
		fail_clear(cx);
		return 0;
	}
	return zones.model == PROBE_ZONES_HOST_MANAGED ?
		       zonedisk_open(&t->dev, cx, t->file) : 0;
}

int target_open(struct target *t, struct context *cx, const char *path,
		bool read_only)
{
	int ret = check_use(cx, path);

	*t = (struct target){ NULL, NULL };
	if (!ret)
		ret = devfile_open(&t->file, cx, path,
				   read_only ? DEVFILE_READ : DEVFILE_WRITE);
	return ret ? ret : open_zones(t, cx, path);
}

void target_close(struct target *t)
{
	if (t->dev != t->file)
		dev_close(t->dev);
	dev_close(t->file);
}

int target_check_volume(struct context *cx, const struct volume *vol)
{
	if (vol->latest.orphans_start)
		return fail(cx, -EUCLEAN, "data that was synchronized last has "
			    "to be recovered first; run fsck.nilfs2, or mount "
			    "the volume");
	if (le16_get(volume_super(vol)->s_state) & NILFS_ERROR_FS)
		return fail(cx, -EUCLEAN, "the volume says that it has errors; "
			    "run fsck.nilfs2");
	return 0;
}
