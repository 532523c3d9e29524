// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repairing the SUFILE.
 *
 * An entry follows from the DAT and from the logs. A segment with live blocks
 * is in use up to the end of its logs. A segment without any is marked in use
 * without blocks; a cleaner frees it without reading it. Only the sound logs of
 * the present use of a segment count.
 *
 * nilfs_cleanerd stops at the first log that it cannot read, and takes all
 * later blocks for dead. So segments with live blocks after such a log are
 * marked as erroneous, which neither the cleaner nor the kernel frees or writes
 * to. The same flag marks segments in zones that cannot be written to.
 *
 * If logs end as expected and the DAT names a later block, the DAT is wrong,
 * and not repaired here. The writer makes the counts of the header.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "check/logs/claims.h"
#include "check/logs/listings.h"
#include "disk/segusage.h"
#include "fsck/plan/fixers.h"
#include "log/directwriter.h"
#include "log/exactcounts.h"
#include "log/tables/segzones.h"
#include "vol/datscan.h"

#define ACTIVE (1u << NILFS_SEGMENT_USAGE_ACTIVE)
#define DIRTY (1u << NILFS_SEGMENT_USAGE_DIRTY)
#define ERROR (1u << NILFS_SEGMENT_USAGE_ERROR)

struct work {
	struct fixer_job *job;
	struct metafile *sufile;	/* of the writer */
	const struct bitmap *which;	/* segments to be repaired; NULL: all */
	struct sparse claimed;		/* blocks in them that the DAT names */
	struct vblocks vblocks;
};

/* The state of one segment. Blocks are counted from its start. */
struct segment {
	uint64_t segnum, start, end;
	bool known;			/* its entry could be read */
	bool unwritable;		/* because of its zones */
	struct nilfs_segment_usage was;	/* zero unless known */
	uint32_t expected;		/* blocks that logs should have */

	uint32_t nblocks;	/* of the sound logs at its start */
	uint64_t lastmod;	/* time of the last of these logs; 0: none */
	uint32_t held;		/* blocks in it that the DAT names */
	uint32_t listed;	/* of HELD, listed with the same number by these logs */
	uint32_t behind;	/* of HELD, after these logs */
	uint32_t last;		/* one past the last of these blocks */
};

static int claim_block(void *arg, struct context *cx, uint64_t blocknr,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de,
		       const struct blockmap_item *own)
{
	struct work *w = arg;
	const struct nilfs_geometry *geo = &w->job->vol->geo;
	int ret;

	(void)vblocknr;
	(void)de;
	(void)own;
	if (!geometry_has_block(geo, blocknr) ||
	    (w->which && !bitmap_test(w->which,
				      geometry_segment_of(geo, blocknr))))
		return 0;
	ret = sparse_add(&w->claimed, cx, blocknr);
	return ret < 0 ? ret : 0;
}

/* The number of claimed blocks in [FROM, END), and
   one past the last in *LAST. */
static uint32_t count_claims(const struct work *w, uint64_t from, uint64_t end,
			     uint64_t *last)
{
	uint32_t n = 0;
	uint64_t b;

	*last = from;
	for (b = sparse_next(&w->claimed, from, end); b < end;
	     b = sparse_next(&w->claimed, b + 1, end)) {
		*last = b + 1;
		n++;
	}
	return n;
}

/*
 * Follows the sound logs of S.  The summary of a sound log can be read, the log is
 * part of a checkpoint, and it is not newer than the latest log of the volume.  A log
 * that ends at s->expected is the last one if the DAT names no block after it: logs
 * without a checkpoint can follow.  A log of fdatasync() has no checkpoint if a crash
 * came first.  It counts if the DAT names one of its blocks, if it ends at
 * s->expected, or if a log that counts follows.
 */
