// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One call of the kernel's cleaner.
 *
 * The kernel does not verify the call: it moves the listed blocks, frees the listed
 * numbers, deletes the listed checkpoints and marks the segments as clean, even if live
 * blocks are left in them.  So everything is verified here: the sequence number and the
 * length of a segment are the same before and after its logs are read, and right
 * before the call; blocks of logs with a wrong checksum are not moved, since they
 * would get a matching one; no snapshot is among the checkpoints to delete; and a
 * number is freed only if its entry still has the position of the block.  The caller
 * holds the lock of the cleaner, so that a segment in use is not freed, and a free one
 * not written, meanwhile.
 *
 * Live blocks are those of nilfs_vdesc_is_live() and nilfs_bdesc_is_live() of
 * nilfs-utils, with entries of the DAT by NILFS_IOCTL_GET_VINFO.  A live block that
 * becomes dead before the call is moved without need.  If a checkpoint becomes a snapshot
 * in between, the call fails, since it lists this checkpoint for deletion.
 *
 * The kernel keeps the blocks of a file at a checkpoint together, and writes these
 * groups in reverse order of their first appearance.  So blocks are listed from the
 * youngest to the oldest, and segments get blocks of similar age.
 */
#include "gc/live/call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/sort.h"
#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "gc/live/livezones.h"
#include "live/live.h"
#include "vol/logcheck.h"
#include "vol/logscan.h"
#include "vol/volume.h"

static int ask_for(const struct call *c, struct context *cx, const char *name,
		   unsigned long request, void *base, size_t n, size_t size)
{
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)base,
		.v_nmembs = (uint32_t)n,
		.v_size = (uint16_t)size,
	};

	return live_ioctl(c->live, cx, name, request, &argv);
}

#define ask(c, cx, request, base, n) \
	ask_for(c, cx, #request, request, base, n, sizeof(*(base)))

int call_open(struct call *c, struct context *cx, const struct live *live,
	      struct dev *dev, uint64_t protect_cno)
{
	*c = (struct call){
		.live = live,
		.kept.protect_cno = protect_cno,
	};
	return volume_open_bare(&c->vol, cx, dev);
}

void call_close(struct call *c)
{
	summary_free(&c->summary);
	free(c->kept.snapshots);
	free(c->vdescs);
	free(c->bdescs);
	free(c->periods);
	free(c->freed);
	free(c->victims);
	volume_close(c->vol);
	*c = (struct call){ .vol = NULL };
}

uint64_t call_blocks(const struct call *c)
{
	return c->n.vdescs + c->n.bdescs;
}

/* No list may have more entries than the segments that the call frees have blocks. */
uint64_t call_held(const struct call *c)
{
	size_t most = c->n.freed > c->n.periods ? c->n.freed : c->n.periods;

	most = c->n.vdescs > most ? c->n.vdescs : most;
	most = c->n.bdescs > most ? c->n.bdescs : most;
	return c->zones ? div_round_up(most, c->vol->geo.blocks_per_segment) : 0;
}

/*
 * Blocks of files and of the DAT; its bitmaps and nodes; blocks of the SUFILE, and of
 * the cpfile where checkpoints are deleted; the ifile, headers and the super root; and
 * summaries.
 */
uint64_t call_need(const struct call *c)
{
	uint64_t n = call_blocks(c) + c->n.entries + c->n.entries / 8 +
		     c->n.victims + c->n.periods + 16;

	return n + n / 32 + 1;
}

/*
 * Reads the present state of segment SEGNUM to *V: 1, 0 if it is clean, being written or
 * marked as erroneous, or -errno.
 */
static int look_at(struct call *c, struct context *cx, uint64_t segnum,
		   struct call_victim *v)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	struct nilfs_segment_summary ss;
	struct nilfs_suinfo info;
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)&info,
		.v_nmembs = 1,
		.v_size = sizeof(info),
		.v_index = segnum,
	};
	int ret = live_request(c->live, cx, NILFS_IOCTL_GET_SUINFO, &argv);

	if (ret < 0)
		return ret;
	if (argv.v_nmembs != 1 || !nilfs_suinfo_dirty(&info) ||
	    nilfs_suinfo_active(&info) || nilfs_suinfo_error(&info))
		return 0;
	*v = (struct call_victim){
		.segnum = segnum,
		.nblocks = info.sui_nblocks,
	};
	if (!v->nblocks)
		return 1;
	ret = dev_read(c->vol->dev, cx,
		       geometry_segment_start(geo, segnum) << geo->block_bits,
		       &ss, sizeof(ss));
	v->seq = le64_get(ss.ss_seq);
	return ret ? ret : 1;
}

