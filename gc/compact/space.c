// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a batch of compaction can write.
 *
 * It uses the lowest clean segments.  If one of them is lower than the segment
 * that the latest log names as the next, that one is released, and if one is
 * lower than the log itself the log also leaves its segment.
 */
#include "gc/compact/space.h"

#include "base/checked.h"
#include "disk/geometry.h"
#include "vol/volume.h"

int space_open(struct space *s, struct context *cx, const struct facts *facts)
{
	const struct recovery *latest = &facts->vol->latest;
	const struct nilfs_geometry *g = &facts->vol->geo;
	uint64_t live = latest->offset, next = latest->nextnum, others, clean, i;
	int ret;

	*s = (struct space){ .facts = facts, .g = g };
	ret = bitmap_copy(&s->used, cx, &facts->used);
	if (ret)
		return ret;

	/* The end if all room is used and the summaries are the shortest. */
	for (i = 0; i < facts->n; i++)
		live += facts->segments[i].live;
	live += live * sizeof(struct nilfs_binfo_v) / g->block_size;
	/* The latest segment and the next one are not candidates. */
	others = bitmap_count(&s->used, UINT64_MAX) - facts->n;
	others -= others < 2 ? others : 2;
	s->end = div_round_up(live, g->blocks_per_segment) + others;
	if (s->end > g->nsegments)
		s->end = g->nsegments;

	/* Segments whose zones cannot be used count as in use, too. */
	for (i = 0; facts->vol->dev->zones && i < s->used.bits; i++)
		if (zoning_is_unusable(&facts->zones, i))
			bitmap_set(&s->used, i);

	/* The position of the next log, and whether a lower segment is free. */
	clean = bitmap_next_clear(&s->used, 0);
	s->next_taken = clean < next;
	if (!s->next_taken)
		bitmap_clear(&s->used, next);
	s->fresh = latest->segnum > (clean < next ? clean : next) ||
		   facts->zones.torn;
	return 0;
}

/* Blocks of segment SEGNUM. */
static uint64_t space_segment(const struct space *s, uint64_t segnum)
{
	return geometry_segment_end(s->g, segnum) -
	       geometry_segment_start(s->g, segnum);
}

/* Blocks that the log can still use in its segment. */
static uint64_t rest_of_latest(const struct space *s)
{
	const struct recovery *latest = &s->facts->vol->latest;

	if (s->fresh)
		return 0;
	return space_segment(s, latest->segnum) - latest->offset;
}

uint64_t space_before(const struct space *s, uint64_t end)
{
	uint64_t bps = s->g->blocks_per_segment, n;

	if (end > s->used.bits)
		end = s->used.bits;
	n = end - bitmap_count(&s->used, end);
	/* Only the first segment has fewer blocks. */
	if (n && !bitmap_test(&s->used, 0))
		return rest_of_latest(s) + (n - 1) * bps + space_segment(s, 0);
	return rest_of_latest(s) + n * bps;
}

uint64_t space_all(const struct space *s)
{
	uint64_t blocks = space_before(s, s->used.bits);
	uint64_t bps = s->g->blocks_per_segment;

	return blocks > bps ? blocks - bps : 0;
}

uint64_t space_reach(struct space *s, uint64_t need)
{
	uint64_t segnum;

	if (!s->reach && !s->room)
		s->room = rest_of_latest(s);
	while (s->room < need && s->reach < s->used.bits) {
		segnum = bitmap_next_clear(&s->used, s->reach);
		s->reach = segnum + 1;
		if (segnum < s->used.bits)
			s->room += space_segment(s, segnum);
	}
	return s->reach;
}

uint64_t space_last(struct space *s, const uint64_t *segnums, size_t n)
{
	const struct recovery *latest = &s->facts->vol->latest;
	uint64_t last = s->used.bits;
	size_t i;

	for (i = 0; i < n; i++)
		bitmap_clear(&s->used, segnums[i]);
	while (last && (!bitmap_test(&s->used, last - 1) ||
			last - 1 == latest->segnum ||
			last - 1 == latest->nextnum))
		last--;
	for (i = 0; i < n; i++)
		bitmap_set(&s->used, segnums[i]);
	return last;
}
