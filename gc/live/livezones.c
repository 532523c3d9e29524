// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Zones of a mounted volume.
 *
 * The kernel knows nothing of zones: a segment that it marks as clean is written from
 * its beginning at some later time, and fails if its zone is not empty.  Then all clean
 * segments are marked as erroneous, one after the other.  So a zone is reset while its
 * segment is still in use:
 *
 * 1. The call that moves the blocks of a batch frees other segments: clean ones, which
 *    were marked as in use for it.  The kernel demands some, for the length of its lists.
 * 2. The batch is marked as in use without blocks, as a segment that the kernel will
 *    never read again, and this state is synchronized.
 * 3. The zones are reset, and the batch is marked as clean.
 *
 * Where it is interrupted, segments stay in use: with dead blocks, or without any.
 * The first are victims of the next run, which neither moves nor frees blocks of a
 * segment without any number in use: a number that was freed keeps its entry, and may be
 * allocated between a look and the call, which would then free that of another block.
 * Those without blocks may have a written zone, so it is reset before they are freed.
 * A segment that the older superblock may need is left for later: a mount marks the
 * segments whose logs it has recovered in the same way.
 *
 * A clean segment can be allocated until it is marked.  The kernel then has it as
 * active, or counts its blocks; both is read back, and neither can change while a
 * segment is in use and not active.
 *
 * A reader may have looked up the position of a block before the block was moved, and
 * may read it later: the kernel does not wait for such a reader.  With any cleaner it
 * reads the content of a later log if the segment was allocated meanwhile.  After a
 * reset it reads zeros, so the reset waits.
 */
#include "gc/live/livezones.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/blkzoned.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "dev/dev.h"
#include "dev/zone.h"
#include "disk/ondisk.h"
#include "gc/plan/zoning.h"
#include "live/live.h"
#include "log/tables/segzones.h"
#include "vol/datscan.h"
#include "vol/volume.h"

/* Segments, or zones, per request. */
#define CHUNK 64u

/* Milliseconds between the log without a segment and the reset of its zone. */
#define RESET_MS 100

#define FIELD(name) (1u << NILFS_SUINFO_UPDATE_##name)
#define IN_USE (1u << NILFS_SEGMENT_USAGE_DIRTY)

int livezones_open(struct livezones *z, struct context *cx, const struct live *live,
		   const struct volume *vol, uint64_t (*clock)(void))
{
	*z = (struct livezones){
		.live = live, .dev = vol->dev, .geo = vol->geo, .clock = clock,
	};
	z->fd = open(live->device, O_RDWR | O_CLOEXEC);
	if (z->fd < 0)
		return fail(cx, -errno, "%s: open, to reset zones", live->device);
	return 0;
}

void livezones_close(struct livezones *z)
{
	if (z->live && z->fd >= 0)
		close(z->fd);
	bitmap_fini(&z->used);
	z->live = NULL;
}

static int note_entry(void *arg, struct context *cx, unsigned int worker,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct livezones *z = arg;
	uint64_t blocknr = le64_get(de->de_blocknr);

	(void)cx, (void)worker, (void)vblocknr;
	if (geometry_has_block(&z->geo, blocknr))
		bitmap_set_shared(&z->used, geometry_segment_of(&z->geo, blocknr));
	return 0;
}

int livezones_count(struct livezones *z, struct context *cx, struct volume *vol)
{
	const struct datscan_visitor visitor = { .used = note_entry, .arg = z };
	int ret;

	z->geo = vol->geo;
	bitmap_fini(&z->used);
	ret = bitmap_init(&z->used, cx, z->geo.nsegments);
	return ret ? ret : datscan_run(vol, cx, &visitor);
}

/* Reads the entries of N segments from FIRST on. */
static int get_usage(const struct livezones *z, struct context *cx, uint64_t first,
		     struct nilfs_suinfo *info, size_t n)
{
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)info,
		.v_nmembs = (uint32_t)n,
		.v_size = sizeof(*info),
		.v_index = first,
	};
	int ret = live_request(z->live, cx, NILFS_IOCTL_GET_SUINFO, &argv);

	if (ret < 0 || argv.v_nmembs == n)
		return ret < 0 ? ret : 0;
	return fail(cx, -ESTALE, "%s: %" PRIu64 " segments, not %" PRIu64, z->live->dir,
		    first + argv.v_nmembs, z->geo.nsegments);
}