/* Whether V has not changed since it was read: 1, 0, or -errno. */
static int is_unchanged(struct call *c, struct context *cx,
			const struct call_victim *v)
{
	struct call_victim now;
	int ret = look_at(c, cx, v->segnum, &now);

	return ret <= 0 ? ret : now.nblocks == v->nblocks && now.seq == v->seq;
}

/*
 * Lists the blocks of LOG: those with virtual numbers as vdescs, with the checkpoint
 * of their file, those of the DAT as bdescs.  None is known to be live yet.
 */
static int list_blocks(struct call *c, struct context *cx, const struct log *log)
{
	struct segsum_block b;
	int ret = summary_read(&c->summary, cx, c->vol, log->pseg, &log->ss);

	while (!ret && (ret = summary_next(&c->summary, cx, &b)) > 0) {
		if (b.is_virtual)
			ret = array_push(cx, &c->vdescs, &c->n.vdescs,
					 &c->room.vdescs, (struct nilfs_vdesc){
				.vd_ino = b.ino,
				.vd_cno = b.cno,
				.vd_vblocknr = b.vblocknr,
				.vd_blocknr = log->pseg + b.index,
				.vd_offset = b.blkoff,
				.vd_flags = b.is_node,
			});
		else
			ret = array_push(cx, &c->bdescs, &c->n.bdescs,
					 &c->room.bdescs, (struct nilfs_bdesc){
				.bd_ino = b.ino,
				.bd_oblocknr = log->pseg + b.index,
				.bd_offset = b.blkoff,
				.bd_level = b.level,
			});
	}
	return ret;
}

static int compare_vblocknr(const void *a, const void *b)
{
	const struct nilfs_vdesc *x = a, *y = b;

	if (x->vd_vblocknr != y->vd_vblocknr)
		return x->vd_vblocknr < y->vd_vblocknr ? -1 : 1;
	return x->vd_blocknr < y->vd_blocknr ? -1 : x->vd_blocknr > y->vd_blocknr;
}

/*
 * Of the vdescs from FROM on keeps those that are live, and lists the numbers and the
 * periods of dead ones.  Blocks that are not at the position of their entry were moved
 * or rewritten, and are left out.
 */
static int sort_out_vdescs(struct call *c, struct context *cx, size_t from)
{
	size_t n = c->n.vdescs - from, i;
	struct nilfs_vdesc *v = c->vdescs + from, *end = v + n;
	struct nilfs_vinfo *info = malloc((n ? n : 1) * sizeof(*info));
	struct nilfs_dat_entry de;
	uint64_t block = UINT64_MAX, per_block = c->vol->geo.block_size / sizeof(de);
	int ret = 0;

	if (!info)
		return fail(cx, -ENOMEM, "entries of the DAT");
	sort_in_place(v, n, sizeof(*v), compare_vblocknr);
	for (i = 0; i < n; i++)
		info[i].vi_vblocknr = v[i].vd_vblocknr;
	if (n)
		ret = ask(c, cx, NILFS_IOCTL_GET_VINFO, info, n);
	c->n.vdescs = from;
	for (i = 0; v < end && !ret; v++, i++) {
		if (info[i].vi_blocknr != v->vd_blocknr)
			continue;
		c->n.entries += v->vd_vblocknr / per_block != block;
		block = v->vd_vblocknr / per_block;
		de = (struct nilfs_dat_entry){
			.de_blocknr = le64_make(info[i].vi_blocknr),
			.de_start = le64_make(info[i].vi_start),
			.de_end = le64_make(info[i].vi_end),
		};
		v->vd_period.p_start = info[i].vi_start;
		v->vd_period.p_end = info[i].vi_end;
		/* cpfile and SUFILE, without a checkpoint, have no older state. */
		if (v->vd_period.p_end == NILFS_CNO_MAX ||
		    (v->vd_cno &&
		     liveness_of_entry(&c->kept, &de) != LIVENESS_DEAD)) {
			c->vdescs[c->n.vdescs++] = *v;
			continue;
		}
		ret = array_push(cx, &c->freed, &c->n.freed, &c->room.freed,
				 v->vd_vblocknr);
		if (!ret && v->vd_cno &&
		    v->vd_period.p_start < v->vd_period.p_end)
			ret = array_push(cx, &c->periods, &c->n.periods,
					 &c->room.periods, v->vd_period);
	}
	free(info);
	return ret;
}

