// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over segments: the entries of the SUFILE.
 *
 * It checks the fields of every entry, the counts of the header, and the two
 * segments that the next writer uses.  It counts as the kernel does: a segment
 * without any flag, also one in a hole, is clean; one with the dirty flag is
 * dirty, erroneous or not.  An ACTIVE flag is left by mkfs; the kernel neither
 * reads nor clears it.
 *
 * It records the segments in use.  An entry without flags but with blocks
 * counts as in use, so that these blocks do not all look lost.  An unreadable
 * block of the SUFILE stands for segments in use of which nothing is required.
 * The pass over trees checks the map of the SUFILE, and the passes over the DAT
 * and logs check the content of segments.
 */
#include "check/logs/logindex.h"
#include "check/pass/passes.h"

#include <errno.h>
#include <string.h>

#include "vol/sutable.h"

struct survey {
	struct check *c;
	bool exact;		/* counts of live blocks must be exact */
	uint64_t nclean, ndirty;
	uint64_t nshut;		/* segments in use, but marked as erroneous */
	bool lost;		/* some block could not be read */
	char last[FAILURE_TEXT_MAX];	/* failure of the last unreadable block */
	bool beyond;		/* a segment after the last one was in use */
	/* The segment being written and the next one, if they were read. */
	struct nilfs_segment_usage current, next;
	bool have_current, have_next;
};

static struct place segment(uint64_t segnum)
{
	return place_number(PLACE_SEGMENT, segnum);
}

/* Checks a segment of the volume. */
static void take_segment_usage(struct survey *s, uint64_t segnum,
			       const struct nilfs_segment_usage_ext *ext)
{
	const struct recovery *latest = &s->c->vol->latest;
	const struct nilfs_geometry *geo = &s->c->vol->geo;
	const struct nilfs_segment_usage *su = &ext->su;
	struct findings *f = s->c->findings;
	uint32_t nblocks = le32_get(su->su_nblocks);
	uint64_t room = geometry_segment_end(geo, segnum) -
			geometry_segment_start(geo, segnum);
	enum rule rule = segusage_check(geo, su);

	/* Segment 0 is shorter than the others. */
	if (nblocks > room)
		rule = RULE_SU_NBLOCKS;
	if (rule == RULE_SU_NBLOCKS || rule == RULE_SU_CLEAN_NBLOCKS)
		findings_differ(f, rule, segment(segnum),
				rule == RULE_SU_NBLOCKS ? room : 0, nblocks);
	else if (rule)
		findings_broken(f, rule, segment(segnum));
	rule = s->exact ? segusage_check_ext(ext) : RULE_OK;
	if (rule)
		findings_broken(f, rule, segment(segnum));
	s->nclean += segusage_is_clean(su);
	s->ndirty += segusage_is_dirty(su);
	s->nshut += segusage_is_dirty(su) && segusage_is_error(su);
	if (segusage_is_dirty(su) || nblocks)
		bitmap_set(&s->c->used_segments, segnum);
	if (segnum == latest->segnum) {
		s->current = *su;
		s->have_current = true;
	}
	if (segnum == latest->nextnum) {
		s->next = *su;
		s->have_next = true;
	}
}

static int survey_block(struct survey *s, struct context *cx, uint64_t blkoff)
{
	struct volume *vol = s->c->vol;
	const struct recovery *latest = &vol->latest;
	const struct nilfs_geometry *geo = &vol->geo;
	struct nilfs_segment_usage_ext ext = { 0 };
	uint32_t size = geo->segment_usage_size;
	uint32_t known = size < sizeof(ext) ? size : (uint32_t)sizeof(ext);
	/* The segments of the block; LAST is limited to those of the volume. */
	uint64_t first = segusage_first(geo, blkoff), segnum;
	uint64_t last = first + segusage_count(geo, blkoff);
	uint64_t end = last < geo->nsegments ? last : geo->nsegments;
	const void *block;
	const char *entry;
	int ret = file_block(&vol->sufile, cx, blkoff, &block);

	if (!ret && !blkoff)
		ret = fail(cx, -EUCLEAN, "sufile: has no header block");
	if (ret > 0 && segusage_is_garbage(geo, blkoff, block)) {
		file_put(&vol->sufile, block);
		ret = fail(cx, -EUCLEAN, "sufile: block %llu is no block of "
			   "segments", (unsigned long long)blkoff);
	}
	if (ret < 0) {
		s->lost = true;
		for (segnum = first; segnum < end; segnum++) {
			bitmap_set(&s->c->used_segments, segnum);
			bitmap_set(&s->c->broken_segments, segnum);
		}
		/* A broken node causes the same failure for hundreds of blocks;
		   it is reported once. */
		if (!strcmp(cx->failure, s->last)) {
			fail_clear(cx);
			return 0;
		}
		memcpy(s->last, cx->failure, sizeof(s->last));
		return check_damage(s->c->findings, cx, ret, RULE_SU_UNREADABLE,
				    place_map(0, NILFS_SUFILE_INO, blkoff, 0));
	}
	if (!ret) {
		s->nclean += end - first;
		s->have_current |= latest->segnum >= first &&
				   latest->segnum < end;
		s->have_next |= latest->nextnum >= first &&
				latest->nextnum < end;
		return 0;
	}
	entry = (const char *)block + segusage_offset(geo, first);
	for (segnum = first; segnum < last; segnum++, entry += size) {
		memcpy(&ext, entry, known);
		if (segnum < end) {
			take_segment_usage(s, segnum, &ext);
		} else if (!segusage_is_clean(&ext.su) && !s->beyond) {
			/* Growing the volume would make it a segment. */
			findings_broken(s->c->findings, RULE_SU_BEYOND,
					segment(segnum));
			s->beyond = true;
		}
	}
	file_put(&vol->sufile, block);
	return 0;
}

