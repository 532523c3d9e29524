// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Segments and their entries in the SUFILE.
 *
 * Free segments are found in the changed SUFILE; a hole contains clean segments
 * only.  The counts of the header are kept here and entered at the end.
 *
 * Changes of live-block counts are collected separately: they occur while
 * blocks of other files, and of the SUFILE itself, are replaced, when the
 * SUFILE cannot be changed.
 */
#include "log/tables/segments.h"

#include <errno.h>
#include <string.h>

#include "disk/segusage.h"

#define DIRTY (1u << NILFS_SEGMENT_USAGE_DIRTY)
#define ACTIVE (1u << NILFS_SEGMENT_USAGE_ACTIVE)
#define ERROR (1u << NILFS_SEGMENT_USAGE_ERROR)

/* The entry of SEGNUM for writing. */
static int change_usage(struct segments *s, struct context *cx, uint64_t segnum,
			struct nilfs_segment_usage_ext **su)
{
	void *data;
	int ret = metafile_change(s->m, cx, segusage_blkoff(s->g, segnum),
				  &data, NULL);

	if (!ret)
		*su = (void *)((char *)data + segusage_offset(s->g, segnum));
	return ret;
}

/*
 * The first clean segment after LAST, wrapping around: 1, 0 if there is none.
 */
static int find_clean(struct segments *s, struct context *cx, uint64_t last,
		      uint64_t *segnum)
{
	uint64_t n = s->g->nsegments, i, blkoff, loaded = UINT64_MAX;
	const struct nilfs_segment_usage *su;
	const void *data = NULL;
	int there = 0;

	*segnum = last;
	for (i = 0; i < n; i++) {
		if (++*segnum >= n)
			*segnum = 0;
		blkoff = segusage_blkoff(s->g, *segnum);
		if (blkoff != loaded) {
			there = metafile_look(s->m, cx, blkoff, &data);
			if (there < 0)
				return there;
			loaded = blkoff;
		}
		su = there ? (const void *)((const char *)data +
					    segusage_offset(s->g, *segnum)) :
			     NULL;
		if ((!su || segusage_is_clean(su)) &&
		    !(s->unusable && s->unusable(s->arg, *segnum)))
			return 1;
	}
	return 0;
}

/* Clears an entry, including fields that the kernel does not know. */
static void clear_usage(const struct segments *s, struct nilfs_segment_usage_ext *su)
{
	memset(su, 0, s->g->has_live_blks ? sizeof(*su) : sizeof(su->su));
}

int segments_take(struct segments *s, struct context *cx, uint64_t *segnum)
{
	struct nilfs_segment_usage_ext *su;
	int ret = find_clean(s, cx, s->front ? UINT64_MAX : s->last_alloc,
			     segnum);

	if (!ret)
		return fail(cx, -ENOSPC, "no clean segment is left");
	if (ret > 0)
		ret = change_usage(s, cx, *segnum, &su);
	/* Its old live-block counts become 0. */
	if (!ret)
		ret = segments_correct(s, cx, *segnum,
				       -tally_get(&s->live, *segnum),
				       -tally_get(&s->snapshot, *segnum));
	if (ret)
		return ret;
	clear_usage(s, su);
	su->su.su_flags = le32_make(DIRTY);
	s->nclean--;
	s->ndirty++;
	s->last_alloc = *segnum;
	if (s->used <= *segnum)
		s->used = *segnum + 1;
	return s->taken ? s->taken(s->arg, cx, *segnum) : 0;
}

int segments_set(struct segments *s, struct context *cx, uint64_t segnum,
		 enum segments_state state)
{
	struct nilfs_segment_usage_ext *su;
	bool was_clean, was_dirty;
	uint32_t flags;
	int ret = change_usage(s, cx, segnum, &su);

	if (ret || state == SEGMENTS_SAME)
		return ret;
	flags = le32_get(su->su.su_flags);
	was_clean = segusage_is_clean(&su->su);
	was_dirty = segusage_is_dirty(&su->su);
	if (state == SEGMENTS_CLEAN && was_clean)
		return 0;
	if (state == SEGMENTS_CLEAN || state == SEGMENTS_SCRAPPED)
		clear_usage(s, su);
	flags = state == SEGMENTS_CLEAN ? 0 :
		state == SEGMENTS_SCRAPPED ? (flags & ERROR) | DIRTY :
		state == SEGMENTS_ERROR ? flags | ERROR :
		state == SEGMENTS_ACTIVE ? ACTIVE | DIRTY : DIRTY;
	su->su.su_flags = le32_make(flags);
	s->nclean += segusage_is_clean(&su->su);
	s->nclean -= was_clean;
	s->ndirty += segusage_is_dirty(&su->su);
	s->ndirty -= was_dirty;
	if (state == SEGMENTS_CURRENT && s->used <= segnum)
		s->used = segnum + 1;
	return 0;
}