static int follow_logs(struct work *w, struct context *cx, struct segment *s)
{
	struct logindex_log log;
	struct segsum_block b;
	struct listings_walk l;
	struct vblock vb;
	uint64_t blocknr;
	uint32_t end = 0;	/* of the log */
	int ret = listings_open(&l, cx, w->job->check, s->segnum);

	while (ret > 0 && (ret = listings_next(&l, cx, &log)) > 0) {
		bool counts = !(log.flags & NILFS_SS_SYNDT);

		/* A sound log begins where the previous one ends, and lists
		   all of its blocks. */
		if (l.is_former || log.pseg != s->start + end ||
		    (log.verdict != RULE_OK &&
		     log.verdict != RULE_LOG_SUMBYTES_UNUSED))
			return 0;
		end += log.nblocks;
		while (ret >= 0 && (ret = listings_block(&l, cx, &b)) > 0) {
			blocknr = log.pseg + b.index;
			if (!sparse_test(&w->claimed, blocknr))
				continue;
			ret = claims_find_owner(&w->vblocks, cx, blocknr, &b, &vb);
			if (ret > 0) {
				sparse_remove(&w->claimed, blocknr);
				counts = true;
			}
		}
		if (ret < 0)
			return ret;
		if (counts || end == s->expected) {
			s->nblocks = end;
			s->lastmod = log.create;
		}
		/* These are all that there should be. */
		if (s->nblocks == s->expected &&
		    sparse_next(&w->claimed, s->start + s->expected,
				s->end) >= s->end)
			return 0;
		ret = 1;
	}
	return ret < 0 ? ret : 0;
}

/* The entry that S must have. */
static struct nilfs_segment_usage usage_of(const struct segment *s,
					   const struct check *c)
{
	struct nilfs_segment_usage su = s->was;
	uint32_t flags = le32_get(su.su_flags), nblocks = s->nblocks;

	if (s->held || s->segnum == c->vol->latest.segnum) {
		/* The DAT names blocks in the segment. */
		if (segusage_is_clean(&su) && s->known && !s->listed)
			return su;	/* according to the DAT alone */
		flags &= ACTIVE | ERROR;
		if (s->behind && (!s->known || s->expected > s->nblocks)) {
			flags |= ERROR;
			if (nblocks < s->last)
				nblocks = s->last;
			if (nblocks < s->expected)
				nblocks = s->expected;
		}
		su.su_flags = le32_make(flags | DIRTY);
		su.su_nblocks = le32_make(nblocks);
		if (!le64_get(su.su_lastmod))
			su.su_lastmod = le64_make(s->lastmod);
		return su;
	}
	if (!c->dat_broken) {
		/* The DAT names no block: nilfs_sufile_do_scrap(). */
		if (flags && !(flags & ~(ACTIVE | DIRTY | ERROR)) &&
		    le32_get(su.su_nblocks) == nblocks)
			return su;
		if (flags)
			flags = (flags & ERROR) | DIRTY;
		if (flags == (ERROR | DIRTY) && !segusage_is_dirty(&s->was))
			flags = ERROR;
		return (struct nilfs_segment_usage){
			.su_flags = le32_make(flags),
		};
	}
	/* The DAT does not show that a segment has no live block: keep the entry. */
	if (!s->known && nblocks) {
		su.su_flags = le32_make(DIRTY | ERROR);
		su.su_nblocks = le32_make(nblocks);
		su.su_lastmod = le64_make(s->lastmod);
		return su;
	}
	if (flags & ~(ACTIVE | DIRTY | ERROR))
		flags = (flags & (ACTIVE | ERROR)) | DIRTY;
	su.su_flags = le32_make(flags);
	if (!flags)
		su.su_nblocks = le32_make(0);
	else if (le32_get(su.su_nblocks) > s->end - s->start)
		su.su_nblocks = le32_make(nblocks);
	return su;
}

static void note_segment(struct fixer_job *job, const struct segment *s,
			 const struct nilfs_segment_usage *su)
{
	unsigned long long segnum = s->segnum;
	uint32_t nblocks = le32_get(su->su_nblocks);

	if (s->unwritable && !segusage_is_error(&s->was))
		fixers_note(job, "segment %llu: marked as erroneous: cannot be "
			    "written to", segnum);
	else if (segusage_is_error(su) && !segusage_is_error(&s->was))
		fixers_note(job, "segment %llu: marked as erroneous: %u blocks "
			    "live where its logs cannot be read", segnum,
			    s->behind);
	else if (!segusage_is_dirty(su))
		fixers_note(job, "segment %llu: is clean", segnum);
	else if (!nblocks)
		fixers_note(job, "segment %llu: no block is in use",
			    segnum);
	else
		fixers_note(job, "segment %llu: %u blocks are in use",
			    segnum, nblocks);
}

