// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repairing the SUFILE.
 *
 * What an entry should say follows from the DAT and the logs.  Where
 * something lives, the segment is in use up to where its logs end.  Where
 * nothing does, the kernel's way to give up logs is taken: in use without
 * blocks, which a cleaner frees unread.  No more is ever called used than the
 * sound logs of this life: a cleaner would take what it reads in older ones
 * for blocks of today.
 *
 * nilfs_cleanerd stops at the first log that it cannot read, takes all behind
 * it for dead, and frees the segment.  Segments in which something lives
 * after such a log are therefore marked as erroneous, which neither it nor
 * the kernel ever frees or writes to.
 *
 * The same flag keeps the kernel off segments whose zones cannot be written to.
 * Set by another program it stays, unless all is rebuilt and the device can
 * read the segment.
 *
 * A block that the DAT names where logs end as they should was never written
 * there: then the DAT is wrong, and is not repaired here.  The counts of the
 * header are made by the writer.
 *
 * Segments without their usage file.
 *
 * Two witnesses are left: the DAT says in which blocks something lives or did
 * not long ago, and the logs say what was written.  Where both name a block
 * alike it is certain.  Logs from a former life of the segment may lie behind
 * those of this one, or alone in a clean segment, so logs that list nothing
 * that the DAT knows prove nothing.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/logs/claims.h"
#include "check/logs/lifelogs.h"
#include "disk/segusage.h"
#include "fsck/plan/fixers.h"
#include "log/exactcounts.h"
#include "log/repairwriter.h"
#include "log/tables/segzones.h"
#include "vol/datscan.h"
#include "vol/summary.h"
#include "vol/sutable.h"
#include "vol/volume.h"

struct usage {
	const struct check *check;	/* borrowed */
	struct volume *vol;
	const struct bitmap *which;	/* segments to be asked about */
	struct check facts;		/* only what claims.h needs */
	struct claims claims;
	struct summary summary;		/* of the log that was read last */
};

/* Blocks are counted from the beginning of the segment. */
struct usage_facts {
	uint32_t nblocks;	/* of the sound logs at its beginning */
	uint64_t lastmod;	/* when the last of these was made; 0: none */
	uint32_t held;		/* blocks that the DAT names in it */
	uint32_t listed;	/* of these, named the same by these logs */
	uint32_t behind;	/* not listed, after these logs */
	uint32_t last;		/* one past the last of these */
};

static int claim_block(struct usage *u, struct context *cx, uint64_t blocknr)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	int ret;

	if (!geometry_has_block(geo, blocknr) ||
	    !bitmap_test(u->which, geometry_segment_of(geo, blocknr)))
		return 0;
	ret = sparse_add(&u->facts.claimed, cx, blocknr);
	return ret < 0 ? ret : 0;
}

static int claim_entry(void *arg, struct context *cx, unsigned int worker,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	(void)worker;
	(void)vblocknr;
	return claim_block(arg, cx, le64_get(de->de_blocknr));
}

static int claim_own(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	return claim_block(arg, cx, item->ptr);
}

/*
 * Gathers what the DAT of C's volume names in the segments of WHICH (borrowed), as
 * far as the DAT can be read.  -ENOMEM, -EINTR.  usage_fini() also then, and
 * of one that is all zero.
 */
static int usage_gather(struct usage *u, struct context *cx,
			const struct check *c, const struct bitmap *which)
{
	struct volume *vol = c->vol;
	const struct datscan_visitor visitor = {
		.used = claim_entry,
		.own_block = claim_own,
		.unreadable = check_skip_unreadable,
		.arg = u,
	};
	int err;

	*u = (struct usage){ .check = c, .vol = vol, .which = which };
	u->facts.vol = vol;
	claims_init(&u->claims, &u->facts, vol);
	err = sparse_init(&u->facts.claimed, cx,
			  geometry_segment_end(&vol->geo,
					       vol->geo.nsegments - 1));
	if (!err)
		err = datscan_run(vol, cx, &visitor);
	/* The pass over the DAT reported unreadable blocks. */
	if (err == -EUCLEAN || err == -EIO) {
		fail_clear(cx);
		err = 0;
	}
	return err;
}

/* How many are claimed in [FROM, END), and one past the last in *LAST. */
static uint32_t count_claims(const struct usage *u, uint64_t from, uint64_t end,
			     uint64_t *last)
{
	uint32_t n = 0;
	uint64_t b;

	*last = from;
	for (b = sparse_next(&u->facts.claimed, from, end); b < end;
	     b = sparse_next(&u->facts.claimed, b + 1, end)) {
		*last = b + 1;
		n++;
	}
	return n;
}

