// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shrinking a mounted volume.
 *
 * The head is what remains of the volume, the tail is what is cut off.  The kernel
 * allocates segments in the head (NILFS_IOCTL_SET_ALLOC_RANGE) as long as one is clean
 * there.  Then rounds follow, until the tail is empty:
 *
 * - segments of the head are cleaned, until it has room for the blocks of the tail;
 * - all segments of the tail are cleaned;
 * - NILFS_IOCTL_RESIZE is tried.  With the tail in use it changes nothing;
 * - blocks of the head are moved, or others written where it has too few.  A segment of
 *   the tail that is being written, or that a superblock may still need, can be cleaned
 *   only after later ones were begun.
 *
 * Writers go on meanwhile, so there is no order in which one round would do.  A
 * round that empties no segment of the tail is repeated a few times only.  The range
 * is in the memory of the kernel alone: it is restored after a failure, and forgotten
 * by an unmount.
 */
#include "gc/live/resize.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/tempfile.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/reserve.h"
#include "gc/plan/facts.h"
#include "live/live.h"
#include "log/resize.h"
#include "vol/volume.h"

/* Rounds in a row after which no more segments of the tail were clean. */
#define STALE_ROUNDS 8

/* Clean segments of the head beyond those that the blocks of the tail need. */
#define SPARE_SEGMENTS 4

/* The counts of the head and the tail. */
struct room {
	struct nilfs_geometry geo;
	uint32_t reserved;	/* percent */
	uint64_t bytes;		/* of the volume */
	uint64_t head, clean;	/* segments of the head, and clean ones */
	uint64_t used;		/* segments of the tail that are not clean */
	uint64_t tail, all;	/* blocks that are kept: in the tail, and in all */
	uint64_t snapshot, protected;	/* of all, only for these */
};

struct resizing {
	struct resize_online *r;
	const struct live *live;
	struct dev *dev;
	uint64_t (*clock)(void);
	const struct online_options *how;
	uint64_t bytes;		/* as requested */
	uint64_t tail;		/* blocks in the tail, before */
	uint64_t moved;		/* of these */
	bool announced;		/* the deletion of checkpoints */
};

/* Finds out what the volume has in its latest state, which is synchronized. */
static int measure(const struct resizing *z, struct context *cx, struct room *room)
{
	struct facts f = { .vol = NULL };
	struct volume *vol = NULL;
	struct nilfs_geometry head = { .nsegments = 0 };
	struct liveness_counts c;
	uint64_t cno, i, kept;
	int ret = live_sync(z->live, cx, &cno);

	if (!ret)
		ret = volume_open(&vol, cx, z->dev, NULL);
	if (!ret)
		ret = resize_layout(vol, cx, z->bytes, &head);
	if (!ret)
		ret = facts_gather(&f, cx, vol, z->how->protect, NULL);
	if (!ret)
		*room = (struct room){
			.geo = vol->geo,
			.reserved = le32_get(volume_super(vol)->
					     s_r_segments_percentage),
			.bytes = le64_get(volume_super(vol)->s_dev_size),
			.head = head.nsegments,
		};
	for (i = 0; !ret && i < vol->geo.nsegments; i++) {
		c = liveness_of(f.liveness, i);
		kept = (uint64_t)c.current + c.snapshot + c.protected;
		room->all += kept;
		room->snapshot += c.snapshot;
		room->protected += c.protected;
		room->clean += i < head.nsegments && !bitmap_test(&f.used, i);
		if (i < head.nsegments)
			continue;
		room->used += bitmap_test(&f.used, i);
		room->tail += kept;
	}
	facts_fini(&f);
	volume_close(vol);
	return ret;
}

/* The segments that BLOCKS need, with their summaries. */
static uint64_t segments_for(const struct room *room, uint64_t blocks)
{
	return div_round_up(blocks + blocks / 32, room->geo.blocks_per_segment);
}

/* -ENOSPC, with the reason, if what the volume keeps does not fit into its head. */
static int check_fit(const struct resizing *z, struct context *cx,
		     const struct room *room)
{
	uint64_t least = reserve_fit(segments_for(room, room->all), room->reserved);

	if (least <= room->head)
		return 0;
	return fail_said(cx, -ENOSPC, "%s: %" PRIu64 " bytes are %" PRIu64
			 " segments, %" PRIu64 " too few for %" PRIu64 " blocks and "
			 "the reserve of the kernel; delete files, snapshots (%"
			 PRIu64 " blocks are only theirs), or keep less with "
			 "--protect (%" PRIu64 " blocks)", z->live->dir, z->bytes,
			 room->head, least - room->head, room->all, room->snapshot,
			 room->protected);
}