/* Sets FIELDS of the entries of SEGMENTS: the flags are FLAGS, all else is 0. */
static int set_usage(const struct livezones *z, struct context *cx,
		     const uint64_t *segments, size_t n, uint32_t fields, uint32_t flags)
{
	struct nilfs_suinfo_update *update = calloc(n + 1, sizeof(*update));
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)update,
		.v_nmembs = (uint32_t)n,
		.v_size = sizeof(*update),
	};
	size_t i;
	int ret = update ? 0 : fail(cx, -ENOMEM, "entries of segments");

	for (i = 0; i < n && !ret; i++) {
		update[i].sup_segnum = segments[i];
		update[i].sup_flags = fields;
		update[i].sup_sui.sui_flags = flags;
	}
	if (!ret && n)
		ret = live_request(z->live, cx, NILFS_IOCTL_SET_SUINFO, &argv);
	free(update);
	return ret < 0 ? ret : 0;
}

/* Marks SEGNUM, without blocks, as in use: 1, 0 if the kernel has it, or -errno. */
static int hold_segment(const struct livezones *z, struct context *cx, uint64_t segnum)
{
	struct nilfs_suinfo info;
	int ret = set_usage(z, cx, &segnum, 1, FIELD(FLAGS), IN_USE);

	if (!ret)
		ret = get_usage(z, cx, segnum, &info, 1);
	return ret ? ret : !nilfs_suinfo_active(&info) && !info.sui_nblocks;
}

int livezones_release(struct livezones *z, struct context *cx, const uint64_t *held,
		      size_t n)
{
	return set_usage(z, cx, held, n, FIELD(FLAGS), 0);
}

int livezones_hold(struct livezones *z, struct context *cx, uint64_t *held, size_t n)
{
	struct nilfs_suinfo info[CHUNK];
	uint64_t left = z->geo.nsegments, end = z->cursor, take, i;
	size_t got = 0;
	int ret = 0;

	/* Backward, since the kernel allocates forward. */
	for (; left && got < n && !ret; left -= take, end -= take) {
		end = end ? end : z->geo.nsegments;
		take = left < CHUNK ? left : CHUNK;
		take = end < take ? end : take;
		ret = get_usage(z, cx, end - take, info, take);
		for (i = take; i-- && got < n && !ret;) {
			if (!nilfs_suinfo_clean(&info[i]))
				continue;
			held[got] = end - take + i;
			ret = hold_segment(z, cx, held[got]);
			got += ret > 0;
			ret = ret < 0 ? ret : 0;
		}
	}
	if (!ret && got < n)
		ret = fail_said(cx, -EBUSY, "%s: clean segments were used meanwhile",
				z->live->dir);
	if (ret) {
		struct context quiet;

		context_child(cx, &quiet);
		livezones_release(z, &quiet, held, got);
	}
	return ret;
}

static int reset_zones(struct livezones *z, struct context *cx, uint64_t segnum)
{
	const struct zones *zones = z->dev->zones;
	struct blk_zone_range range;
	struct zone zone;
	uint64_t n, end;

	segzones_range(zones, &z->geo, segnum, &n, &end);
	for (; n < end; n++) {
		zone = zone_at(zones, n);
		/* Others are refused. */
		if (zone.kind != ZONE_SEQUENTIAL)
			continue;
		range.sector = zone.start >> 9;
		range.nr_sectors = zone.size >> 9;
		/*
		 * The kernel may have a buffer of a log that it found when the volume
		 * was mounted.
		 */
		if (ioctl(z->fd, BLKRESETZONE, &range) &&
		    (errno != EBUSY || ioctl(z->fd, BLKFLSBUF, 0) ||
		     ioctl(z->fd, BLKRESETZONE, &range)))
			return fail(cx, -errno, "%s: reset of zone %" PRIu64,
				    z->live->device, n);
		z->resets++;
	}
	return 0;
}