static int follow_logs(struct usage *u, struct context *cx, uint64_t segnum,
		       uint32_t expected, struct usage_facts *facts)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum);
	uint64_t end = geometry_segment_end(geo, segnum);
	struct nilfs_segment_summary ss;
	struct lifelogs l;
	struct logindex_log log;
	int ret = lifelogs_open(&l, cx, u->check, segnum);

	while (ret > 0 && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		/* It goes on where the sound ones end, is of a checkpoint, and
		   lists all of its blocks. */
		if (l.is_former || log.pseg != start + facts->nblocks ||
		    (log.flags & NILFS_SS_SYNDT) ||
		    (log.verdict != RULE_OK &&
		     log.verdict != RULE_LOG_SUMBYTES_UNUSED))
			return 0;
		ret = dev_read(u->vol->dev, cx, log.pseg << geo->block_bits,
			       &ss, sizeof(ss));
		if (!ret)
			ret = summary_read(&u->summary, cx, u->vol, log.pseg,
					   &ss);
		if (!ret)
			ret = claims_settle_log(&u->claims, cx, &u->summary);
		if (ret)
			return ret;
		facts->nblocks += log.nblocks;
		facts->lastmod = log.create;
		/* These are all that there should be. */
		if (facts->nblocks == expected &&
		    sparse_next(&u->facts.claimed, start + expected,
				end) >= end)
			return 0;
		ret = 1;
	}
	return ret < 0 ? ret : 0;
}

/*
 * What is in SEGNUM, one of these, each to be asked about once.  A log is sound
 * whose summary can be read, that is part of a checkpoint, and not of a later
 * time than VOL's latest.  Where one ends at block EXPECTED and the DAT names
 * nothing after it, it was the last: logs of no checkpoint can follow.  Fails
 * where the checker cannot go on.
 */
static int usage_of(struct usage *u, struct context *cx, uint64_t segnum,
		    uint32_t expected, struct usage_facts *facts)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum), last;
	uint64_t end = geometry_segment_end(geo, segnum);
	int err;

	memset(facts, 0, sizeof(*facts));
	facts->held = count_claims(u, start, end, &last);
	err = follow_logs(u, cx, segnum, expected, facts);
	if (err)
		return err;
	facts->listed = facts->held - count_claims(u, start, end, &last);
	facts->behind = count_claims(u, start + facts->nblocks, end, &last);
	if (facts->behind)
		facts->last = (uint32_t)(last - start);
	return 0;
}

static void usage_fini(struct usage *u)
{
	summary_free(&u->summary);
	claims_fini(&u->claims);
	sparse_fini(&u->facts.claimed);
}

#define ACTIVE (1u << NILFS_SEGMENT_USAGE_ACTIVE)
#define DIRTY (1u << NILFS_SEGMENT_USAGE_DIRTY)
#define ERROR (1u << NILFS_SEGMENT_USAGE_ERROR)

/* What is known of one segment. */
struct segment {
	uint64_t segnum;
	uint32_t room;			/* blocks */
	bool known;			/* its entry could be read */
	bool unwritable;		/* for the sake of its zones */
	struct nilfs_segment_usage was;	/* zero unless known */
	uint32_t expected;		/* blocks that logs should have */
	struct usage_facts facts;
};

/* Where the DAT names blocks of it. */
static struct nilfs_segment_usage of_live(const struct segment *s)
{
	struct nilfs_segment_usage su = s->was;
	uint32_t flags = le32_get(su.su_flags) & (ACTIVE | ERROR);
	uint32_t nblocks = s->facts.nblocks;

	if (segusage_is_clean(&su) && s->known && !s->facts.listed)
		return su;	/* the DAT alone says so */
	if (s->facts.behind &&
	    (!s->known || s->expected > s->facts.nblocks)) {
		flags |= ERROR;
		if (nblocks < s->facts.last)
			nblocks = s->facts.last;
		if (nblocks < s->expected)
			nblocks = s->expected;
	}
	su.su_flags = le32_make(flags | DIRTY);
	su.su_nblocks = le32_make(nblocks);
	if (!le64_get(su.su_lastmod))
		su.su_lastmod = le64_make(s->facts.lastmod);
	return su;
}

/* Where it names none: nilfs_sufile_do_scrap() unless the entry is right. */
static struct nilfs_segment_usage of_dead(const struct segment *s)
{
	struct nilfs_segment_usage su = s->was;
	uint32_t flags = le32_get(su.su_flags);