static void show_moved(void *arg, uint64_t moved, uint64_t to_move)
{
	struct resizing *z = arg;
	uint64_t done = z->moved + moved;

	(void)to_move;
	if (z->how->moving)
		z->how->moving(z->how->arg, done < z->tail ? done : z->tail,
			       z->tail);
}

static void show_left(void *arg, uint64_t segnum, const char *why)
{
	const struct resizing *z = arg;

	if (z->how->left)
		z->how->left(z->how->arg, segnum, why);
}

static void show_deletion(void *arg, const uint64_t *cnos, size_t n)
{
	struct resizing *z = arg;

	if (z->how->deleting && !z->announced)
		z->how->deleting(z->how->arg, cnos, n);
	z->announced = true;
}

/*
 * Cleans as OPTIONS has it, whose functions are set; *LEFT is the number of segments
 * that were skipped.
 */
static int clean_range(struct resizing *z, struct context *cx,
		       struct online_options *options, uint64_t *left)
{
	struct online *t = &z->r->totals, n;
	int ret;

	options->fate = NULL;
	options->left = show_left;
	options->deleting = show_deletion;
	options->arg = z;
	/* What is written meanwhile is for the next round. */
	options->once = true;
	ret = online_run(&n, cx, z->live, z->dev, z->clock, options);
	t->gained += n.gained;
	t->victims += n.victims;
	t->moved += n.moved;
	t->freed += n.freed;
	t->calls += n.calls;
	t->longest = n.longest > t->longest ? n.longest : t->longest;
	*left = n.left;
	return ret;
}

/* Makes room in the head for the blocks of the tail, by the policy. */
static int clean_head(struct resizing *z, struct context *cx, const struct room *room)
{
	struct online_options options = *z->how;
	uint64_t need = segments_for(room, room->tail) + SPARE_SEGMENTS +
			reserve_segments(room->head, room->reserved), left;

	if (room->clean >= need)
		return 0;
	options.goal = need - room->clean;
	options.min_dead = 0;
	options.end = room->head;
	options.moving = NULL;
	return clean_range(z, cx, &options, &left);
}

/* Moves all blocks of the tail that can be moved now. */
static int empty_tail(struct resizing *z, struct context *cx, const struct room *room)
{
	struct online_options options = *z->how;
	uint64_t left, before = z->r->totals.moved;
	int ret;

	options.goal = CLEAN_ALL;
	options.first = room->head;
	options.end = room->geo.nsegments;
	options.empty = true;
	options.moving = show_moved;
	ret = clean_range(z, cx, &options, &left);
	z->moved += z->r->totals.moved - before;
	if (ret || !left)
		return ret;
	return fail_said(cx, -ENOSPC, "%s: skipped segments are after the new end; "
			 "unmount the volume, and run fsck.nilfs2", z->live->dir);
}

/*
 * Writes BYTES to a file without a name in the directory that was given.  Whether it was
 * possible, as on a full volume, is found out by the next round.
 */
static int write_nothing(const struct resizing *z, struct context *cx, uint64_t bytes)
{
	static const char zeros[65536];
	struct context there;
	uint64_t off, len;
	int fd, ret = 0;

	context_child(cx, &there);
	there.scratch_dir = z->live->dir;
	if (tempfile_open(&there, &fd))
		return 0;
	for (off = 0; off < bytes && !ret; off += len) {
		len = bytes - off < sizeof(zeros) ? bytes - off : sizeof(zeros);
		if (tempfile_write(&there, fd, off, zeros, len))
			break;
		ret = context_cancelled(cx);
	}
	/* Once it is closed, nothing of it would be written. */
	if (fdatasync(fd) && errno != ENOSPC && !ret)
		ret = fail(cx, -errno, "%s: synchronization", z->live->dir);
	close(fd);
	if (syncfs(z->live->fd) && !ret)
		ret = fail(cx, -errno, "%s: synchronization", z->live->dir);
	return ret;
}

/*
 * Moves blocks of the head, as many as a segment has, so that the kernel begins another
 * one, and writes its superblocks.  If too few can be moved, others are written.
 */