/* Writes SU to the entry; a missing block is added only for a segment that is
   not clean. 1, 0 if the entry is the same already. */
static int enter_usage(struct work *w, struct context *cx, uint64_t segnum,
		       const struct nilfs_segment_usage *su)
{
	const struct nilfs_geometry *geo = &w->job->vol->geo;
	uint64_t blkoff = segusage_blkoff(geo, segnum);
	uint32_t at = segusage_offset(geo, segnum);
	const struct nilfs_segment_usage none = { 0 };
	const void *block;
	void *data;
	int ret = metafile_look(w->sufile, cx, blkoff, &block);

	if (ret < 0 || !memcmp(ret ? (const char *)block + at :
				     (const char *)&none, su, sizeof(*su)))
		return ret < 0 ? ret : 0;
	ret = metafile_change(w->sufile, cx, blkoff, &data, NULL);
	if (ret)
		return ret;
	if (segusage_is_clean(su))
		memset((char *)data + at, 0, geo->segment_usage_size);
	memcpy((char *)data + at, su, sizeof(*su));
	return 1;
}

/* Reads the entry of S. Unreadable and invalid entries are not known, nor are
   those in a block of another file. */
static int read_entry(struct volume *vol, struct context *cx, struct segment *s)
{
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t blkoff = segusage_blkoff(geo, s->segnum);
	const void *block;
	int ret = file_block(&vol->sufile, cx, blkoff, &block);

	s->known = !ret;
	if (ret > 0) {
		s->known = !segusage_is_garbage(geo, blkoff, block);
		if (s->known)
			memcpy(&s->was, (const char *)block +
					segusage_offset(geo, s->segnum),
			       sizeof(s->was));
		file_put(&vol->sufile, block);
	}
	s->expected = s->segnum == vol->latest.segnum ?
		(uint32_t)vol->latest.offset : le32_get(s->was.su_nblocks);
	if (s->expected > s->end - s->start)
		s->expected = 0;
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

/* Whether the device can read all of S: 1, 0, or a failure. */
static int is_segment_readable(struct fixer_job *job, struct context *cx,
			       const struct segment *s)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	const uint32_t piece = 64;	/* blocks */
	char *buf = malloc((size_t)piece << geo->block_bits);
	uint64_t at, n;
	int err = buf ? 0 : fail(cx, -ENOMEM, "blocks of a segment");

	for (at = s->start; at < s->end && !err; at += n) {
		n = s->end - at < piece ? s->end - at : piece;
		err = context_cancelled(cx) ?:
		      dev_read(job->dev, cx, at << geo->block_bits, buf,
			       n << geo->block_bits);
	}
	free(buf);
	if (!damage_is(err))
		return err ? err : 1;
	fail_clear(cx);
	return 0;
}

/* Repairs the entry of SEGNUM: 1 if it was wrong, 0, or a failure. */
static int repair_segment(struct work *w, struct context *cx, uint64_t segnum)
{
	struct fixer_job *job = w->job;
	const struct nilfs_geometry *geo = &job->vol->geo;
	struct segment s = {
		.segnum = segnum,
		.start = geometry_segment_start(geo, segnum),
		.end = geometry_segment_end(geo, segnum),
		.unwritable = job->dev->zones &&
			      segzones_is_unusable(job->dev->zones, geo,
						   segnum),
	};
	struct nilfs_segment_usage su;
	uint64_t last;
	int ret = read_entry(job->vol, cx, &s);

	/* If everything is rebuilt, a segment is erroneous only if it cannot be
	   read. */
	if (!ret && job->rebuild && segusage_is_error(&s.was))
		ret = is_segment_readable(job, cx, &s);
	if (ret > 0)
		s.was.su_flags = le32_make(le32_get(s.was.su_flags) & ~ERROR);
	s.held = count_claims(w, s.start, s.end, &last);
	if (ret >= 0)
		ret = follow_logs(w, cx, &s);
	if (ret)
		return ret;
	s.listed = s.held - count_claims(w, s.start, s.end, &last);
	s.behind = count_claims(w, s.start + s.nblocks, s.end, &last);
	s.last = s.behind ? (uint32_t)(last - s.start) : 0;

	su = usage_of(&s, job->check);
	if (s.unwritable)
		su.su_flags = le32_make(le32_get(su.su_flags) | ERROR);
	ret = enter_usage(w, cx, segnum, &su);
	if (ret > 0 && s.known)
		note_segment(job, &s, &su);
	return ret;
}