	if (flags && flags == (flags & (ACTIVE | DIRTY | ERROR)) &&
	    le32_get(su.su_nblocks) == s->facts.nblocks)
		return su;
	if (flags)
		flags = (flags & ERROR) | DIRTY;
	if (flags == (ERROR | DIRTY) && !segusage_is_dirty(&s->was))
		flags = ERROR;
	return (struct nilfs_segment_usage){ .su_flags = le32_make(flags) };
}

/* The DAT cannot say where nothing lives: what the entry says stays so. */
static struct nilfs_segment_usage of_doubtful(const struct segment *s)
{
	struct nilfs_segment_usage su = s->was;
	uint32_t flags = le32_get(su.su_flags);

	if (!s->known && s->facts.nblocks) {
		su.su_flags = le32_make(DIRTY | ERROR);
		su.su_nblocks = le32_make(s->facts.nblocks);
		su.su_lastmod = le64_make(s->facts.lastmod);
		return su;
	}
	if (flags & ~(ACTIVE | DIRTY | ERROR))
		flags = (flags & (ACTIVE | ERROR)) | DIRTY;
	su.su_flags = le32_make(flags);
	if (!flags)
		su.su_nblocks = le32_make(0);
	else if (le32_get(su.su_nblocks) > s->room)
		su.su_nblocks = le32_make(s->facts.nblocks);
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
			    s->facts.behind);
	else if (!segusage_is_dirty(su))
		fixers_note(job, "segment %llu: is clean", segnum);
	else if (!nblocks)
		fixers_note(job, "segment %llu: nothing in it is in use",
			    segnum);
	else
		fixers_note(job, "segment %llu: %u blocks of it are in use",
			    segnum, nblocks);
}

/* Enters SU, in a block that is made only for a segment that is not clean. */
static int enter_usage(struct metafile *sufile, struct context *cx,
		       const struct nilfs_geometry *geo, uint64_t segnum,
		       const struct nilfs_segment_usage *su, bool *changed)
{
	uint64_t blkoff = segusage_blkoff(geo, segnum);
	uint32_t at = segusage_offset(geo, segnum);
	const struct nilfs_segment_usage none = { 0 };
	const void *block;
	void *data;
	int ret = metafile_look(sufile, cx, blkoff, &block);

	*changed = false;
	if (ret < 0)
		return ret;
	if (!memcmp(ret ? (const char *)block + at : (const char *)&none, su,
		    sizeof(*su)))
		return 0;
	*changed = true;
	ret = metafile_change(sufile, cx, blkoff, &data, NULL);
	if (ret)
		return ret;
	if (segusage_is_clean(su))
		memset((char *)data + at, 0, geo->segment_usage_size);
	memcpy((char *)data + at, su, sizeof(*su));
	return 0;
}

/* What the entry says; one that cannot be read or believed says nothing, nor does
   one in a block that is none of the SUFILE. */
static int read_entry(struct fixer_job *job, struct context *cx,
		      struct segment *s)
{
	const struct recovery *latest = &job->vol->latest;
	struct volume *vol = job->vol;
	uint64_t blkoff = segusage_blkoff(&vol->geo, s->segnum);
	struct nilfs_segment_usage_ext su;
	bool garbage = false;
	const void *block;
	int ret = file_block(&vol->sufile, cx, blkoff, &block);

	if (ret > 0) {
		garbage = segusage_is_garbage(&vol->geo, blkoff, block);
		file_put(&vol->sufile, block);
	}
	if (ret >= 0 && !garbage) {
		ret = sutable_read(vol, cx, s->segnum, &su);
		if (!ret) {
			s->known = true;
			s->was = su.su;
		}
	}
	s->expected = le32_get(s->was.su_nblocks);
	if (s->segnum == latest->segnum)
		s->expected = (uint32_t)latest->offset;
	if (s->expected > s->room)
		s->expected = 0;
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

#define PIECE_BLOCKS 64u

/* Whether the device can read all of S: 1, 0, or a failure. */
static int is_readable(struct fixer_job *job, struct context *cx,
		       const struct segment *s)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	uint64_t at = geometry_segment_start(geo, s->segnum), end = at + s->room;
	void *buf = malloc((size_t)PIECE_BLOCKS << geo->block_bits);
	uint32_t n;
	int err = buf ? 0 : fail(cx, -ENOMEM, "blocks of a segment");

