// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zoned block devices, by libzbd.
 *
 * libzbd needs a descriptor of its own for reports and resets; it is opened for
 * direct I/O and used for writes to sequential zones, too.  All other requests go
 * through the page cache as with any device; Linux drops from it the data that a direct
 * write or a reset changes.
 *
 * A direct write needs memory aligned to a sector.  Other data is copied to a
 * buffer.
 */
#include "config.h"

#include "dev/zoned.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBZBD
#include <libzbd/zbd.h>

#define BATCH 64
#define BOUNCE_BYTES (1u << 20)
#define NO_ZONE UINT64_MAX

struct zonedisk {
	struct dev dev;
	int fd;
	struct zones zones;
	uint64_t current;	/* the zone last written to, or NO_ZONE */
	void *bounce;		/* BOUNCE_BYTES, allocated on demand */
};

/*
 * A direct write of whole sectors.  If the number of active zones is limited, the zone
 * written to before is finished.
 */
static int write_sequential(struct zonedisk *disk, struct context *cx,
			    uint64_t off, const char *p, size_t len)
{
	uint32_t mask = disk->dev.sector_size - 1;
	uint64_t zone = zone_of(&disk->zones, off), before = disk->current;
	bool bounced = (uintptr_t)p & mask;
	ssize_t n;

	disk->current = zone;
	if (disk->zones.max_active && before != NO_ZONE && before != zone &&
	    zbd_finish_zones(disk->fd, (off_t)(before * disk->zones.size),
			     (off_t)disk->zones.size))
		return fail(cx, -errno, "%s: finish of zone %" PRIu64,
			    disk->dev.name, before);
	if ((off | len) & mask)
		return fail(cx, -EINVAL, "%s: write of %zu bytes at byte %"
			    PRIu64 ": no whole sectors", disk->dev.name, len,
			    off);
	if (bounced && !disk->bounce)
		disk->bounce = aligned_alloc(4096, BOUNCE_BYTES);
	if (bounced && !disk->bounce)
		return fail(cx, -ENOMEM, "%s: write", disk->dev.name);
	for (; len; p += n, off += (size_t)n, len -= (size_t)n) {
		size_t part = bounced && len > BOUNCE_BYTES ? BOUNCE_BYTES : len;

		if (bounced)
			memcpy(disk->bounce, p, part);
		n = pwrite(disk->fd, bounced ? disk->bounce : p, part,
			   (off_t)off);
		if (!n || (n < 0 && errno != EINTR))
			return fail(cx, n ? -errno : -EIO, "%s: write at byte %"
				    PRIu64 " in zone %" PRIu64, disk->dev.name,
				    off, zone);
		if (n < 0)
			n = 0;
	}
	return 0;
}

static int zonedisk_write(struct dev *dev, struct context *cx, uint64_t off,
			  const void *buf, size_t len)
{
	struct zonedisk *disk = (struct zonedisk *)dev;
	const struct zones *zones = &disk->zones;
	const char *p = buf;
	size_t n;
	int ret = 0;

	for (; len && !ret; p += n, off += n, len -= n) {
		n = (size_t)zone_part(zones, off, off + len);
		if (zones->kinds[zone_of(zones, off)] == ZONE_SEQUENTIAL)
			ret = write_sequential(disk, cx, off, p, n);
		else
			ret = dev_write(dev->under, cx, off, p, n);
	}
	return ret;
}

static int zonedisk_report(struct dev *dev, struct context *cx, uint64_t first,
			   struct zone *zones, size_t n)
{
	const struct zonedisk *disk = (const struct zonedisk *)dev;
	struct zbd_zone batch[BATCH];
	unsigned int i, got;

