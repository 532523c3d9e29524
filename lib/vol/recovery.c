// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The search for the latest super root, as in the kernel, but read-only.
 *
 * The walk has the kernel's own bounds: a log must have the sequence number that its
 * place in the chain requires, and that number increases with every segment.  One
 * segment without a valid log may be skipped; the second one ends the walk.
 */
#include "vol/recovery.h"

#include <errno.h>
#include <string.h>

#include "disk/segsum.h"
#include "vol/logcheck.h"
#include "vol/volume.h"

bool recovery_next_segment(struct recovery_place *at,
			   const struct nilfs_geometry *geo)
{
	if (at->empty++ || at->nextnum >= geo->nsegments)
		return false;
	at->seq++;
	at->segnum = at->nextnum;
	at->pseg = geometry_segment_start(geo, at->segnum);
	return true;
}

/* The kernel compares with the last block, since no log is one block long. */
bool recovery_has_room(const struct recovery_place *at,
		       const struct nilfs_geometry *geo)
{
	return at->pseg + 1 < geometry_segment_end(geo, at->segnum);
}

bool recovery_next_log(struct recovery_place *at,
		       const struct nilfs_geometry *geo,
		       const struct nilfs_segment_summary *ss)
{
	at->nextnum = geometry_segment_of(geo, le64_get(ss->ss_next));
	at->empty = 0;
	at->pseg += le32_get(ss->ss_nblocks);
	return recovery_has_room(at, geo) || recovery_next_segment(at, geo);
}

/* State of a walk along the chain of logs. */
struct walk {
	struct volume *vol;
	struct recovery *rec;
	struct recovery_place at;
	uint64_t cno;		/* of the next super root */
	bool newer;		/* the first super root was found */
	bool bounded;		/* the next super root ends the walk */
};

/* If the segment is full, records its last block as the place. */
static void note_gap(struct walk *w)
{
	uint64_t last = geometry_segment_end(&w->vol->geo, w->at.segnum) - 1;

	if (w->rec->gap_pseg)
		return;
	w->rec->gap_pseg = w->at.pseg < last ? w->at.pseg : last;
	w->rec->gap_seq = w->at.seq;
}

/*
 * Walks to the end of the chain; without FOLLOW reads one log.  If a segment has no
 * valid log at the place, the first log of the next segment is tried.
 */
static int walk_chain(struct walk *w, struct context *cx, bool follow)
{
	const struct nilfs_geometry *geo = &w->vol->geo;
	struct recovery *rec = w->rec;
	struct nilfs_segment_summary ss;
	unsigned int flags;
	bool more = true;
	uint64_t end;
	int ret = 0;

	while (more && !(ret = context_cancelled(cx))) {
		ret = logcheck_read(w->vol, cx, w->at.pseg, w->at.seq, &ss);
		if (ret < 0 && (ret != -EUCLEAN || !w->newer))
			return ret;
		if (ret) {
			fail_clear(cx);
			note_gap(w);
			more = recovery_next_segment(&w->at, geo);
			ret = 0;
			continue;
		}
		if (w->bounded && segsum_has_super_root(&ss))
			return 0;
		/* Records the log. */
		flags = le16_get(ss.ss_flags);
		end = w->at.pseg + le32_get(ss.ss_nblocks);
		rec->last_pseg = w->at.pseg;
		rec->last_segnum = w->at.segnum;
		rec->last_seq = w->at.seq;
		if (flags & NILFS_SS_SR) {
			rec->passed += w->newer;
			rec->cno = w->cno++;
			rec->super_root = end - 1;
			rec->pseg_start = w->at.pseg;
			rec->seq = w->at.seq;
			rec->segnum = w->at.segnum;
			rec->nextnum = geometry_segment_of(
				geo, le64_get(ss.ss_next));
			rec->offset = end -
				geometry_segment_start(geo, w->at.segnum);
			rec->ctime = le64_get(ss.ss_create);
			rec->orphans_start = rec->orphans_end = 0;
		} else if (!w->newer) {
			return fail(cx, -EUCLEAN,
				    "log at block %llu, named by the superblock: has no super root",
				    (unsigned long long)w->at.pseg);
		} else {
			if (!rec->orphans_start && (flags & NILFS_SS_LOGBGN)) {
				rec->orphans_start = w->at.pseg;
				rec->orphans_start_seq = w->at.seq;
			}
			if (flags & NILFS_SS_LOGEND)
				rec->orphans_end = w->at.pseg;
		}
		if (!follow)
			return 0;
		w->newer = true;
		more = recovery_next_log(&w->at, geo, &ss);
		if (!more)
			note_gap(w);
	}
	return ret;
}

int recovery_search(struct volume *vol, struct context *cx,
		    const struct nilfs_super_block *sb, bool follow,
		    struct recovery *rec)
{
	struct walk w = {
		.vol = vol,
		.rec = rec,
		.at.pseg = le64_get(sb->s_last_pseg),
		.at.seq = le64_get(sb->s_last_seq),
		.cno = le64_get(sb->s_last_cno),
	};

	memset(rec, 0, sizeof(*rec));
	if (!geometry_has_block(&vol->geo, w.at.pseg))
		return fail(cx, -EUCLEAN,
			    "superblock: last log at block %llu, outside the segments",
			    (unsigned long long)w.at.pseg);
	w.at.segnum = geometry_segment_of(&vol->geo, w.at.pseg);
	return walk_chain(&w, cx, follow);
}

int recovery_follow(struct volume *vol, struct context *cx,
		    struct recovery *rec)
{
	struct walk w = {
		.vol = vol,
		.rec = rec,
		.at = {
			.pseg = rec->super_root + 1,
			.seq = rec->seq,
			.segnum = rec->segnum,
			.nextnum = rec->nextnum,
		},
		.newer = true,
		.bounded = true,
	};

	rec->passed = 0;
	rec->orphans_start = rec->orphans_end = 0;
	rec->last_pseg = rec->pseg_start;
	rec->last_segnum = rec->segnum;
	rec->last_seq = rec->seq;
	if (!recovery_has_room(&w.at, &vol->geo) &&
	    !recovery_next_segment(&w.at, &vol->geo)) {
		note_gap(&w);
		return 0;
	}
	return walk_chain(&w, cx, true);
}
