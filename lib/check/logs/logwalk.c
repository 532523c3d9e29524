// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A walk through the logs of a segment.
 *
 * Each log leads to the next by its length alone, so one wrong length would
 * make all the rest look wrong.  A header is therefore believed only if the
 * checksum over the summary is right; the walk goes on after one that is
 * not, but in silence if no log is there.
 *
 * A segment is marked as erroneous where its logs are broken and something
 * lives, or where the device fails: neither is reported again.  Logs that can be
 * read are checked as all others.
 *
 * Nothing is asked of the bytes after what a summary lists, where older
 * kernels leave what was in memory, nor of ss_next, which is read only in the
 * latest log: that a segment can begin there.  Time may have gone back.
 */
#include "check/logs/logwalk.h"

#include <errno.h>

#include "check/damage.h"
#include "check/logs/blockowner.h"
#include "disk/checkpoint.h"
#include "disk/superroot.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"

void logwalk_init(struct logwalk *w, struct check *c, struct volume *vol,
		  struct sparse *sequences)
{
	*w = (struct logwalk){ .c = c, .vol = vol, .sequences = sequences };
	claims_init(&w->claims, c, vol);
}

void logwalk_fini(struct logwalk *w)
{
	summary_free(&w->summary);
	claims_fini(&w->claims);
}

static struct place here(const struct logwalk *w)
{
	return place_number(PLACE_LOG, w->pseg);
}

/* Some logs of the segment cannot be read. */
static void note_broken(struct logwalk *w)
{
	struct check *c = w->c;

	if (w->mode != LOGWALK_SHUT)
		bitmap_set_shared(&c->broken_segments, w->segnum);
	else if (bitmap_test(&c->live_segments, w->segnum))
		__atomic_store_n(&c->logs_shut, true, __ATOMIC_RELAXED);
}

/* The failure ERR of reading what RULE is about. */
static int meet_damage(struct logwalk *w, struct context *cx, int err,
		       enum rule rule)
{
	return w->mode == LOGWALK_SHUT ? damage_forgive(cx, err) :
			 check_damage(w->c, cx, err, rule, here(w));
}

/* Ends the walk: the contents of the blocks from here on are unknown. */
static void stop_walk(struct logwalk *w)
{
	w->broken = true;
	note_broken(w);
	claims_drop(w->c, w->pseg,
		    geometry_segment_end(&w->vol->geo, w->segnum));
}

/* The first log says which number the others have; false: not to be read. */
static bool check_sequence(struct logwalk *w, struct context *cx,
			   const struct nilfs_segment_summary *ss)
{
	const struct recovery *latest = &w->vol->latest;
	struct findings *f = w->c->findings;
	uint64_t seq = le64_get(ss->ss_seq);

	if (w->any && seq != w->seq) {
		if (!w->doubtful && w->mode != LOGWALK_SHUT)
			findings_differ(f, RULE_LOG_SEQ, here(w), w->seq, seq);
		stop_walk(w);
		return false;
	}
	if (w->any)
		return true;
	/*
	 * With a number greater than the latest it is older all the same, by
	 * its checkpoint and its time, and no other log has that number: it is
	 * wrong then, and what the log lists is not.
	 */
	if (seq > latest->seq && w->mode != LOGWALK_SHUT && seq != w->odd &&
	    segsum_has_cno(ss) && segsum_cno(ss) < latest->cno &&
	    le64_get(ss->ss_create) <= latest->ctime) {
		w->odd = seq;
		findings_differ(f, RULE_LOG_SEQ, here(w), latest->seq, seq);
		return true;
	}
	w->any = true;
	w->seq = seq;
	if (seq > latest->seq) {
		if (w->mode != LOGWALK_SHUT)
			findings_differ(f, RULE_LOG_NEWER, here(w),
					latest->seq, seq);
		stop_walk(w);
		return false;
	}
	/* A number from very long ago, or that there is no room for, passes. */
	if (w->mode != LOGWALK_SHUT && latest->seq - seq < w->sequences->bits &&
	    !sparse_add(w->sequences, cx, latest->seq - seq))
		findings_differ(f, RULE_LOG_SEQ_TWICE,
				place_number(PLACE_SEGMENT, w->segnum),
				latest->seq, seq);
	fail_clear(cx);
	return true;
}

/* Names the blocks of files that keep the log from being summed up. */
static int name_unreadable(struct logwalk *w, struct context *cx,
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
		/* The others are read in any case. */
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
		ret = blockowner_report(w->c->findings, cx, w->vol, blocknr,
					&vb, &b);
	}
	return ret < 0 ? ret : 0;
}