static int begin_segment(struct resizing *z, struct context *cx,
			 const struct room *room)
{
	struct online_options options = *z->how;
	uint64_t left, moved = z->r->totals.moved;
	int ret;

	options.goal = CLEAN_ALL;
	options.end = room->head;
	options.empty = true;
	options.enough = room->geo.blocks_per_segment;
	options.moving = NULL;
	ret = clean_range(z, cx, &options, &left);
	moved = z->r->totals.moved - moved;
	if (ret || moved >= options.enough)
		return ret;
	return write_nothing(z, cx, (options.enough - moved) << room->geo.block_bits);
}

/* Sets the range of the kernel to the segments of a volume of BYTES. */
static int set_range(const struct resizing *z, struct context *cx, uint64_t bytes)
{
	uint64_t range[2] = { 0, bytes };

	return live_request(z->live, cx, NILFS_IOCTL_SET_ALLOC_RANGE, range);
}

/*
 * Tries to cut off the tail of a volume as in ROOM: 1, 0 if it is in use, or -errno.
 * If the head has no room for what is in memory the kernel fails with the tail cut off
 * already, and this would be lost by an unmount: so the volume gets it back.
 */
static int cut_tail(const struct resizing *z, struct context *cx,
		    const struct room *room)
{
	uint64_t bytes = z->bytes, before = room->bytes, cno;
	struct nilfs_sustat stat;
	int ret = live_sync(z->live, cx, &cno);

	if (!ret)
		ret = live_request(z->live, cx, NILFS_IOCTL_RESIZE, &bytes);
	if (ret != -ENOSPC && ret != -EBUSY)
		return ret ? ret : 1;
	fail_clear(cx);
	ret = live_request(z->live, cx, NILFS_IOCTL_GET_SUSTAT, &stat);
	if (ret || stat.ss_nsegs >= room->geo.nsegments)
		return ret;
	ret = live_request(z->live, cx, NILFS_IOCTL_RESIZE, &before);
	/* That made the range all of it. */
	return ret ? ret : set_range(z, cx, z->bytes);
}

/* Rounds, from the state ROOM on, until the volume is that small. */
static int run_rounds(struct resizing *z, struct context *cx, struct room *room)
{
	uint64_t least = UINT64_MAX;
	unsigned int stale = 0;
	int ret;

	for (;;) {
		z->r->rounds++;
		ret = clean_head(z, cx, room);
		if (!ret)
			ret = empty_tail(z, cx, room);
		if (!ret)
			ret = cut_tail(z, cx, room);
		if (ret)
			return ret < 0 ? ret : 0;
		ret = begin_segment(z, cx, room);
		if (!ret)
			ret = measure(z, cx, room);
		if (!ret)
			ret = check_fit(z, cx, room);
		if (ret)
			return ret;
		stale = room->used < least ? 0 : stale + 1;
		least = room->used < least ? room->used : least;
		if (stale == STALE_ROUNDS)
			break;
	}
	return fail_said(cx, -ENOSPC, "%s: %" PRIu64 " segments after the new end, with %"
			 PRIu64 " blocks, are still in use after %" PRIu64 " rounds; "
			 "%" PRIu64 " of %" PRIu64 " segments before it are clean; "
			 "delete files or snapshots, write less meanwhile, or keep "
			 "less with --protect", z->live->dir, room->used, room->tail,
			 z->r->rounds, room->clean, room->head);
}

int resize_online(struct resize_online *r, struct context *cx,
		  const struct live *live, struct dev *dev,
		  uint64_t (*clock)(void), uint64_t bytes,
		  const struct online_options *how)
{
	struct resizing z = {
		.r = r, .live = live, .dev = dev, .clock = clock, .how = how,
		.bytes = bytes,
	};
	struct context quiet;
	struct room room;
	uint64_t before;
	int ret;

	*r = (struct resize_online){ 0 };
	ret = measure(&z, cx, &room);
	if (ret)
		return ret;
	before = room.bytes;
	r->bytes_before = r->bytes = before;
	r->segments_before = r->segments = room.geo.nsegments;
	if (bytes > before)
		return fail(cx, -EINVAL, "%" PRIu64 " bytes are more than the %" PRIu64
			    " that the volume has", bytes, before);
	ret = check_fit(&z, cx, &room);
	if (!ret && !how->forecast && bytes < before) {
		z.tail = room.tail;
		ret = set_range(&z, cx, bytes);
		if (!ret)
			ret = run_rounds(&z, cx, &room);
		if (ret) {
			/* The reason is that of the failure before. */
			context_child(cx, &quiet);
			if (set_range(&z, &quiet, before))
				context_adopt(cx, &quiet);
		}
	}
	if (ret)
		return ret;
	r->bytes = bytes;
	r->segments = room.head;
	return 0;
}
