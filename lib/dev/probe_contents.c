// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a device or an image file holds, by libblkid.
 *
 * Every signature counts, also where two contradict each other: the question
 * is whether something may be lost, not how to mount it.
 */
#include "config.h"

#include "dev/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef HAVE_LIBBLKID
#include <blkid.h>

static bool look_up(blkid_probe probe, const char *name,
		    char text[PROBE_TEXT_MAX])
{
	const char *value;

	if (blkid_probe_lookup_value(probe, name, &value, NULL))
		return false;
	snprintf(text, PROBE_TEXT_MAX, "%s", value);
	return true;
}

static void describe(blkid_probe probe, struct probe_contents *contents)
{
	contents->kind = PROBE_FOUND;
	if (look_up(probe, "TYPE", contents->type)) {
		look_up(probe, "USAGE", contents->usage);
		look_up(probe, "LABEL", contents->label);
		look_up(probe, "UUID", contents->uuid);
	} else if (look_up(probe, "PTTYPE", contents->type)) {
		look_up(probe, "PTUUID", contents->uuid);
		strcpy(contents->usage, "partition table");
	}
}

static int probe_file(struct context *cx, const char *path,
		      struct probe_contents *contents)
{
	blkid_probe probe = blkid_new_probe_from_filename(path);
	int ret;

	if (!probe)
		return fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_DEFAULT |
							 BLKID_SUBLKS_USAGE);
	blkid_probe_enable_partitions(probe, 1);
	errno = 0;
	ret = blkid_do_fullprobe(probe);
	if (ret < 0)
		ret = fail(cx, errno ? -errno : -EIO, "%s: probe", path);
	else if (ret == 0)
		describe(probe, contents);
	blkid_free_probe(probe);
	return ret < 0 ? ret : 0;
}
#else
static int probe_file(struct context *cx, const char *path,
		      struct probe_contents *contents)
{
	(void)cx;
	(void)path;
	contents->kind = PROBE_UNKNOWN;
	return 0;
}
#endif

int probe_contents(struct context *cx, const char *path,
		   struct probe_contents *contents)
{
	struct stat st;

	memset(contents, 0, sizeof(*contents));
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	if (S_ISREG(st.st_mode) && !st.st_size)
		return 0;
	return probe_file(cx, path, contents);
}