/* Of the bdescs from FROM on keeps those that are live. */
static int sort_out_bdescs(struct call *c, struct context *cx, size_t from)
{
	struct nilfs_bdesc *b = c->bdescs + from, *end = c->bdescs + c->n.bdescs;
	int ret = b < end ? ask(c, cx, NILFS_IOCTL_GET_BDESCS, b,
				(size_t)(end - b)) : 0;

	c->n.bdescs = from;
	for (; b < end && !ret; b++)
		if (b->bd_blocknr == b->bd_oblocknr)
			c->bdescs[c->n.bdescs++] = *b;
	return ret;
}

/* Whether a block of the call from N on is in LOG. */
static bool moves_from(const struct call *c, const struct call_size *n,
		       const struct log *log)
{
	size_t i;

	for (i = n->vdescs; i < c->n.vdescs; i++)
		if (c->vdescs[i].vd_blocknr - log->pseg < log->nblocks)
			return true;
	for (i = n->bdescs; i < c->n.bdescs; i++)
		if (c->bdescs[i].bd_blocknr - log->pseg < log->nblocks)
			return true;
	return false;
}

/* Verifies the checksums of the logs of V with blocks of the call from N on. */
static int verify_logs(struct call *c, struct context *cx,
		       const struct call_victim *v, const struct call_size *n)
{
	struct logscan scan;
	struct log log;
	int ret = logscan_open(&scan, cx, c->vol, v->segnum, v->nblocks);

	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0)
		ret = moves_from(c, n, &log) ?
			      logcheck_payload(c->vol, cx, log.pseg, &log.ss) : 0;
	if (ret == -EUCLEAN)
		return fail(cx, ret, "a log does not match its checksum; unmount "
			    "the volume, and run fsck.nilfs2 -y --data");
	return ret;
}

int call_add(struct call *c, struct context *cx, uint64_t segnum,
	     const struct call_limit *limit)
{
	const struct call_size before = c->n;
	struct call_victim v;
	struct logscan scan;
	struct log log;
	int ret = 0;

	/* Snapshots may be made and deleted between calls. */
	if (!before.victims) {
		free(c->kept.snapshots);
		ret = live_checkpoints(c->live, cx, NILFS_SNAPSHOT,
				       &c->kept.snapshots, &c->kept.nsnapshots);
	}
	if (!ret)
		ret = look_at(c, cx, segnum, &v);
	if (ret < 0)
		return ret;
	if (!ret || (v.nblocks && v.seq >= limit->seq))
		return CALL_YOUNG;
	ret = v.nblocks ? logscan_open(&scan, cx, c->vol, segnum, v.nblocks) : 0;
	while (!ret && v.nblocks && (ret = logscan_next(&scan, cx, &log)) > 0)
		ret = list_blocks(c, cx, &log);
	if (!ret && v.nblocks && scan.pseg < scan.end)
		ret = fail(cx, -EUCLEAN, "its logs end at block %" PRIu64 " of %"
			   PRIu32, scan.pseg - geometry_segment_start(
					   &c->vol->geo, segnum), v.nblocks);
	if (!ret) {
		ret = is_unchanged(c, cx, &v);
		ret = ret < 0 ? ret : ret ? 0 : CALL_YOUNG;
	}
	/* Numbers that an interrupted run has freed may be those of other blocks. */
	if (c->zones && !bitmap_test(&c->zones->used, segnum))
		c->n.vdescs = before.vdescs;
	if (!ret)
		ret = sort_out_vdescs(c, cx, before.vdescs);
	if (!ret)
		ret = sort_out_bdescs(c, cx, before.bdescs);
	if (!ret)
		ret = array_push(cx, &c->victims, &c->n.victims, &c->room.victims,
				 v);
	if (!ret && ((before.victims && call_blocks(c) > limit->moved) ||
		     call_need(c) > limit->written ||
		     call_held(c) > limit->held))
		ret = CALL_LARGE;
	if (!ret && c->verify)
		ret = verify_logs(c, cx, &v, &before);
	if (!ret)
		return CALL_TAKEN;
	c->n = before;
	return ret == -EUCLEAN || ret == -EIO || ret == -ENOENT ? CALL_DAMAGED :
								  ret;
}

