// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checks of a persistent allocator.
 *
 * Any block of such a file may be a hole, which means that all is free: the
 * kernel makes holes of blocks of entries and of bitmaps when it empties them
 * (nilfs_palloc_freev()), but may also keep them.  So an existing block is
 * never wrong by itself; an error is what one structure has in use and another
 * free.  Every bit of a bitmap stands for an entry.
 *
 * The walk visits only existing blocks, so that a file of few groups far apart
 * costs little.  What cannot be read is HIDDEN and not judged.
 */
#include "check/groups.h"

#include <errno.h>

#include "base/checked.h"
#include "check/damage.h"
#include "vol/volume.h"

#define HIDDEN (-ENODATA)

/* The check of the map reports its failures. */
static int hide(struct context *cx, int ret)
{
	if (!damage_is(ret))
		return ret;
	fail_clear(cx);
	return HIDDEN;
}

/* What is hidden ends a check and is no failure of it. */
static int seen(int ret)
{
	return ret == HIDDEN ? 0 : ret;
}

/*
 * Borrows block BLKOFF of the file: 1, 0 for a hole, HIDDEN, or a failure.
 * With REPORT one that cannot be read is reported.
 */
static int borrow_block(const struct groups *g, struct context *cx,
			uint64_t blkoff, bool report, const void **data)
{
	uint64_t blocknr;
	int ret;

	*data = NULL;
	ret = file_lookup(g->file, cx, blkoff, &blocknr);
	if (ret <= 0)
		return hide(cx, ret);
	ret = cache_get(g->file->vol->cache, cx, blocknr, data);
	if (ret == -EIO && report)
		findings_failed(g->findings, cx, RULE_DEV_UNREADABLE,
				place_map(g->cno, g->file->ino, blkoff, 0));
	return ret ? hide(cx, ret) : 1;
}

static void give_back(const struct groups *g, const void *data)
{
	if (data)
		file_put(g->file, data);
}

/* The first block from BLKOFF on: 1; 0: there is none; or as borrow_block(). */
static int next_block(const struct groups *g, struct context *cx,
		      uint64_t blkoff, uint64_t *found)
{
	struct blockmap_cursor cur;
	struct blockmap_item item = { .key = 0 };
	int ret;

	ret = blockmap_cursor_open(&cur, cx, &g->file->map, blkoff, false);
	if (!ret)
		ret = blockmap_cursor_next(&cur, cx, &item);
	blockmap_cursor_close(&cur);
	if (ret > 0)
		*found = item.key;
	return hide(cx, ret);
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
	int ret = next_block(g, cx, blkoff, &blkoff);

	if (ret <= 0)
		return ret;
	if (!palloc_has_block(g->palloc, blkoff))
		return 0;
	palloc_locate(g->palloc, blkoff, &what);
	*group = what.group;
	/* After the last group the numbers of blocks begin again. */
	return what.group >= from;
}

/* Compares a descriptor, if any, with a bitmap of USED bits, if any. */
static void judge_count(const struct groups *g,
			const struct nilfs_palloc_group_desc *desc,
			uint64_t group, uint32_t used, bool has_bitmap)
{
	struct place place = place_group(g->cno, g->file->ino, group);
	uint32_t want = g->palloc->entries_per_group - used, got;
	enum rule rule;

	if (!desc) {
		if (used)
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

/* The group whose descriptor is DESC, or missing. */
static int check_count(const struct groups *g, struct context *cx,
		       const struct nilfs_palloc_group_desc *desc,
		       uint64_t group)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->palloc, group), blocknr;
	const void *bitmap;
	uint32_t used;
	int ret;

	if (g->known) {
		ret = file_lookup(g->file, cx, blkoff, &blocknr);
		if (ret < 0)
			fail_clear(cx);
		if (ret > 0 && g->known(g->arg, group, blocknr, &used)) {
			judge_count(g, desc, group, used, true);
			return 0;
		}
	}
	ret = borrow_block(g, cx, blkoff, true, &bitmap);
	if (ret < 0)
		return seen(ret);
	judge_count(g, desc, group,
		    bitmap ? palloc_count(g->palloc, bitmap) : 0, bitmap);
	give_back(g, bitmap);
	return 0;
}

int groups_check_counts(const struct groups *g, struct context *cx,
			uint64_t group)
{
	uint64_t first = first_of_desc(g, group), next;
	uint64_t end = first + g->palloc->groups_per_desc;
	const struct nilfs_palloc_group_desc *descs = NULL;
	const void *block;
	int ret = borrow_block(g, cx, palloc_desc_blkoff(g->palloc, first),
			       true, &block);

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
		if (group < end)
			ret = check_count(g, cx, descs ? &descs[group - first] :
							 NULL, group);
	}
	give_back(g, block);
	return ret < 0 ? seen(ret) : 0;
}

/* Reports the entries [FIRST, END) of a group that are in use; none may be. */
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
	uint32_t met = 0;		/* entries up to the last */
	struct blockmap_cursor cur;
	struct blockmap_item item;
	const void *bitmap;
	int ret;

	/* The check of the counts reports a bitmap that cannot be read. */
	ret = borrow_block(g, cx, bitmap_at, false, &bitmap);
	if (ret <= 0)
		return seen(ret);
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
	ret = hide(cx, ret);
	if (!ret)
		judge_missing(g, bitmap, group, met,
			      g->palloc->entries_per_group);
	give_back(g, bitmap);
	return seen(ret);
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
		return err ? err : seen(ret);
	/* Blocks beyond the last group.  With very large entries all numbers of
	   blocks are taken. */
	if (!checked_mul(ndescs, p->blocks_per_desc, &blkoff))
		return 0;
	ret = next_block(g, cx, blkoff, &blkoff);
	if (ret > 0)
		findings_broken(g->findings, RULE_PALLOC_BLOCK,
				place_map(g->cno, g->file->ino, blkoff, 0));
	return ret < 0 ? seen(ret) : 0;
}