	for (; at < end && !err; at += n) {
		n = end - at < PIECE_BLOCKS ? (uint32_t)(end - at) :
					      PIECE_BLOCKS;
		err = context_cancelled(cx);
		if (!err)
			err = dev_read(job->dev, cx, at << geo->block_bits, buf,
				       (size_t)n << geo->block_bits);
	}
	free(buf);
	if (!damage_is(err))
		return err ? err : 1;
	fail_clear(cx);
	return 0;
}

static int repair_segment(struct fixer_job *job, struct context *cx,
			  struct usage *u, uint64_t segnum, bool *changed)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	struct segment s = {
		.segnum = segnum,
		.room = (uint32_t)(geometry_segment_end(geo, segnum) -
				   geometry_segment_start(geo, segnum)),
	};
	struct nilfs_segment_usage su;
	int err = read_entry(job, cx, &s);

	s.unwritable = job->dev->zones &&
		       segzones_is_unusable(job->dev->zones, geo, segnum);
	/* Where all is rebuilt a segment is erroneous if the device says so. */
	if (!err && job->rebuild && segusage_is_error(&s.was)) {
		err = is_readable(job, cx, &s);
		if (err > 0)
			s.was.su_flags = le32_make(le32_get(s.was.su_flags) &
						   ~ERROR);
		err = err < 0 ? err : 0;
	}
	if (!err)
		err = usage_of(u, cx, segnum, s.expected, &s.facts);
	if (err)
		return err;
	if (s.facts.held || segnum == job->vol->latest.segnum)
		su = of_live(&s);
	else
		su = job->check->dat_broken ? of_doubtful(&s) : of_dead(&s);
	if (s.unwritable)
		su.su_flags = le32_make(le32_get(su.su_flags) | ERROR);
	err = enter_usage(repairwriter_file(job->writer, NILFS_SUFILE_INO), cx,
			  geo, segnum, &su, changed);
	if (!err && *changed && s.known)
		note_segment(job, &s, &su);
	return err;
}

/* Entries of segments that the volume does not have. */
static int clear_beyond(struct fixer_job *job, struct context *cx)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	uint64_t blkoff = segusage_nblocks(geo) - 1;
	uint64_t end = segusage_first(geo, blkoff) +
		       segusage_count(geo, blkoff);
	const struct nilfs_segment_usage none = { 0 };
	uint64_t segnum;
	bool changed;
	int err = 0;

	for (segnum = geo->nsegments; segnum < end && !err; segnum++) {
		err = enter_usage(repairwriter_file(job->writer,
						    NILFS_SUFILE_INO),
				  cx, geo, segnum, &none, &changed);
		if (!err && changed)
			fixers_note(job, "segment %llu: does not exist",
				    (unsigned long long)segnum);
	}
	return err;
}

int fix_segments_all(struct fixer_job *job, struct context *cx,
		     const struct bitmap *which, uint64_t *nchanged)
{
	struct usage u = { 0 };
	uint64_t segnum = bitmap_next_set(which, 0);
	bool changed;
	int err = 0;

	*nchanged = 0;
	if (segnum < which->bits)
		err = usage_gather(&u, cx, job->check, which);
	for (; segnum < which->bits && !err;
	     segnum = bitmap_next_set(which, segnum + 1)) {
		err = repair_segment(job, cx, &u, segnum, &changed);
		*nchanged += !err && changed;
	}
	usage_fini(&u);
	return err ? err : clear_beyond(job, cx);
}

int fix_segments(struct fixer_job *job, struct context *cx,
		 const struct fix *fixes, size_t n)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	bool rebuilt = repairwriter_is_rebuilt(job->writer, NILFS_SUFILE_INO);
	uint64_t segnum, changed, counted;
	struct bitmap which;
	void *header;
	size_t i;
	int err = bitmap_init(&which, cx, geo->nsegments);

	/* The segments that FIXES name; all where there are none. */
	for (segnum = 0; (rebuilt || !n) && !err && segnum < which.bits;
	     segnum++)
		bitmap_set(&which, segnum);
	for (i = 0; i < n && !err; i++) {
		const struct place *place = &fixes[i].place;

		segnum = place->kind == PLACE_SEGMENT ? place->number :
			 place->kind == PLACE_LOG ?
				 geometry_segment_of(geo, place->number) :
				 UINT64_MAX;
		if (segnum < geo->nsegments)
			bitmap_set(&which, segnum);
	}
	if (!err)
		err = fix_segments_all(job, cx, &which, &changed);
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
	/* Its counts are the writer's, who comes only where something is. */
	return !rebuilt && !changed && !n ? 0 :
	       metafile_change(repairwriter_file(job->writer,
						 NILFS_SUFILE_INO),
			       cx, 0, &header, NULL);
}