/* Youngest first; blocks of a file at a checkpoint together. */
static int compare_for_moving(const void *a, const void *b)
{
	const struct nilfs_vdesc *x = a, *y = b;

	if (x->vd_period.p_start != y->vd_period.p_start)
		return x->vd_period.p_start > y->vd_period.p_start ? -1 : 1;
	if (x->vd_ino != y->vd_ino)
		return x->vd_ino < y->vd_ino ? -1 : 1;
	if (x->vd_cno != y->vd_cno)
		return x->vd_cno < y->vd_cno ? -1 : 1;
	if (x->vd_flags != y->vd_flags)
		return x->vd_flags < y->vd_flags ? -1 : 1;
	return x->vd_offset < y->vd_offset ? -1 : x->vd_offset > y->vd_offset;
}

/* Sorts the periods, which begin with p_start, and merges those that overlap. */
static void merge_periods(struct call *c)
{
	struct nilfs_period *p = c->periods, *last = p;
	size_t i;

	sort_in_place(p, c->n.periods, sizeof(*p), sort_compare_number);
	for (i = 1; i < c->n.periods; i++) {
		if (p[i].p_start > last->p_end)
			*++last = p[i];
		else if (p[i].p_end > last->p_end)
			last->p_end = p[i].p_end;
	}
	if (c->n.periods)
		c->n.periods = (size_t)(last - p) + 1;
}

/* Whether one of N snapshots, ascending, is in a period. */
static bool loses_one(const struct call *c, const uint64_t *snapshots, size_t n)
{
	const struct nilfs_period *p = c->periods, *end = p + c->n.periods;
	size_t i;

	for (i = 0; i < n; i++) {
		while (p < end && p->p_end <= snapshots[i])
			p++;
		if (p < end && p->p_start <= snapshots[i])
			return true;
	}
	return false;
}

int call_make(struct call *c, struct context *cx)
{
	uint64_t *segments = malloc((c->n.victims + 1) * sizeof(*segments));
	uint64_t *named = segments, *snapshots = NULL;
	size_t nnamed = c->n.victims;
	struct nilfs_argv argv[5];
	struct context quiet;
	size_t nsnapshots, i;
	int ret = segments ? 0 : fail(cx, -ENOMEM, "list of segments");

	sort_in_place(c->vdescs, c->n.vdescs, sizeof(*c->vdescs),
		      compare_for_moving);
	sort_in_place(c->freed, c->n.freed, sizeof(*c->freed),
		      sort_compare_number);
	merge_periods(c);
	if (!ret)
		ret = live_checkpoints(c->live, cx, NILFS_SNAPSHOT, &snapshots,
				       &nsnapshots);
	if (!ret && loses_one(c, snapshots, nsnapshots))
		ret = fail(cx, -EBUSY, "%s: a snapshot was made meanwhile",
			   c->live->dir);
	free(snapshots);
	for (i = 0; i < c->n.victims && !ret; i++) {
		segments[i] = c->victims[i].segnum;
		ret = is_unchanged(c, cx, &c->victims[i]);
		ret = ret ? (ret < 0 ? ret : 0) :
			    fail_said(cx, -ESTALE, "%s: segment %" PRIu64 " was "
				      "changed by another program; only one "
				      "cleaner may be at work", c->live->dir,
				      segments[i]);
	}
#define LIST(base, count) (struct nilfs_argv){ .v_base = (uintptr_t)(base), \
	.v_nmembs = (uint32_t)(count), .v_size = sizeof(*(base)) }
	argv[0] = LIST(c->vdescs, c->n.vdescs);
	argv[1] = LIST(c->periods, c->n.periods);
	argv[2] = LIST(c->freed, c->n.freed);
	argv[3] = LIST(c->bdescs, c->n.bdescs);
	if (!ret && c->zones) {
		nnamed = call_held(c);
		named = malloc((nnamed + 1) * sizeof(*named));
		ret = named ? livezones_hold(c->zones, cx, named, nnamed) :
			      fail(cx, -ENOMEM, "list of segments");
	}
	argv[4] = LIST(named, nnamed);
#undef LIST
	if (!ret && nnamed) {
		ret = live_request(c->live, cx, NILFS_IOCTL_CLEAN_SEGMENTS, argv);
		context_child(cx, &quiet);
		if (ret && c->zones)
			livezones_release(c->zones, &quiet, named, nnamed);
	}
	if (!ret && c->zones)
		ret = livezones_recycle(c->zones, cx, segments, c->n.victims);
	if (named != segments)
		free(named);
	free(segments);
	c->n = (struct call_size){ 0 };
	return ret;
}
