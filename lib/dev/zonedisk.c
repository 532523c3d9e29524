// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zoned block devices, by libzbd.
 *
 * libzbd wants a descriptor of its own for reports and resets; opened for
 * direct I/O it also carries the writes to sequential zones.  All else goes
 * through the page cache as with any device; Linux drops from it what a direct
 * write or a reset changes.
 *
 * A direct write needs memory at a sector's boundary.  Where the caller's is
 * not, the bytes go through a buffer.
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
	void *bounce;		/* BOUNCE_BYTES, once they are needed */
};

static struct zonedisk *to_zonedisk(struct dev *dev)
{
	return (struct zonedisk *)dev;
}

static int write_direct(struct zonedisk *disk, struct context *cx,
			uint64_t off, const char *p, size_t len)
{
	while (len) {
		ssize_t n = pwrite(disk->fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(cx, n ? -errno : -EIO, "%s: write at byte %"
				    PRIu64 " in zone %" PRIu64, disk->dev.name,
				    off, zone_of(&disk->zones, off));
		p += n;
		off += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_bounced(struct zonedisk *disk, struct context *cx,
			 uint64_t off, const char *p, size_t len)
{
	int ret = 0;

	if (!disk->bounce)
		disk->bounce = aligned_alloc(4096, BOUNCE_BYTES);
	if (!disk->bounce)
		return fail(cx, -ENOMEM, "%s: write", disk->dev.name);
	while (len && !ret) {
		size_t n = len < BOUNCE_BYTES ? len : BOUNCE_BYTES;

		memcpy(disk->bounce, p, n);
		ret = write_direct(disk, cx, off, disk->bounce, n);
		p += n;
		off += n;
		len -= n;
	}
	return ret;
}

/* Makes ZONE the one that is written to. */
static int enter_zone(struct zonedisk *disk, struct context *cx, uint64_t zone)
{
	uint64_t last = disk->current;

	disk->current = zone;
	if (!disk->zones.max_active || last == NO_ZONE || last == zone)
		return 0;
	if (zbd_finish_zones(disk->fd, (off_t)(last * disk->zones.size),
			     (off_t)disk->zones.size))
		return fail(cx, -errno, "%s: finish of zone %" PRIu64,
			    disk->dev.name, last);
	return 0;
}

static int write_sequential(struct zonedisk *disk, struct context *cx,
			    uint64_t off, const char *p, size_t len)
{
	uint32_t mask = disk->dev.sector_size - 1;
	int ret = enter_zone(disk, cx, zone_of(&disk->zones, off));

	if (ret)
		return ret;
	if ((off | len) & mask)
		return fail(cx, -EINVAL, "%s: write of %zu bytes at byte %"
			    PRIu64 ": no whole sectors", disk->dev.name, len,
			    off);
	if ((uintptr_t)p & mask)
		return write_bounced(disk, cx, off, p, len);
	return write_direct(disk, cx, off, p, len);
}

static int zonedisk_write(struct dev *dev, struct context *cx, uint64_t off,
			  const void *buf, size_t len)
{
	struct zonedisk *disk = to_zonedisk(dev);
	const char *p = buf;
	int ret = 0;

	while (len && !ret) {
		struct zone zone = zone_at(&disk->zones,
					   zone_of(&disk->zones, off));
		uint64_t left = zone.start + zone.size - off;
		size_t n = left < len ? (size_t)left : len;

		if (zone.kind == ZONE_SEQUENTIAL)
			ret = write_sequential(disk, cx, off, p, n);
		else
			ret = dev_write(disk->dev.under, cx, off, p, n);
		p += n;
		off += n;
		len -= n;
	}
	return ret;
}

static struct zone translate(struct zbd_zone *z)
{
	struct zone zone = {
		.start = z->start,
		.size = z->len,
		.capacity = z->capacity,
		.kind = ZONE_SEQUENTIAL,
	};

	if (zbd_zone_offline(z) || zbd_zone_rdonly(z))
		zone.kind = ZONE_UNWRITABLE;
	else if (zbd_zone_cnv(z))
		zone.kind = ZONE_CONVENTIONAL;
	else
		zone.pointer = zbd_zone_full(z) ? z->start + z->capacity :
						  z->wp;
	return zone;
}

/* At most BATCH zones. */
static int report_batch(struct zonedisk *disk, struct context *cx,
			uint64_t first, struct zone *zones, size_t n)
{
	struct zbd_zone batch[BATCH];
	unsigned int i, got = (unsigned int)n;

	if (zbd_report_zones(disk->fd, (off_t)(first * disk->zones.size), 0,
			     ZBD_RO_ALL, batch, &got) ||
	    got != n)
		return fail(cx, -EIO, "%s: report of zone %" PRIu64,
			    disk->dev.name, first);
	for (i = 0; i < n; i++)
		zones[i] = translate(&batch[i]);
	return 0;
}

static int zonedisk_report(struct dev *dev, struct context *cx, uint64_t first,
			   struct zone *zones, size_t n)
{
	int ret = 0;

	while (n && !ret) {
		size_t part = n < BATCH ? n : BATCH;

		ret = report_batch(to_zonedisk(dev), cx, first, zones, part);
		first += part;
		zones += part;
		n -= part;
	}
	return ret;
}

/* Devices refuse to do such things to conventional zones. */
static int each_run(struct zonedisk *disk, struct context *cx, uint64_t off,
		    uint64_t len, enum zbd_zone_op op, const char *what)
{
	uint64_t n = zone_of(&disk->zones, off);
	uint64_t last = zone_of(&disk->zones, off + len - 1);

	disk->current = NO_ZONE;
	while (n <= last) {
		uint64_t end = zone_run_end(&disk->zones, n);

		if (end > last + 1)
			end = last + 1;
		if (disk->zones.kinds[n] == ZONE_SEQUENTIAL &&
		    zbd_zones_operation(disk->fd, op,
					(off_t)(n * disk->zones.size),
					(off_t)((end - n) * disk->zones.size)))
			return fail(cx, -errno, "%s: %s of zones %" PRIu64
				    " to %" PRIu64, disk->dev.name, what, n,
				    end - 1);
		n = end;
	}
	return 0;
}

static int zonedisk_reset(struct dev *dev, struct context *cx, uint64_t off,
			  uint64_t len)
{
	return each_run(to_zonedisk(dev), cx, off, len, ZBD_OP_RESET, "reset");
}

static int zonedisk_finish(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len)
{
	return each_run(to_zonedisk(dev), cx, off, len, ZBD_OP_FINISH,
			"finish");
}

static void zonedisk_close(struct dev *dev)
{
	struct zonedisk *disk = to_zonedisk(dev);

	if (disk->fd >= 0)
		zbd_close(disk->fd);
	zone_fini(&disk->zones);
	free(disk->bounce);
	free(disk);
}

static const struct dev_ops zonedisk_ops = {
	.write = zonedisk_write,
	.zone_report = zonedisk_report,
	.zone_reset = zonedisk_reset,
	.zone_finish = zonedisk_finish,
	.close = zonedisk_close,
};

/* libzbd says "no limit" and "not known" in two ways. */
static uint32_t limit_of(uint32_t n)
{
	return n == UINT32_MAX ? 0 : n;
}

static int list_zones(struct zonedisk *disk, struct context *cx,
		      const struct zbd_info *info)
{
	struct zone batch[BATCH];
	uint64_t n;
	int ret = zone_begin(&disk->zones, cx, info->nr_zones,
			     info->zone_size);

	disk->zones.max_open = limit_of(info->max_nr_open_zones);
	disk->zones.max_active = limit_of(info->max_nr_active_zones);
	for (n = 0; n < disk->zones.count && !ret; n += BATCH) {
		uint64_t i, left = disk->zones.count - n;

		if (left > BATCH)
			left = BATCH;
		ret = report_batch(disk, cx, n, batch, left);
		for (i = 0; i < left && !ret; i++)
			ret = zone_add(&disk->zones, cx, n + i, &batch[i]);
	}
	return ret;
}

int zonedisk_open(struct dev **devp, struct context *cx, struct dev *under)
{
	int flags = (under->writable ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC;
	struct zonedisk *disk = calloc(1, sizeof(*disk));
	struct zbd_info info;
	int ret;

	if (!disk)
		return fail(cx, -ENOMEM, "%s: open", under->name);
	dev_init_over(&disk->dev, &zonedisk_ops, under);
	disk->dev.zones = &disk->zones;
	disk->current = NO_ZONE;
	zbd_set_log_level(ZBD_LOG_NONE);
	disk->fd = zbd_open(under->name, flags, &info);
	ret = disk->fd < 0 ? fail(cx, -EIO, "%s: open of zoned device",
				  under->name) :
			     list_zones(disk, cx, &info);
	if (ret) {
		zonedisk_close(&disk->dev);
		return ret;
	}
	*devp = &disk->dev;
	return 0;
}
#else
int zonedisk_open(struct dev **devp, struct context *cx, struct dev *under)
{
	(void)devp;
	return fail(cx, -EOPNOTSUPP, "%s: zones: built without libzbd",
		    under->name);
}
#endif
