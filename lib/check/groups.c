// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks of a persistent allocator.
 *
 * Any block of such a file may be a hole, which means that all of it is free.
 * When the kernel empties blocks of entries and bitmaps (nilfs_palloc_freev()),
 * it may turn them into holes or keep them.  So an existing block is never
 * wrong by itself.  An error is an entry that is in use in one structure and
 * free in another.  Every bit of a bitmap stands for an entry.
 *
 * The walk visits existing blocks only, so that a file of few groups far apart
 * is cheap.  An unreadable block is not judged: it ends the check without a
 * failure, because the check of the map reports it.
 */
#include "check/groups.h"

#include <errno.h>

#include "base/checked.h"
#include "check/damage.h"
#include "vol/volume.h"

/* Borrows block BLKOFF of the file: 1, 0 for a hole, or a failure.  With
   REPORT, an unreadable block is reported. */
static int groups_borrow_block(const struct groups *g, struct context *cx,
			       uint64_t blkoff, bool report, const void **data)
{
	uint64_t blocknr;
	int ret;

	*data = NULL;
	ret = file_lookup(g->file, cx, blkoff, &blocknr);
	if (ret <= 0)
		return ret;
	ret = cache_get(g->file->vol->cache, cx, blocknr, data);
	if (ret == -EIO && report)
		findings_failed(g->findings, cx, RULE_DEV_UNREADABLE,
				place_map(g->cno, g->file->ino, blkoff, 0));
	return ret ? ret : 1;
}

/* Finds the first block from BLKOFF on: 1; 0 if there is none; or a failure. */
static int groups_next_block(const struct groups *g, struct context *cx,
			     uint64_t blkoff, uint64_t *found)
{
	struct blockmap_cursor cur;
	struct blockmap_item item = { .key = 0 };
	int ret;

	ret = blockmap_cursor_open(&cur, cx, &g->file->map, blkoff, false) ?:
	      blockmap_cursor_next(&cur, cx, &item);
	blockmap_cursor_close(&cur);
	if (ret > 0)
		*found = item.key;
	return ret;
}

static uint64_t first_of_desc(const struct groups *g, uint64_t group)
{
	return group >> g->palloc->desc_bits << g->palloc->desc_bits;
}

int groups_next(const struct groups *g, struct context *cx, uint64_t from,
		uint64_t *group)
{
	struct palloc_block what;
	uint64_t blkoff = from == first_of_desc(g, from) ?
		palloc_desc_blkoff(g->palloc, from) :
		palloc_bitmap_blkoff(g->palloc, from);
	int ret = groups_next_block(g, cx, blkoff, &blkoff);

	if (ret <= 0)
		return ret;
	if (!palloc_has_block(g->palloc, blkoff))
		return 0;
	palloc_locate(g->palloc, blkoff, &what);
	*group = what.group;
	/* After the last group, block numbers wrap around. */
	return what.group >= from;
}

/* Compares a descriptor with a bitmap of USED bits.  Both are optional, but a group
   with blocks has one of them. */
static void judge_count(const struct groups *g,
			const struct nilfs_palloc_group_desc *desc,
			uint64_t group, uint32_t used, bool has_bitmap)
{
	struct place place = {
		.kind = PLACE_GROUP, .cno = g->cno, .ino = g->file->ino,
		.number = group,
	};
	uint32_t want = g->palloc->entries_per_group - used, got;
	enum rule rule;

	if (!desc) {
		if (!has_bitmap)
			findings_broken(g->findings,
					RULE_PALLOC_BITMAP_MISSING, place);
		else if (used)
			findings_differ(g->findings, RULE_PALLOC_DESC_MISSING,
					place, 0, used);
		return;
	}
	got = le32_get(desc->pg_nfrees);
	if (got == want)
		return;
	rule = palloc_check_desc(g->palloc, desc);
	if (!rule)
		rule = has_bitmap ? RULE_PALLOC_NFREES :
				    RULE_PALLOC_BITMAP_MISSING;
	findings_differ(g->findings, rule, place, want, got);
}

