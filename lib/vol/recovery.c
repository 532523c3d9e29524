// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the latest super root is: the kernel's search, read-only.
 *
 * The walk has the kernel's own bounds: a log must carry the sequence number
 * that its place in the chain demands, and that number grows with every
 * segment; one segment without a valid log may be stepped over, the second
 * ends the walk.
 */
#include "vol/recovery.h"

#include <errno.h>
#include <string.h>

#include "disk/rule.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "vol/logcheck.h"
#include "vol/volume.h"

/* State of a walk along the chain of logs. */
struct walk {
	struct volume *vol;
	struct recovery *rec;
	uint64_t pseg, seq, segnum, nextnum;
	uint64_t cno;		/* of the next super root */
	bool newer;		/* the first super root is after us */
	bool bounded;		/* the next super root ends the walk */
	unsigned int empty;	/* segments without a valid log in a row */
};

static uint64_t segment_end(const struct walk *w)
{
	return geometry_segment_end(&w->vol->geo, w->segnum);
}

static void note_super_root(struct walk *w,
			    const struct nilfs_segment_summary *ss)
{
	struct recovery *rec = w->rec;
	uint32_t nblocks = le32_get(ss->ss_nblocks);

	rec->passed += w->newer;
	rec->cno = w->cno++;
	rec->super_root = w->pseg + nblocks - 1;
	rec->pseg_start = w->pseg;
	rec->seq = w->seq;
	rec->segnum = w->segnum;
	rec->nextnum = w->nextnum;
	rec->offset = w->pseg + nblocks -
		      geometry_segment_start(&w->vol->geo, w->segnum);
	rec->ctime = le64_get(ss->ss_create);
	rec->orphans_start = rec->orphans_end = 0;
}

static void note_orphan(struct walk *w, unsigned int flags)
{
	if (!w->rec->orphans_start && (flags & NILFS_SS_LOGBGN)) {
		w->rec->orphans_start = w->pseg;
		w->rec->orphans_start_seq = w->seq;
	}
	if (flags & NILFS_SS_LOGEND)
		w->rec->orphans_end = w->pseg;
}

/* Records the current log of the walk, which is valid. */
static int note_log(struct walk *w, struct context *cx,
		    const struct nilfs_segment_summary *ss)
{
	unsigned int flags = le16_get(ss->ss_flags);

	w->rec->last_pseg = w->pseg;
	w->rec->last_segnum = w->segnum;
	w->rec->last_seq = w->seq;
	w->nextnum = geometry_segment_of(&w->vol->geo, le64_get(ss->ss_next));
	w->empty = 0;
	if (flags & NILFS_SS_SR) {
		note_super_root(w, ss);
		return 0;
	}
	if (!w->newer)
		return fail(cx, -EUCLEAN,
			    "log at block %llu, named by the superblock: has no super root",
			    (unsigned long long)w->pseg);
	note_orphan(w, flags);
	return 0;
}

/* The kernel compares with the last block: no log is a block long. */
static bool has_next_log(const struct walk *w)
{
	return w->pseg + 1 < segment_end(w);
}

/* At the end of a segment that is full its last block is the place. */
static void note_gap(struct walk *w)
{
	uint64_t last = segment_end(w) - 1;

	if (w->rec->gap_pseg)
		return;
	w->rec->gap_pseg = w->pseg < last ? w->pseg : last;
	w->rec->gap_seq = w->seq;
}

/* On to the next segment: 1, or 0 where the chain ends. */
static int feed_segment(struct walk *w)
{
	if (w->nextnum >= w->vol->geo.nsegments)
		note_gap(w);
	if (w->empty++ || w->nextnum >= w->vol->geo.nsegments)
		return 0;
	w->seq++;
	w->segnum = w->nextnum;
	w->pseg = geometry_segment_start(&w->vol->geo, w->segnum);
	return 1;
}

/*
 * One step: 1 to go on, 0 at the end of the chain, or a failure.  Where the
 * segment has no valid log here, the first log of the next one is tried.
 */
static int step_log(struct walk *w, struct context *cx, bool follow)
{
	struct nilfs_segment_summary ss;
	int ret;

	ret = logcheck_read(w->vol, cx, w->pseg, w->seq, &ss);
	if (ret < 0 && ret != -EUCLEAN)
		return ret;
	if (ret) {
		if (!w->newer)
			return ret;
		fail_clear(cx);
		note_gap(w);
		return feed_segment(w);
	}
	if (w->bounded && segsum_has_super_root(&ss))
		return 0;
	ret = note_log(w, cx, &ss);
	if (ret)
		return ret;
	if (!follow)
		return 0;
	w->newer = true;
	w->pseg += le32_get(ss.ss_nblocks);
	return has_next_log(w) ? 1 : feed_segment(w);
}

static int walk_chain(struct walk *w, struct context *cx, bool follow)
{
	int ret;

	do {
		ret = context_cancelled(cx);
		if (!ret)
			ret = step_log(w, cx, follow);
	} while (ret > 0);
	return ret;
}

int recovery_search(struct volume *vol, struct context *cx,
		    const struct nilfs_super_block *sb, bool follow,
		    struct recovery *rec)
{
	struct walk w = {
		.vol = vol,
		.rec = rec,
		.pseg = le64_get(sb->s_last_pseg),
		.seq = le64_get(sb->s_last_seq),
		.cno = le64_get(sb->s_last_cno),
	};

	memset(rec, 0, sizeof(*rec));
	if (!geometry_has_block(&vol->geo, w.pseg))
		return fail(cx, -EUCLEAN,
			    "superblock: last log at block %llu, outside the segments",
			    (unsigned long long)w.pseg);
	w.segnum = geometry_segment_of(&vol->geo, w.pseg);
	return walk_chain(&w, cx, follow);
}

int recovery_follow(struct volume *vol, struct context *cx,
		    struct recovery *rec)
{
	struct walk w = {
		.vol = vol,
		.rec = rec,
		.pseg = rec->super_root + 1,
		.seq = rec->seq,
		.segnum = rec->segnum,
		.nextnum = rec->nextnum,
		.newer = true,
		.bounded = true,
	};

	rec->passed = 0;
	rec->orphans_start = rec->orphans_end = 0;
	rec->last_pseg = rec->pseg_start;
	rec->last_segnum = rec->segnum;
	rec->last_seq = rec->seq;
	if (!has_next_log(&w) && !feed_segment(&w))
		return 0;
	return walk_chain(&w, cx, true);
}

int recovery_read_super_root(struct volume *vol, struct context *cx,
			     const struct recovery *rec, void *sr_block)
{
	enum rule rule;
	int err;

	err = volume_read_blocks(vol, cx, rec->super_root, 1, sr_block);
	if (err)
		return err;
	rule = superroot_check(&vol->geo, sr_block);
	if (rule != RULE_OK)
		return fail(cx, -EUCLEAN, "super root at block %llu: %s",
			    (unsigned long long)rec->super_root,
			    rule_info(rule)->text);
	return 0;
}