int segments_touch(struct segments *s, struct context *cx, uint64_t count)
{
	uint64_t last = s->front ? UINT64_MAX : s->last_alloc;
	uint64_t first = 0, segnum, i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = find_clean(s, cx, last, &segnum);
		if (ret <= 0 || (i && segnum == first))
			return ret < 0 ? ret : 0;
		if (!i)
			first = segnum;
		ret = segments_set(s, cx, segnum, SEGMENTS_SAME);
		if (ret)
			return ret;
		last = segnum;
	}
	return 0;
}

int segments_recount(struct segments *s, struct context *cx)
{
	uint64_t segnum, end, n = s->g->nsegments;
	const struct nilfs_segment_usage *su;
	const void *data;
	int ret;

	s->nclean = s->ndirty = s->used = 0;
	for (segnum = 0; segnum < n; segnum = end) {
		uint64_t blkoff = segusage_blkoff(s->g, segnum);

		end = segusage_first(s->g, blkoff) +
		      segusage_count(s->g, blkoff);
		if (end > n)
			end = n;
		ret = metafile_look(s->m, cx, blkoff, &data);
		if (ret < 0)
			return ret;
		/* Segments in a hole are clean. */
		if (!ret)
			s->nclean += end - segnum;
		for (; ret && segnum < end; segnum++) {
			su = (const void *)((const char *)data +
					    segusage_offset(s->g, segnum));
			s->nclean += segusage_is_clean(su);
			s->ndirty += segusage_is_dirty(su);
			if (segusage_is_dirty(su))
				s->used = segnum + 1;
		}
	}
	return 0;
}

int segments_wrote(struct segments *s, struct context *cx, uint64_t segnum,
		   uint32_t nblocks)
{
	struct nilfs_segment_usage_ext *su;
	int ret = change_usage(s, cx, segnum, &su);

	if (ret)
		return ret;
	su->su.su_lastmod = le64_make(s->time);
	su->su.su_nblocks = le32_make(nblocks);
	su->su.su_flags = le32_make(le32_get(su->su.su_flags) | DIRTY);
	return 0;
}

int segments_correct(struct segments *s, struct context *cx, uint64_t segnum,
		     int32_t live, int32_t snapshot)
{
	int ret = live ? tally_add(&s->live, cx, segnum, live) : 0;

	if (!ret && snapshot)
		ret = tally_add(&s->snapshot, cx, segnum, snapshot);
	return ret;
}

int segments_count(struct segments *s, struct context *cx, uint64_t blocknr,
		   int32_t live, int32_t snapshot)
{
	uint64_t segnum = geometry_segment_of(s->g, blocknr);

	if (!s->g->has_live_blks || segnum >= s->g->nsegments)
		return 0;
	return segments_correct(s, cx, segnum, live, snapshot);
}

/* COUNT plus BY, but not below zero if the old count was wrong. */
static le32 changed_count(le32 count, int32_t by)
{
	int64_t v = (int64_t)le32_get(count) + by;

	return le32_make(v < 0 ? 0 : (uint32_t)v);
}

int segments_enter_counts(struct segments *s, struct context *cx,
			  bool *changed_any)
{
	struct tally *tallies[] = { &s->live, &s->snapshot };
	struct nilfs_segment_usage_ext *su;
	int32_t live, snapshot;
	unsigned int i;
	uint64_t n;
	int ret;

	*changed_any = false;
	for (i = 0; i < 2; i++) {
		for (n = 0; tally_next(tallies[i], &n); n++) {
			live = tally_get(&s->live, n);
			snapshot = tally_get(&s->snapshot, n);
			ret = change_usage(s, cx, n, &su);
			if (!ret)
				ret = segments_correct(s, cx, n, -live,
						       -snapshot);
			if (ret)
				return ret;
			su->su_nlive_blks =
				changed_count(su->su_nlive_blks, live);
			su->su_nsnapshot_blks =
				changed_count(su->su_nsnapshot_blks, snapshot);
			if (live)
				su->su_nlive_lastmod = le64_make(s->time);
			if (segusage_is_clean(&su->su))
				clear_usage(s, su);
			*changed_any = true;
		}
	}
	return 0;
}

int segments_enter_header(struct segments *s, struct context *cx, uint64_t cno)
{
	struct nilfs_sufile_header_ext *header;
	void *data;
	int ret = metafile_change(s->m, cx, 0, &data, NULL);

	if (ret)
		return ret;
	header = data;
	header->sh.sh_ncleansegs = le64_make(s->nclean);
	header->sh.sh_ndirtysegs = le64_make(s->ndirty);
	header->sh.sh_last_alloc = le64_make(s->last_alloc);
	if (s->g->has_live_blks)
		header->sh_exact_cno = le64_make(s->stale ? 0 : cno);
	return 0;
}