int fix_segments_all(struct fixer_job *job, struct context *cx,
		     const struct bitmap *which, uint64_t *nchanged)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	struct work w = {
		.job = job,
		.which = which,
		.sufile = directwriter_file(job->writer, NILFS_SUFILE_INO),
	};
	/* The pass over the DAT reported unreadable blocks. */
	const struct datscan_visitor visitor = {
		.block = claim_block,
		.unreadable = check_skip_unreadable,
		.arg = &w,
	};
	const struct nilfs_segment_usage none = { 0 };
	uint64_t blkoff = segusage_nblocks(geo) - 1, segnum;
	int ret = 0;

	*nchanged = 0;
	vblocks_init(&w.vblocks, job->vol, NULL);
	if (!which || bitmap_count(which, UINT64_MAX)) {
		ret = sparse_init(&w.claimed, cx, geometry_segment_end(
					geo, geo->nsegments - 1)) ?:
		      datscan_run(job->vol, cx, &visitor);
		if (ret == -EUCLEAN || ret == -EIO) {
			fail_clear(cx);
			ret = 0;
		}
	}
	for (segnum = 0; segnum < geo->nsegments && ret >= 0; segnum++) {
		if (which && !bitmap_test(which, segnum))
			continue;
		ret = repair_segment(&w, cx, segnum);
		*nchanged += ret > 0;
	}
	vblocks_fini(&w.vblocks);
	sparse_fini(&w.claimed);

	/* Entries of segments that the volume does not have. */
	for (; ret >= 0 && segnum < segusage_first(geo, blkoff) +
				    segusage_count(geo, blkoff); segnum++) {
		ret = enter_usage(&w, cx, segnum, &none);
		if (ret > 0)
			fixers_note(job, "segment %llu: does not exist",
				    (unsigned long long)segnum);
	}
	return ret < 0 ? ret : 0;
}

int fix_segments(struct fixer_job *job, struct context *cx,
		 const struct finding *fixes, size_t n)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	bool rebuilt = directwriter_is_rebuilt(job->writer, NILFS_SUFILE_INO);
	uint64_t segnum, changed, counted;
	struct bitmap which;
	void *header;
	size_t i;
	int err = bitmap_init(&which, cx, geo->nsegments);

	for (i = 0; i < n && !err; i++) {
		const struct place *place = &fixes[i].place;

		segnum = place->kind == PLACE_SEGMENT ? place->number :
			 place->kind == PLACE_LOG ?
				 geometry_segment_of(geo, place->number) :
				 UINT64_MAX;
		if (segnum < geo->nsegments)
			bitmap_set(&which, segnum);
	}
	/* The segments that FIXES name; all if there are no fixes. */
	if (!err)
		err = fix_segments_all(job, cx, rebuilt || !n ? NULL : &which,
				       &changed);
	if (!err && rebuilt && !job->plan->kinds[RULE_FIX_DAT].n)
		err = exactcounts_count(job->writer, cx, job->vol, job->time,
					&counted);
	bitmap_fini(&which);
	if (err)
		return err;
	if (rebuilt)
		fixers_note(job, "segment usage file: rebuilt, with %llu "
			    "segments that are not clean",
			    (unsigned long long)changed);
	/* The writer updates the counts, but only if a block of the file
	   changes. */
	return !rebuilt && !changed && !n ? 0 :
	       metafile_change(directwriter_file(job->writer,
						 NILFS_SUFILE_INO),
			       cx, 0, &header, NULL);
}
