// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The file of zones.
 *
 * The format is that of the program zbd of libzbd: a header of 192 bytes and a
 * record of 64 bytes for each zone, numbers in the byte order of the machine.  So an
 * image and its file of zones can be copied to a device with "zbd restore", and the
 * zones can be listed with "zbd report".
 *
 * The file is checked like an image, since it may be damaged.
 */
#include "dev/zonedump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dev/output.h"

/* Values of types and conditions: those of <linux/blkzoned.h>. */
enum { TYPE_CONVENTIONAL = 1, TYPE_SEQUENTIAL = 2 };
enum {
	COND_NO_POINTER = 0,
	COND_EMPTY = 1,
	COND_CLOSED = 4,
	COND_READ_ONLY = 13,
	COND_FULL = 14,
	COND_OFFLINE = 15,
};
enum { MODEL_HOST_MANAGED = 1 };

struct header {
	char vendor[32];
	uint64_t sectors;		/* of 512 bytes */
	uint64_t logical_blocks, physical_blocks;
	uint64_t zone_size;
	uint32_t zone_sectors;
	uint32_t logical_size, physical_size;
	uint32_t zones;
	uint32_t max_open, max_active;
	uint32_t model;
	uint8_t spare1[36];
	uint32_t first, end;		/* zones whose data were saved */
	uint8_t spare2[56];
};

struct record {
	uint64_t start, size, capacity, pointer;
	uint32_t flags, type, cond;
	uint8_t spare[20];
};

_Static_assert(sizeof(struct header) == 192, "header of zbd");
_Static_assert(offsetof(struct header, first) == 128, "header of zbd");
_Static_assert(sizeof(struct record) == 64, "record of zbd");

static bool is_header(const struct header *h)
{
	return h->model == MODEL_HOST_MANAGED && h->logical_size >= 512 &&
	       h->logical_size <= 65536 &&
	       !(h->logical_size & (h->logical_size - 1)) &&
	       h->sectors <= INT64_MAX / 512;
}

/* A symbolic link could lead to any file of the user. */
static FILE *open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static const struct output_how zonedump_how = { .there = OUTPUT_REPLACE };

int zonedump_may_replace(struct context *cx, const char *path)
{
	int ret = output_check(cx, path, &zonedump_how);
	struct header h;
	FILE *file;
	size_t n;

	if (ret || access(path, F_OK))
		return ret;
	file = open_to_read(path);
	if (!file)
		return fail(cx, -errno, "%s: open", path);
	n = fread(&h, 1, sizeof(h), file);
	fclose(file);
	if (!n || (n == sizeof(h) && is_header(&h)))
		return 0;
	return fail_said(cx, -EEXIST, "%s: exists and is not a file of zones; "
			 "rename it", path);
}

int zonedump_write(struct context *cx, const char *path,
		   const struct zonedump *dump)
{
	const struct zones *zones = &dump->zones;
	struct header h = {
		.vendor = "nilfs2-progs",
		.sectors = dump->bytes / 512,
		.logical_blocks = dump->bytes / dump->sector_size,
		.physical_blocks = dump->bytes / dump->sector_size,
		.zone_size = zones->size,
		.zone_sectors = (uint32_t)(zones->size / 512),
		.logical_size = dump->sector_size,
		.physical_size = dump->sector_size,
		.zones = (uint32_t)zones->count,
		.max_open = zones->max_open,
		.max_active = zones->max_active,
		.model = MODEL_HOST_MANAGED,
		.end = (uint32_t)zones->count,
	};
	struct output *output;
	FILE *file = NULL;
	bool good = false;
	uint64_t n;
	int fd, ret = zonedump_may_replace(cx, path);

	if (!ret)
		ret = output_open(&output, cx, path, &zonedump_how);
	if (ret)
		return ret;
	fd = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (file)
		good = fwrite(&h, sizeof(h), 1, file) == 1;
	else
		ret = fail(cx, -errno, "%s: open for writing", path);
	for (n = 0; n < zones->count && good; n++) {
		struct zone zone = zone_at(zones, n);
		uint64_t pointer = dump->pointers[n];
		struct record r = {
			.start = zone.start,
			.size = zone.size,
			.capacity = zone.capacity,
			.pointer = UINT64_MAX,
			.type = TYPE_SEQUENTIAL,
		};

		if (zone.kind == ZONE_CONVENTIONAL) {
			r.type = TYPE_CONVENTIONAL;
			r.cond = COND_NO_POINTER;
		} else if (zone.kind == ZONE_UNWRITABLE) {
			r.cond = COND_OFFLINE;
		} else if (pointer != zone.start &&
			   pointer >= zone.start + zone.capacity) {
			r.cond = COND_FULL;
			r.pointer = zone.start + zone.size;
		} else {
			r.cond = pointer == zone.start ? COND_EMPTY : COND_CLOSED;
			r.pointer = pointer;
		}
		good = fwrite(&r, sizeof(r), 1, file) == 1;
	}
	if (file && (!good || fflush(file)))
		ret = fail(cx, errno ? -errno : -EIO, "%s: write", path);
	if (file ? fclose(file) : fd >= 0 && close(fd))
		ret = ret ? ret : fail(cx, -errno, "%s: write", path);
	if (!ret)
		ret = output_commit(output, cx);
	output_close(output);
	return ret;
}