int groups_check_counts(const struct groups *g, struct context *cx,
			uint64_t group)
{
	struct cache *cache = g->file->vol->cache;
	uint64_t first = first_of_desc(g, group), next, blkoff, blocknr;
	uint64_t end = first + g->palloc->groups_per_desc;
	const struct nilfs_palloc_group_desc *descs = NULL, *desc;
	const void *block, *bitmap;
	uint32_t used;
	int ret = groups_borrow_block(
		g, cx, palloc_desc_blkoff(g->palloc, first), true, &block);

	if (block)
		descs = (const void *)((const char *)block +
				       palloc_desc_offset(g->palloc, first));
	for (group = first; ret >= 0 && group < end; group++) {
		ret = groups_next(g, cx, group, &next);
		if (ret < 0)
			break;
		if (!ret || next > end)
			next = end;
		/* Groups before the next one have no blocks. */
		for (; group < next; group++)
			if (descs && le32_get(descs[group - first].pg_nfrees) !=
				     g->palloc->entries_per_group)
				judge_count(g, &descs[group - first], group, 0,
					    false);
		if (group == end)
			break;
		desc = descs ? &descs[group - first] : NULL;
		blkoff = palloc_bitmap_blkoff(g->palloc, group);
		used = 0;
		if (g->known && file_lookup(g->file, cx, blkoff, &blocknr) > 0 &&
		    g->known(g->arg, group, blocknr, &used)) {
			judge_count(g, desc, group, used, true);
			continue;
		}
		fail_clear(cx);
		ret = groups_borrow_block(g, cx, blkoff, true, &bitmap);
		if (bitmap)
			used = palloc_count(g->palloc, bitmap);
		if (ret >= 0)
			judge_count(g, desc, group, used, bitmap);
		cache_put(cache, bitmap);
		ret = ret < 0 ? damage_forgive(cx, ret) : 0;
	}
	cache_put(cache, block);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

/* Reports the entries [FIRST, END) of a group that are in use although their
   block is missing. */
static void judge_missing(const struct groups *g, const void *bitmap,
			  uint64_t group, uint32_t first, uint32_t end)
{
	uint64_t nr = group << g->palloc->group_bits;
	uint32_t used;

	while (first < end && nr + first < g->reserved)
		first++;
	used = palloc_count_range(bitmap, first, end);
	while (used && !palloc_bit(bitmap, first))
		first++;
	if (used && g->hidden)
		*g->hidden = true;
	if (used)
		findings_differ(g->findings, RULE_PALLOC_ENTRY_MISSING,
				place_map(g->cno, g->file->ino,
					  palloc_entry_blkoff(g->palloc,
							      nr + first), 0),
				0, used);
}

int groups_check_entries(const struct groups *g, struct context *cx,
			 uint64_t group)
{
	uint64_t bitmap_at = palloc_bitmap_blkoff(g->palloc, group), last;
	uint64_t start = bitmap_at + 1;
	uint64_t end = start + g->palloc->blocks_per_group - 1;
	uint32_t first, entries = g->palloc->entries_per_block;
	uint32_t met = 0;		/* entries before the block */
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const void *bitmap;
	int ret;

	/* An unreadable bitmap is reported by the check of the counts. */
	ret = groups_borrow_block(g, cx, bitmap_at, false, &bitmap);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = blockmap_cursor_open(&cur, cx, &g->file->map, start, false);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (item.key >= end)
			break;
		first = (uint32_t)(item.key - start) * entries;
		judge_missing(g, bitmap, group, met, first);
		last = blockmap_cursor_skip_row(&cur, item.key);
		if (last >= end)
			last = end - 1;
		met = (uint32_t)(last - start + 1) * entries;
	}
	blockmap_cursor_close(&cur);
	if (!ret)
		judge_missing(g, bitmap, group, met,
			      g->palloc->entries_per_group);
	cache_put(g->file->vol->cache, bitmap);
	return damage_forgive(cx, ret);
}

int groups_check(const struct groups *g, struct context *cx)
{
	const struct palloc *p = g->palloc;
	uint64_t ndescs = UINT64_C(1) << (64 - p->group_bits - p->desc_bits);
	uint64_t group = 0, from = 0, desc = UINT64_MAX, blkoff;
	int err = 0, ret = 0;

	while (!err && (ret = groups_next(g, cx, from, &group)) > 0) {
		err = context_cancelled(cx);
		if (!err && first_of_desc(g, group) != desc) {
			desc = first_of_desc(g, group);
			err = groups_check_counts(g, cx, group);
		}
		if (!err)
			err = groups_check_entries(g, cx, group);
		from = group + 1;
	}
	if (err || ret < 0)
		return err ? err : damage_forgive(cx, ret);
	/* Blocks after the last group.  With very large entries, all block
	   numbers belong to groups. */
	if (!checked_mul(ndescs, p->blocks_per_desc, &blkoff))
		return 0;
	ret = groups_next_block(g, cx, blkoff, &blkoff);
	if (ret > 0)
		findings_broken(g->findings, RULE_PALLOC_BLOCK,
				place_map(g->cno, g->file->ino, blkoff, 0));
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}