	for (; n; first += got, zones += got, n -= got) {
		unsigned int want = n < BATCH ? (unsigned int)n : BATCH;

		got = want;
		if (zbd_report_zones(disk->fd,
				     (off_t)(first * disk->zones.size), 0,
				     ZBD_RO_ALL, batch, &got) ||
		    got != want)
			return fail(cx, -EIO, "%s: report of zone %" PRIu64,
				    dev->name, first);
		for (i = 0; i < got; i++) {
			const struct zbd_zone *z = &batch[i];

			zones[i] = (struct zone){
				.start = z->start,
				.size = z->len,
				.capacity = z->capacity,
				.kind = ZONE_SEQUENTIAL,
			};
			if (zbd_zone_offline(z) || zbd_zone_rdonly(z))
				zones[i].kind = ZONE_UNWRITABLE;
			else if (zbd_zone_cnv(z))
				zones[i].kind = ZONE_CONVENTIONAL;
			else
				zones[i].pointer = zbd_zone_full(z) ?
					z->start + z->capacity : z->wp;
		}
	}
	return 0;
}

/* Skips conventional zones, for which devices refuse such requests. */
static int zonedisk_change(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len, bool finish)
{
	struct zonedisk *disk = (struct zonedisk *)dev;
	const struct zones *zones = &disk->zones;
	uint64_t n = zone_of(zones, off), last = zone_of(zones, off + len - 1);
	uint64_t end;

	disk->current = NO_ZONE;
	for (; n <= last; n = end) {
		end = zone_run_end(zones, n);
		if (end > last + 1)
			end = last + 1;
		if (zones->kinds[n] == ZONE_SEQUENTIAL &&
		    zbd_zones_operation(disk->fd, finish ? ZBD_OP_FINISH :
							   ZBD_OP_RESET,
					(off_t)(n * zones->size),
					(off_t)((end - n) * zones->size)))
			return fail(cx, -errno, "%s: %s of zones %" PRIu64
				    " to %" PRIu64, dev->name,
				    finish ? "finish" : "reset", n, end - 1);
	}
	return 0;
}

static void zonedisk_close(struct dev *dev)
{
	struct zonedisk *disk = (struct zonedisk *)dev;

	if (disk->fd >= 0)
		zbd_close(disk->fd);
	zone_fini(&disk->zones);
	free(disk->bounce);
	free(disk);
}

static const struct dev_ops zonedisk_ops = {
	.write = zonedisk_write,
	.zone_report = zonedisk_report,
	.zone_change = zonedisk_change,
	.close = zonedisk_close,
};

#endif

int zonedisk_open(struct dev **devp, struct context *cx, struct dev *under)
{
#ifdef HAVE_LIBZBD
	int flags = (under->writable ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC;
	struct zonedisk *disk = calloc(1, sizeof(*disk));
	struct zone batch[BATCH];
	struct zbd_info info;
	struct zones *zones;
	uint64_t n, i, left;
	int ret;

	if (!disk)
		return fail(cx, -ENOMEM, "%s: open", under->name);
	dev_init_over(&disk->dev, &zonedisk_ops, under);
	disk->dev.zones = zones = &disk->zones;
	disk->current = NO_ZONE;
	zbd_set_log_level(ZBD_LOG_NONE);
	disk->fd = zbd_open(under->name, flags, &info);
	ret = disk->fd < 0 ? fail(cx, -EIO, "%s: open of zoned device",
				  under->name) :
			     zone_begin(zones, cx, info.nr_zones,
					info.zone_size);
	/* libzbd has two values for "no limit" and "not known". */
	if (!ret && info.max_nr_open_zones != UINT32_MAX)
		zones->max_open = info.max_nr_open_zones;
	if (!ret && info.max_nr_active_zones != UINT32_MAX)
		zones->max_active = info.max_nr_active_zones;
	for (n = 0; n < zones->count && !ret; n += BATCH) {
		left = zones->count - n < BATCH ? zones->count - n : BATCH;
		ret = zonedisk_report(&disk->dev, cx, n, batch, left);
		for (i = 0; i < left && !ret; i++)
			ret = zone_add(zones, cx, n + i, &batch[i]);
	}
	if (ret) {
		zonedisk_close(&disk->dev);
		return ret;
	}
	*devp = &disk->dev;
	return 0;
#else
	(void)devp;
	return fail(cx, -EOPNOTSUPP, "%s: zones: built without libzbd",
		    under->name);
#endif
}
