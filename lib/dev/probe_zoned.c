// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whether a device has zones, and of what kind.
 *
 * The model comes from the kernel's own files, so that a build without libzbd
 * still knows a device that it must not write to at random.  libzbd lists the
 * zones; they are looked at a few at a time, since a disk can have a hundred
 * thousand of them.
 */
#include "config.h"

#include "dev/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static enum probe_zone_model model_of(const char *text)
{
	if (!strncmp(text, "host-managed", 12))
		return PROBE_ZONES_HOST_MANAGED;
	if (!strncmp(text, "host-aware", 10))
		return PROBE_ZONES_HOST_AWARE;
	return PROBE_ZONES_NONE;
}

/* A partition has no queue of its own: its disk's is one folder up. */
static enum probe_zone_model read_model(dev_t device)
{
	static const char *const places[] = {"queue", "../queue"};
	char path[128], text[32];
	FILE *file = NULL;
	size_t i;

	for (i = 0; i < 2 && !file; i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s/zoned",
			 major(device), minor(device), places[i]);
		file = fopen(path, "re");
	}
	if (!file)
		return PROBE_ZONES_NONE;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return model_of(text);
}

#ifdef HAVE_LIBZBD
#include <libzbd/zbd.h>

#define BATCH 64

static void add_zone(struct probe_zones *zones, struct zbd_zone *zone)
{
	bool conventional = zbd_zone_cnv(zone);

	if (conventional && zones->conventional == zones->zones)
		zones->conventional++;
	if (!zones->zones || zone->capacity < zones->zone_capacity)
		zones->zone_capacity = zone->capacity;
	zones->last_conventional = conventional;
	zones->zones++;
}

static int list_zones(int fd, const struct zbd_info *info,
		      struct probe_zones *zones)
{
	uint64_t off = 0, end = (uint64_t)info->nr_sectors << 9;
	struct zbd_zone batch[BATCH];

	while (off < end) {
		unsigned int i, n = BATCH;

		if (zbd_report_zones(fd, (off_t)off, 0, ZBD_RO_ALL, batch, &n))
			return -1;
		if (!n || batch[n - 1].start + batch[n - 1].len <= off)
			return -1;
		for (i = 0; i < n; i++)
			add_zone(zones, &batch[i]);
		off = batch[n - 1].start + batch[n - 1].len;
	}
	return 0;
}

static int read_zones(struct context *cx, const char *path,
		      struct probe_zones *zones)
{
	struct zbd_info info;
	int fd, ret;

	zbd_set_log_level(ZBD_LOG_NONE);
	fd = zbd_open(path, O_RDONLY, &info);
	if (fd < 0)
		return fail(cx, -EIO, "%s: open of zoned device", path);
	zones->zone_size = info.zone_size;
	zones->max_active = info.max_nr_active_zones > 0
				    ? (uint32_t)info.max_nr_active_zones
				    : 0;
	ret = list_zones(fd, &info, zones);
	zbd_close(fd);
	return ret ? fail(cx, -EIO, "%s: list of zones", path) : 0;
}
#else
static int read_zones(struct context *cx, const char *path,
		      struct probe_zones *zones)
{
	(void)cx;
	(void)path;
	(void)zones;
	return 0;
}
#endif

int probe_zoned(struct context *cx, const char *path, struct probe_zones *zones)
{
	struct stat st;

	memset(zones, 0, sizeof(*zones));
	if (stat(path, &st))
		return fail(cx, -errno, "%s: status", path);
	if (!S_ISBLK(st.st_mode))
		return 0;
	zones->model = read_model(st.st_rdev);
	if (zones->model == PROBE_ZONES_NONE)
		return 0;
	return read_zones(cx, path, zones);
}
