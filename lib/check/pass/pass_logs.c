// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over logs: the content of the segments in use.
 *
 * It checks the logs of each segment up to the end of the blocks in use by the
 * SUFILE: summaries and their checksums, sequence numbers (one per segment, no
 * duplicates, none above the latest), and on request the checksum over all
 * blocks.  Listed blocks are matched with the claims of the DAT (claims.h).  It
 * needs the passes over segments and the DAT.  Logs after the latest super root
 * are not checked.
 *
 * Each log gives only its length, so one wrong length would make all later logs
 * look wrong.  So a header is trusted only if the checksum of the summary is
 * right.  After a wrong one the walk continues, but reports nothing if it finds
 * no log.
 *
 * A segment is marked as erroneous if its logs are broken and it has live
 * blocks, or if the device fails.  Neither is reported again; readable logs are
 * checked as usual.  Bytes after the listings of a summary, which older kernels
 * do not clear, are ignored.  ss_next is checked in the latest log only: a
 * segment must be able to begin there.  Times may go backwards.
 *
 * Segments are independent: each worker has its own volume and takes some
 * segments at a time. Findings are reported in the order of segments.
 */
#include "check/pass/passes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/pool.h"
#include "check/damage.h"
#include "check/logs/claims.h"
#include "check/logs/mapsums.h"
#include "disk/checkpoint.h"
#include "disk/superroot.h"
#include "find/inorder.h"
#include "vol/ahead.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/sutable.h"

#define BATCH_SEGMENTS 16
#define SUMMARY_BYTES 20	/* a block */
#define SEQUENCES_MAX (UINT64_C(1) << 32)

enum walk_mode {
	/* The blocks in use end with a log.  If the logs cannot be followed,
	   that is one finding, and the segment is in c->broken_segments. */
	WALK_EXACT,
	/* The number of blocks in use is unknown: logs end at the first missing
	   one. */
	WALK_LOOSE,
	/* As WALK_LOOSE, in a segment marked as erroneous: unreadable logs are
	   no finding; c->logs_shut is set if the segment has live blocks. */
	WALK_SHUT,
};

/* State of one worker. */
struct walk {
	struct check *c;
	struct volume *vol;		/* volume of the worker */
	/* The findings of the worker, kept in the list until its segments are
	   done. */
	struct findings *found;
	struct inorder_list list;
	struct summary summary;
	struct claims claims;

	/* The current segment and log. */
	uint64_t segnum, pseg;
	uint64_t seq;			/* sequence number of the segment,
					   valid if any */
	uint64_t odd;			/* sequence number of only one log, or 0 */
	bool any;
	enum walk_mode mode;
	bool broken;			/* the position of the next log is unknown */
	bool doubtful;			/* the header of the log before was wrong */
	uint16_t flags;			/* flags of the log before, valid if follows */
	bool follows;
};

static struct place here(const struct walk *w)
{
	return place_number(PLACE_LOG, w->pseg);
}

/* Records that some logs of the segment cannot be read. */
static void note_broken(struct walk *w)
{
	struct check *c = w->c;

	if (w->mode != WALK_SHUT)
		bitmap_set_shared(&c->broken_segments, w->segnum);
	else if (bitmap_test(&c->live_segments, w->segnum))
		__atomic_store_n(&c->logs_shut, true, __ATOMIC_RELAXED);
}

/* Handles the failure ERR of a read; damage breaks RULE. */
static int meet_damage(struct walk *w, struct context *cx, int err,
		       enum rule rule)
{
	if (w->mode == WALK_SHUT)
		return damage_forgive(cx, err);
	return check_damage(w->found, cx, err, rule, here(w));
}

/* Ends the walk: the content of the remaining blocks is unknown. */
static void stop_walk(struct walk *w)
{
	w->broken = true;
	note_broken(w);
	claims_drop(w->c, w->pseg,
		    geometry_segment_end(&w->vol->geo, w->segnum), NULL);
}

/* Compares the sequence number with that of the first log; false: the log must
   not be read. */