static void check_active(struct survey *s, uint64_t segnum,
			 const struct nilfs_segment_usage *su)
{
	if (!segusage_is_dirty(su))
		findings_broken(s->c->findings, RULE_SU_ACTIVE_CLEAN,
				segment(segnum));
	if (segusage_is_error(su))
		findings_broken(s->c->findings, RULE_SU_ACTIVE_ERROR,
				segment(segnum));
	bitmap_set(&s->c->used_segments, segnum);
}

/* The writer continues in the current segment after its logs, and in the next
   one at its beginning: nilfs_shift_to_next_segment(). */
static void check_writers(struct survey *s)
{
	const struct recovery *latest = &s->c->vol->latest;
	const struct nilfs_geometry *geo = &s->c->vol->geo;
	struct findings *f = s->c->findings;
	uint32_t nblocks = le32_get(s->current.su_nblocks);

	if (s->have_current) {
		check_active(s, latest->segnum, &s->current);
		if (nblocks != latest->offset &&
		    nblocks <= geo->blocks_per_segment)
			findings_differ(f, RULE_SU_LOG_END,
					segment(latest->segnum),
					latest->offset, nblocks);
	}
	if (latest->nextnum >= geo->nsegments)
		findings_broken(f, RULE_LOG_NEXT,
				place_number(PLACE_LOG, latest->pseg_start));
	if (latest->nextnum == latest->segnum)
		findings_broken(f, RULE_SU_ACTIVE_SAME,
				segment(latest->segnum));
	if (!s->have_next || latest->nextnum == latest->segnum)
		return;
	check_active(s, latest->nextnum, &s->next);
	if (le32_get(s->next.su_nblocks))
		findings_differ(f, RULE_SU_NEXT_NBLOCKS,
				segment(latest->nextnum), 0,
				le32_get(s->next.su_nblocks));
}

int pass_segments(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct place place = place_map(0, NILFS_SUFILE_INO, 0, 0);
	struct nilfs_sufile_header header;
	struct survey s = { .c = c };
	uint64_t blkoff, n = segusage_nblocks(geo);
	int ret = bitmap_init(&c->used_segments, cx, geo->nsegments);

	c->work = n;
	if (!ret)
		ret = bitmap_init(&c->broken_segments, cx, geo->nsegments);
	if (!ret && c->logs_under && !*c->logs_under)
		ret = logindex_open(c->logs_under, cx, geo, NULL);
	if (!ret)
		ret = logindex_open(&c->logindex, cx, geo,
				    c->logs_under ? *c->logs_under : NULL);
	if (ret)
		return ret;
	ret = sutable_is_exact(c->vol, cx);
	if (ret < 0) {
		/* This is reported when the blocks are read one by one. */
		fail_clear(cx);
		ret = 0;
	}
	s.exact = ret;
	ret = 0;
	for (blkoff = 0; blkoff < n && !ret; blkoff++) {
		ret = context_cancelled(cx) ?:
		      survey_block(&s, cx, blkoff);
		check_progress(c, blkoff + 1);
	}
	/* If the device ends before the last segments, their entries were not
	   read. */
	if (!ret && !s.lost &&
	    geo->nsegments == le64_get(volume_super(c->vol)->s_nsegments)) {
		ret = sutable_header(c->vol, cx, &header);
		if (!ret && le64_get(header.sh_ncleansegs) != s.nclean)
			findings_differ(c->findings, RULE_SU_NCLEAN, place,
					s.nclean,
					le64_get(header.sh_ncleansegs));
		if (!ret && le64_get(header.sh_ndirtysegs) != s.ndirty)
			findings_differ(c->findings, RULE_SU_NDIRTY, place,
					s.ndirty,
					le64_get(header.sh_ndirtysegs));
		ret = check_damage(c->findings, cx, ret, RULE_SU_UNREADABLE, place);
	}
	if (!ret)
		check_writers(&s);
	if (s.nshut)
		check_note(c, "%llu segments are marked as erroneous: their "
			   "unreadable logs are not reported",
			   (unsigned long long)s.nshut);
	return ret;
}