int livezones_recycle(struct livezones *z, struct context *cx,
		      const uint64_t *segments, size_t n)
{
	struct timespec pause = { 0, RESET_MS * 1000000L };
	uint64_t began = z->clock(), cno;
	size_t i;
	int ret = set_usage(z, cx, segments, n,
			    FIELD(LASTMOD) | FIELD(NBLOCKS) | FIELD(FLAGS), IN_USE);

	if (!ret)
		ret = live_sync(z->live, cx, &cno);
	while (!ret && nanosleep(&pause, &pause) && errno == EINTR)
		;
	for (i = 0; i < n && !ret; i++)
		ret = reset_zones(z, cx, segments[i]);
	if (!ret)
		ret = livezones_release(z, cx, segments, n);
	z->spent += z->clock() - began;
	return ret;
}

/* Sets in WRITTEN the segments that are partly in written zones. */
static int find_written(const struct livezones *z, struct context *cx,
			struct bitmap *written)
{
	const struct zones *zones = z->dev->zones;
	struct zone zone[CHUNK];
	uint64_t bytes = (uint64_t)z->geo.blocks_per_segment << z->geo.block_bits;
	uint64_t n, i, count, segnum;
	int ret = bitmap_init(written, cx, z->geo.nsegments);

	for (n = 0; n < zones->count && !ret; n += count) {
		count = zones->count - n < CHUNK ? zones->count - n : CHUNK;
		ret = dev_zone_report(z->dev, cx, n, zone, count);
		for (i = 0; i < count && !ret; i++) {
			if (zone[i].kind != ZONE_SEQUENTIAL ||
			    zone[i].pointer == zone[i].start)
				continue;
			segnum = zone[i].start / bytes;
			for (; segnum < z->geo.nsegments &&
			       segnum * bytes < zone[i].start + zone[i].size;
			     segnum++)
				bitmap_set(written, segnum);
		}
	}
	return ret;
}

/* Whether a superblock may need the logs of SEGNUM: 1, 0 or -errno. */
static int is_young(const struct livezones *z, struct context *cx, uint64_t segnum,
		    uint64_t seq)
{
	struct nilfs_segment_summary ss;
	int ret = dev_read(z->dev, cx, geometry_segment_start(&z->geo, segnum)
			   << z->geo.block_bits, &ss, sizeof(ss));

	return ret ? ret : le32_get(ss.ss_magic) == NILFS_SEGSUM_MAGIC &&
			   le64_get(ss.ss_seq) >= seq;
}

int livezones_finish(struct livezones *z, struct context *cx, struct volume *vol)
{
	struct nilfs_suinfo info[CHUNK];
	struct zoning known = { .vol = NULL };
	struct bitmap written = { .words = NULL };
	struct nilfs_sustat stat;
	uint64_t first, count, i, segnum, *found = NULL;
	size_t n = 0, room = 0;
	int ret = zoning_open(&known, cx, vol);

	if (!ret)
		ret = find_written(z, cx, &written);
	if (!ret)
		ret = live_request(z->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);
	for (first = 0; first < z->geo.nsegments && !ret; first += count) {
		count = z->geo.nsegments - first;
		count = count < CHUNK ? count : CHUNK;
		ret = get_usage(z, cx, first, info, count);
		for (i = 0; i < count && !ret; i++) {
			segnum = first + i;
			if (nilfs_suinfo_active(&info[i]))
				z->cursor = segnum;
			if (nilfs_suinfo_active(&info[i]) ||
			    nilfs_suinfo_error(&info[i]) || info[i].sui_nblocks ||
			    (nilfs_suinfo_clean(&info[i]) &&
			     !bitmap_test(&written, segnum)) ||
			    zoning_is_unusable(&known, segnum))
				continue;
			ret = is_young(z, cx, segnum, stat.ss_prot_seq);
			if (ret) {
				ret = ret < 0 ? ret : 0;
				continue;
			}
			ret = hold_segment(z, cx, segnum);
			if (ret > 0)
				ret = array_push(cx, &found, &n, &room, segnum);
		}
	}
	if (!ret && n)
		ret = livezones_recycle(z, cx, found, n);
	free(found);
	bitmap_fini(&written);
	zoning_close(&known);
	return ret;
}