static bool check_sequence(struct walk *w, const struct nilfs_segment_summary *ss)
{
	const struct recovery *latest = &w->vol->latest;
	struct findings *f = w->found;
	uint64_t seq = le64_get(ss->ss_seq);

	if (w->any && seq != w->seq) {
		if (!w->doubtful && w->mode != WALK_SHUT)
			findings_differ(f, RULE_LOG_SEQ, here(w), w->seq, seq);
		stop_walk(w);
		return false;
	}
	if (w->any)
		return true;
	/*
	 * A log with a number above the latest that is older by its checkpoint
	 * and time, and the only one with that number, has a wrong number.  Its
	 * listings are right.
	 */
	if (seq > latest->seq && w->mode != WALK_SHUT && seq != w->odd &&
	    segsum_has_cno(ss) && segsum_cno(ss) < latest->cno &&
	    le64_get(ss->ss_create) <= latest->ctime) {
		w->odd = seq;
		findings_differ(f, RULE_LOG_SEQ, here(w), latest->seq, seq);
		return true;
	}
	w->any = true;
	w->seq = seq;
	if (seq > latest->seq) {
		if (w->mode != WALK_SHUT)
			findings_differ(f, RULE_LOG_NEWER, here(w),
					latest->seq, seq);
		stop_walk(w);
		return false;
	}
	/* It is one only if another segment has that number. */
	if (w->mode != WALK_SHUT)
		findings_differ(f, RULE_LOG_SEQ_TWICE,
				place_number(PLACE_SEGMENT, w->segnum),
				latest->seq, seq);
	return true;
}