/*
 * The checkpoint that the log ends has its time; nilfs_segctor_do_construct()
 * takes it once for both.  The super root is the third witness; of a cleaner's
 * log there is none.
 */
static int check_time(struct logwalk *w, struct context *cx,
		      const struct nilfs_segment_summary *ss)
{
	struct volume *vol = w->vol;
	uint64_t cno = segsum_cno(ss), create = le64_get(ss->ss_create);
	const struct nilfs_super_root *sr;
	struct nilfs_checkpoint cp;
	const void *block;
	int err;

	if (!segsum_has_super_root(ss) || w->mode != LOGWALK_EXACT || w->c->dat_broken)
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
		findings_differ(w->c->findings, RULE_CP_CREATE,
				place_number(PLACE_CHECKPOINT, cno), create,
				le64_get(cp.cp_create));
	cache_put_spent(vol->cache, block);
	return 0;
}

/* A log with a valid header. */
static int check_log(struct logwalk *w, struct context *cx,
		     const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &w->vol->geo;
	struct findings *f = w->c->findings;
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
	/* It begins or continues as the log before it allows. */
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
	if (rule && w->mode != LOGWALK_SHUT)
		findings_broken(f, rule, here(w));
	if (rule && rule != RULE_LOG_SUMBYTES_UNUSED) {
		w->claims.any_needed = true; /* not known */
		claims_drop(w->c, w->pseg, w->pseg + le32_get(ss->ss_nblocks));
		note_broken(w);
	}

	if (w->c->data)
		ret = logcheck_is_right(w->vol->dev, cx, geo, w->pseg, ss);
	if (ret == -EIO) {
		fail_clear(cx);
		return w->mode == LOGWALK_SHUT ? 0 : name_unreadable(w, cx, ss);
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

/* Checks the log at w->pseg, and steps after it. */
static int walk_log(struct logwalk *w, struct context *cx)
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
		/* Unless there was reason to expect nothing. */
		if (w->mode == LOGWALK_EXACT && !w->doubtful)
			findings_broken(w->c->findings, rule, here(w));
		stop_walk(w);
		return 0;
	}
	nblocks = le32_get(ss.ss_nblocks);
	err = summary_read(&w->summary, cx, vol, w->pseg, &ss);
	if (err) {
		err = meet_damage(w, cx, err, RULE_LOG_SUMSUM);
		goto doubt;
	}
	segsum_crc_init_sumsum(&crc, geo, &ss);
	segsum_crc_update(&crc, w->summary.buf,
			  (size_t)segsum_nsumblk(geo, &ss) << geo->block_bits);
	if (segsum_crc_check_sumsum(&crc, &ss) != RULE_OK) {
		if (w->mode == LOGWALK_EXACT && !w->doubtful)
			findings_broken(w->c->findings, RULE_LOG_SUMSUM,
					here(w));
		goto doubt;
	}
	if (check_sequence(w, cx, &ss)) {
		w->doubtful = false;
		err = check_log(w, cx, &ss);
	}
	if (!w->broken)
		w->pseg += nblocks;
	return err;

doubt:
	/* The listing of such a log is not trusted either. */
	claims_drop(w->c, w->pseg, w->pseg + nblocks);
	note_broken(w);
	w->doubtful = true;
	w->follows = false;
	w->pseg += nblocks;
	return err;
}

int logwalk_segment(struct logwalk *w, struct context *cx, uint64_t segnum,
		    uint32_t nblocks, enum logwalk_mode mode)
{
	int err = 0;

	w->mode = mode;
	w->segnum = segnum;
	w->start = w->pseg = geometry_segment_start(&w->vol->geo, segnum);
	w->end = w->start + nblocks;
	w->odd = 0;
	w->any = w->broken = w->doubtful = w->follows = false;
	w->claims.any_unclaimed = false;
	while (!err && !w->broken &&
	       w->pseg + NILFS_PSEG_MIN_BLOCKS <= w->end) {
		err = context_cancelled(cx);
		if (!err)
			err = walk_log(w, cx);
	}
	/* A cleaner does not read what is marked as erroneous. */
	if (!err && w->claims.any_unclaimed && w->mode != LOGWALK_SHUT)
		bitmap_set_shared(&w->c->unclaimed_segments, segnum);
	if (err || w->broken || w->pseg == w->end)
		return err;
	if (w->mode == LOGWALK_EXACT && !w->doubtful)
		findings_differ(w->c->findings, RULE_SU_LOG_END,
				place_number(PLACE_SEGMENT, segnum),
				w->pseg - w->start, nblocks);
	stop_walk(w);
	return 0;
}