static int read_zones(struct context *cx, const char *path, FILE *file,
		      struct zonedump *dump)
{
	struct zones *zones = &dump->zones;
	uint64_t n, end, pointer;
	struct header h;
	struct record r;
	int ret;

	if (fread(&h, sizeof(h), 1, file) != 1)
		return fail(cx, -EINVAL, "%s: is truncated", path);
	if (!is_header(&h))
		return fail(cx, -EINVAL, "%s: is not a file of zones", path);
	dump->bytes = h.sectors * 512;
	dump->sector_size = h.logical_size;
	ret = zone_begin(zones, cx, h.zones, h.zone_size);
	if (ret)
		return ret;
	zones->max_open = h.max_open;
	zones->max_active = h.max_active;
	dump->pointers = calloc(zones->count, sizeof(*dump->pointers));
	if (!dump->pointers)
		return fail(cx, -ENOMEM, "%s: read", path);
	for (n = 0; n < zones->count; n++) {
		struct zone zone = { .kind = ZONE_SEQUENTIAL };

		if (fread(&r, sizeof(r), 1, file) != 1)
			return fail(cx, -EINVAL, "%s: is truncated", path);
		zone.start = r.start;
		zone.size = r.size;
		zone.capacity = r.capacity;
		if (r.cond == COND_OFFLINE || r.cond == COND_READ_ONLY)
			zone.kind = ZONE_UNWRITABLE;
		else if (r.type == TYPE_CONVENTIONAL)
			zone.kind = ZONE_CONVENTIONAL;
		ret = zone_add(zones, cx, n, &zone);
		if (ret)
			return ret;
		if (zone.kind != ZONE_SEQUENTIAL)
			continue;
		pointer = r.cond == COND_EMPTY ? zone.start :
			  r.cond == COND_FULL ? zone.start + zone.capacity :
						r.pointer;
		if (pointer < zone.start ||
		    pointer - zone.start > zone.capacity)
			return fail(cx, -EINVAL, "%s: zone %" PRIu64
				    " has its write pointer outside", path, n);
		dump->pointers[n] = pointer;
	}
	end = (zones->count - 1) * zones->size + zones->last_size;
	if (end != dump->bytes)
		return fail(cx, -EINVAL, "%s: the zones end at byte %" PRIu64
			    " of %" PRIu64, path, end, dump->bytes);
	return 0;
}

int zonedump_read(struct context *cx, const char *path, struct zonedump *dump)
{
	FILE *file = open_to_read(path);
	int ret;

	memset(dump, 0, sizeof(*dump));
	if (!file && errno == ELOOP)
		return fail_said(cx, -ELOOP, "%s: is a symbolic link, which is "
				 "not followed; put the file of zones there",
				 path);
	if (!file)
		return fail(cx, -errno, "%s: open", path);
	ret = read_zones(cx, path, file, dump);
	fclose(file);
	dump->zones.emulated = true;
	return ret;
}

void zonedump_fini(struct zonedump *dump)
{
	zone_fini(&dump->zones);
	free(dump->pointers);
	dump->pointers = NULL;
}