/* Reports the unreadable blocks of files for which the log cannot be summed up. */
static int name_unreadable(struct walk *w, struct context *cx,
			   const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &w->vol->geo;
	struct segsum_iter it;
	struct segsum_block b;
	const void *block;
	struct vblock vb;
	uint64_t blocknr;
	int ret = 0;

	segsum_iter_init(&it, geo, w->summary.buf,
			 (size_t)segsum_nsumblk(geo, ss) << geo->block_bits);
	while (ret >= 0 && segsum_iter_next(&it, &b)) {
		/* Other passes read all other blocks. */
		if (b.is_node || b.ino < NILFS_USER_INO)
			continue;
		blocknr = w->pseg + b.index;
		ret = cache_get(w->vol->cache, cx, blocknr, &block);
		if (!ret)
			cache_put_spent(w->vol->cache, block);
		if (ret != -EIO)
			continue;
		fail_clear(cx);
		ret = vblocks_find(&w->claims.vblocks, cx, b.vblocknr, &vb);
		if (ret != VBLOCKS_USED || vb.blocknr != blocknr)
			continue;
		ret = badreads_name(w->found, cx, w->vol, blocknr, &vb,
				    &b);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Checks the time: the checkpoint that the log ends has the time of the log,
 * because nilfs_segctor_do_construct() sets both from one value.  The super
 * root is the third source; for a cleaner's log there is none.
 */
static int check_time(struct walk *w, struct context *cx,
		      const struct nilfs_segment_summary *ss)
{
	struct volume *vol = w->vol;
	uint64_t cno = segsum_cno(ss), create = le64_get(ss->ss_create);
	const struct nilfs_super_root *sr;
	struct nilfs_checkpoint cp;
	const void *block;
	int err;

	if (!segsum_has_super_root(ss) || w->mode != WALK_EXACT ||
	    w->c->dat_broken)
		return 0;
	/* The number is wrong: another log ends the latest checkpoint. */
	if (cno == vol->latest.cno && w->pseg != vol->latest.pseg_start)
		return 0;
	err = cptable_read(vol, cx, cno, &cp);
	if (err)
		return damage_forgive(cx, err);
	if (checkpoint_check(&cp, cno) != RULE_OK ||
	    le64_get(cp.cp_create) == create)
		return 0;
	err = cache_get(vol->cache, cx,
			w->pseg + le32_get(ss->ss_nblocks) - 1, &block);
	if (err)
		return damage_forgive(cx, err);
	sr = block;
	if (superroot_check(&vol->geo, block) == RULE_OK &&
	    le64_get(sr->sr_nongc_ctime) == create)
		findings_differ(w->found, RULE_CP_CREATE,
				place_number(PLACE_CHECKPOINT, cno), create,
				le64_get(cp.cp_create));
	cache_put_spent(vol->cache, block);
	return 0;
}

/* Checks a log with a valid header. */
static int check_log(struct walk *w, struct context *cx,
		     const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &w->vol->geo;
	struct findings *f = w->found;
	uint64_t next = le64_get(ss->ss_next);
	uint16_t flags = le16_get(ss->ss_flags);
	bool begins = flags & NILFS_SS_LOGBGN;
	char files[SUMMARY_FILES_MAX];
	enum rule rule;
	int ret;

	if (segsum_check_links(geo, ss) == RULE_LOG_FLAGS)
		findings_broken(f, RULE_LOG_FLAGS, here(w));
	if (w->pseg == w->vol->latest.pseg_start &&
	    next != geometry_segment_start(geo, geometry_segment_of(geo, next)))
		findings_broken(f, RULE_LOG_NEXT, here(w));
	/* The flags must match those of the log before. */
	if ((w->follows && begins != !!(w->flags & NILFS_SS_LOGEND)) ||
	    (flags & NILFS_SS_SR && !(flags & NILFS_SS_LOGEND)))
		findings_broken(f, RULE_LOG_PARTS, here(w));
	if (segsum_cno(ss) > w->vol->latest.cno)
		findings_differ(f, RULE_LOG_CNO, here(w), w->vol->latest.cno,
				segsum_cno(ss));
	w->flags = flags;
	w->follows = true;

	ret = check_time(w, cx, ss);
	w->claims.any_needed = false;
	if (!ret)
		ret = claims_settle_log(&w->claims, cx, &w->summary);
	if (ret)
		return ret;
	rule = w->summary.iter.verdict;
	if (rule && w->mode != WALK_SHUT)
		findings_broken(f, rule, here(w));
	if (rule && rule != RULE_LOG_SUMBYTES_UNUSED) {
		w->claims.any_needed = true; /* unknown, so assume it */
		claims_drop(w->c, w->pseg, w->pseg + le32_get(ss->ss_nblocks),
			    NULL);
		note_broken(w);
	}

	if (w->c->data)
		ret = logcheck_is_right(w->vol->dev, cx, geo, w->pseg, ss);
	if (ret == -EIO) {
		fail_clear(cx);
		return w->mode == WALK_SHUT ? 0 : name_unreadable(w, cx, ss);
	}
	if (ret || !w->c->data)
		return ret < 0 ? ret : 0;
	summary_files(&w->summary, files);
	findings_add(f, &(struct finding){
		.rule = w->claims.any_needed || w->c->dat_broken ?
			RULE_LOG_DATASUM : RULE_LOG_DATASUM_DEAD,
		.place = here(w),
		.detail = files,
	});
	return 0;
}

/* Checks the log at w->pseg, and advances to the next one. */
static int walk_log(struct walk *w, struct context *cx)
{
	struct volume *vol = w->vol;
	const struct nilfs_geometry *geo = &vol->geo;
	struct nilfs_segment_summary ss;
	struct segsum_crc crc;
	uint32_t nblocks;
	enum rule rule;
	int err;

	err = dev_read(vol->dev, cx, w->pseg << geo->block_bits, &ss,
		       sizeof(ss));
	if (err) {
		err = meet_damage(w, cx, err, RULE_LOG_MAGIC);
		stop_walk(w);
		return err;
	}
	rule = segsum_check(geo, &ss, w->pseg);
	if (rule) {
		/* Not reported if no log was expected here. */
		if (w->mode == WALK_EXACT && !w->doubtful)
			findings_broken(w->found, rule, here(w));
		stop_walk(w);
		return 0;
	}
	nblocks = le32_get(ss.ss_nblocks);
	err = summary_read(&w->summary, cx, vol, w->pseg, &ss);
	if (err) {
		err = meet_damage(w, cx, err, RULE_LOG_SUMSUM);
		goto doubt;
	}
	segsum_crc_init(&crc, SEGSUM_SUMSUM, geo, &ss);
	segsum_crc_update(&crc, w->summary.buf,
			  (size_t)segsum_nsumblk(geo, &ss) << geo->block_bits);
	if (segsum_crc_check(&crc, &ss) != RULE_OK) {
		if (w->mode == WALK_EXACT && !w->doubtful)
			findings_broken(w->found, RULE_LOG_SUMSUM,
					here(w));
		goto doubt;
	}
	if (check_sequence(w, &ss)) {
		w->doubtful = false;
		err = check_log(w, cx, &ss);
	}
	if (!w->broken)
		w->pseg += nblocks;
	return err;

doubt:
	/* The listings of such a log are not trusted either. */
	claims_drop(w->c, w->pseg, w->pseg + nblocks, NULL);
	note_broken(w);
	w->doubtful = true;
	w->follows = false;
	w->pseg += nblocks;
	return err;
}

/*
 * Checks the logs in the first NBLOCKS blocks of SEGNUM, and removes the claims
 * of the blocks that they list.
 */
static int walk_segment(struct walk *w, struct context *cx, uint64_t segnum,
			uint32_t nblocks, enum walk_mode mode)
{
	uint64_t start = geometry_segment_start(&w->vol->geo, segnum);
	int err = 0;

	w->mode = mode;
	w->segnum = segnum;
	w->pseg = start;
	w->odd = 0;
	w->any = w->broken = w->doubtful = w->follows = false;
	w->claims.any_unclaimed = false;
	while (!err && !w->broken &&
	       w->pseg + NILFS_PSEG_MIN_BLOCKS <= start + nblocks) {
		err = context_cancelled(cx) ?:
		      walk_log(w, cx);
	}
	/* A cleaner does not read a segment marked as erroneous. */
	if (!err && w->claims.any_unclaimed && w->mode != WALK_SHUT)
		bitmap_set_shared(&w->c->unclaimed_segments, segnum);
	if (err || w->broken || w->pseg == start + nblocks)
		return err;
	if (w->mode == WALK_EXACT && !w->doubtful)
		findings_differ(w->found, RULE_SU_LOG_END,
				place_number(PLACE_SEGMENT, segnum),
				w->pseg - start, nblocks);
	stop_walk(w);
	return 0;
}

struct crowd {
	struct check *c;
	struct walk *walks;	/* one per worker */
	struct inorder found;
	struct context quiet;	/* for report_found() */
	/* Sequence numbers of the segments visited, as distances from the latest
	   one. */
	struct sparse sequences;
	uint64_t first, end;	/* segments of the window */
	uint64_t done;		/* segments done */
};

/* Reports F, unless it is the first segment with that number. A very old number,
   or one without room in the set, is accepted. */
static void report_found(void *arg, const struct finding *f)
{
	struct crowd *crowd = arg;
	int ret = 1;

	if (f->rule == RULE_LOG_SEQ_TWICE && f->want - f->got < crowd->sequences.bits)
		ret = sparse_add(&crowd->sequences, &crowd->quiet,
				 f->want - f->got);
	if (f->rule != RULE_LOG_SEQ_TWICE || !ret)
		findings_add(crowd->c->findings, f);
}

static int check_batch(struct context *cx, void *arg, unsigned int worker,
		       uint64_t job)
{
	struct crowd *crowd = arg;
	struct check *c = crowd->c;
	struct walk *w = &crowd->walks[worker];
	const struct recovery *latest = &c->vol->latest;
	const struct bitmap *used = &c->used_segments;
	const struct nilfs_geometry *geo = &c->vol->geo;
	struct ahead ahead = ahead_of(c->vol);
	uint64_t first = crowd->first + job * BATCH_SEGMENTS, segnum, end;
	uint64_t start, nblocks, done;
	struct nilfs_segment_usage_ext su;
	enum walk_mode mode;
	int err = 0;

	end = first + BATCH_SEGMENTS;
	end = end < crowd->end ? end : crowd->end;
	/*
	 * Announces the summaries at the start of the segments, of the size for
	 * a log that fills its segment: 16 bytes per block and some per file.
	 */
	for (segnum = first; segnum < end; segnum++)
		if (bitmap_test(used, segnum))
			ahead_add(&ahead, geometry_segment_start(geo, segnum),
				  div_round_up((uint64_t)SUMMARY_BYTES *
					       geo->blocks_per_segment,
					       geo->block_size));
	ahead_end(&ahead);
	for (segnum = first; segnum < end && !err; segnum++) {
		if (!bitmap_test(used, segnum))
			continue;
		start = geometry_segment_start(geo, segnum);
		nblocks = geometry_segment_end(geo, segnum) - start;
		if (bitmap_test(&c->broken_segments, segnum)) {
			claims_drop(c, start, start + nblocks, NULL);
			continue;
		}
		if (segnum == latest->segnum) {
			err = walk_segment(w, cx, segnum,
					   (uint32_t)latest->offset,
					   WALK_EXACT);
			continue;
		}
		err = sutable_read(w->vol, cx, segnum, &su);
		if (err) {
			err = check_damage(w->found, cx, err, RULE_SU_UNREADABLE,
					  place_number(PLACE_SEGMENT, segnum));
			continue;
		}
		if (!segusage_is_dirty(&su.su))
			continue;
		mode = WALK_LOOSE;
		if (segusage_is_error(&su.su))
			mode = WALK_SHUT;
		else if (le32_get(su.su.su_nblocks) <= nblocks &&
			 segnum != latest->nextnum)
			mode = WALK_EXACT;
		if (le32_get(su.su.su_nblocks) < nblocks)
			nblocks = le32_get(su.su.su_nblocks);
		err = walk_segment(w, cx, segnum, (uint32_t)nblocks, mode);
	}
	if (!err)
		err = inorder_done(&crowd->found, cx, job, &w->list);
	done = __atomic_add_fetch(&crowd->done, BATCH_SEGMENTS,
				  __ATOMIC_RELAXED);
	/* Only the calling thread, worker 0, shows progress. */
	if (!worker)
		check_progress(c, done);
	return err;
}

int pass_logs(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	uint64_t latest = c->vol->latest.seq;
	uint64_t end = c->dat_broken ? 0 : vblocks_end(c->vol, cx);
	unsigned int i, n = pool_workers(cx, div_round_up(geo->nsegments,
							  BATCH_SEGMENTS));
	struct crowd crowd = { .c = c, .walks = calloc(n, sizeof(struct walk)) };
	bool more;
	int ret = crowd.walks ? 0 : fail(cx, -ENOMEM, "%u workers", n);

	context_child(cx, &crowd.quiet);
	c->work = geo->nsegments;
	if (!ret)
		ret = sparse_init(&crowd.sequences, cx, latest < SEQUENCES_MAX ?
				  latest + 1 : SEQUENCES_MAX);
	if (!ret)
		ret = bitmap_init(&c->unclaimed_segments, cx, geo->nsegments);
	/* Sets of the blocks listed for metadata files, and sums for other
	   files. */
	for (i = 0; i < CHECK_LISTED && end && !ret; i++)
		ret = sparse_init(&c->listed[i], cx, end);
	if (!ret && end) {
		c->sums = calloc(1, sizeof(*c->sums));
		if (!c->sums)
			ret = fail(cx, -ENOMEM, "sums of maps");
	}
	for (i = 0; i < n && !ret; i++) {
		struct walk *w = &crowd.walks[i];
		struct volume *vol = c->vol;

		ret = i ? check_open_again(c, cx, n, &vol) : 0;
		if (ret)
			break;
		*w = (struct walk){
			.c = c, .vol = vol, .claims = { .c = c },
		};
		ret = findings_open(&w->found, cx, inorder_keep, &w->list, true);
		vblocks_init(&w->claims.vblocks, vol, &c->datruns);
	}
	/* Checks the segments of each window of claims. */
	for (more = !ret; more; more = ret > 0) {
		crowd.first = c->claimed_from ?
			geometry_segment_of(geo, c->claimed_from) : 0;
		crowd.end = c->claimed_end < c->claimed.bits ?
			geometry_segment_of(geo, c->claimed_end) :
			geo->nsegments;
		inorder_init(&crowd.found, report_found, &crowd);
		ret = pool_run(cx, div_round_up(crowd.end - crowd.first,
						BATCH_SEGMENTS),
			       check_batch, &crowd) ?: claims_next(c, cx);
		inorder_fini(&crowd.found);
	}
	for (i = 0; crowd.walks && i < n && crowd.walks[i].vol; i++) {
		inorder_drop(&crowd.walks[i].list);
		findings_close(crowd.walks[i].found);
		summary_free(&crowd.walks[i].summary);
		vblocks_fini(&crowd.walks[i].claims.vblocks);
		if (i)
			volume_close(crowd.walks[i].vol);
	}
	free(crowd.walks);
	sparse_fini(&crowd.sequences);
	if (!ret && !c->dat_broken && c->claimed.bits)
		ret = claims_report(c, cx);
	return ret;
}
