// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which virtual block numbers are in use: bitmaps and counts of the DAT, made
 * right group by group.
 *
 * A bitmap that is there is believed, but what the files refer to is in use
 * whatever it says, and what was given out and never written, and nobody refers
 * to, is not.  Where it is the pointer that is wrong, the entry is of a former
 * life, and what was there may be gone.  One that is lost is made from the
 * entries.  These alone do not say it, since a cleaner that frees a number
 * leaves its entry as it is (nilfs_palloc_freev()): an entry is in use where a
 * file refers to it, or where a log lists the block as the entry has it, which
 * a cleaner must still be able to look up.
 *
 * Numbers in use without a block of entries: where a file or a log knows one
 * of them the block is lost and is made again, else the bits are wrong.
 *
 * Counts follow from bitmaps.
 */
#include "fsck/dat/fix_allocator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/listings.h"
#include "disk/dat.h"
#include "fsck/dat/datblocks.h"
#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"
#include "log/repairwriter.h"

struct redo {
	struct fixer_job *job;
	struct groupfix *g;
	const struct sparse *lost;	/* blocks that cannot be read */
	struct sparse wanted;		/* whose listings decide */
	struct listings vblocks;	/* of these */
	struct listings own;		/* of the DAT, once gathered */
	bool have_own;
};

static bool is_referenced(const struct redo *r, uint64_t nr)
{
	return sparse_test(&r->job->check->referenced, nr);
}

/* As metafile_look(): what cannot be read is as good as a hole. */
static int look(struct redo *r, struct context *cx, uint64_t blkoff,
		const void **data)
{
	if (r->lost && sparse_test(r->lost, blkoff))
		return 0;
	return metafile_look(r->g->m, cx, blkoff, data);
}

static uint32_t entries_at(const struct palloc *p, uint32_t first)
{
	uint32_t left = p->entries_per_group - first;

	return left < p->entries_per_block ? left : p->entries_per_block;
}

/* Of a group without a bitmap: the entries that could be in use. */
static int want_entries(struct redo *r, struct context *cx, uint64_t nr,
			uint32_t count, const char *data)
{
	struct nilfs_dat_entry de;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < count && ret >= 0; i++) {
		memcpy(&de, data + (size_t)i * r->g->p->entry_size, sizeof(de));
		if (nr + i < r->wanted.bits && !dat_is_unwritten(&de) &&
		    geometry_has_block(&r->job->vol->geo,
				       le64_get(de.de_blocknr)))
			ret = sparse_add(&r->wanted, cx, nr + i);
	}
	return ret < 0 ? ret : 0;
}

/* Of a missing block of entries: all, where any is said to be in use. */
static int want_missing(struct redo *r, struct context *cx, uint64_t nr,
			uint32_t count, const uint8_t *bitmap)
{
	uint32_t at = palloc_group_offset(r->g->p, nr), i;
	int ret = 0;

	if (bitmap && !palloc_count_range(bitmap, at, at + count))
		return 0;
	for (i = 0; i < count && ret >= 0; i++)
		if (nr + i < r->wanted.bits)
			ret = sparse_add(&r->wanted, cx, nr + i);
	return ret < 0 ? ret : 0;
}

/* A copy of the bitmap of GROUP in BITMAP: 1, 0 where there is none. */
static int copy_bitmap(struct redo *r, struct context *cx, uint64_t group,
		       uint8_t *bitmap)
{
	const void *data;
	int ret = look(r, cx, palloc_bitmap_blkoff(r->g->p, group), &data);

	if (ret > 0)
		memcpy(bitmap, data, r->g->p->block_size);
	return ret;
}

static int want_group(struct redo *r, struct context *cx, uint64_t group,
		      uint8_t *bitmap)
{
	const struct palloc *p = r->g->p;
	uint64_t nr = group << p->group_bits;
	int has_bitmap = copy_bitmap(r, cx, group, bitmap), ret = has_bitmap;
	const void *data;
	uint32_t at, n;

	for (at = 0; ret >= 0 && at < p->entries_per_group; at += n) {
		n = entries_at(p, at);
		ret = look(r, cx, palloc_entry_blkoff(p, nr + at), &data);
		if (!ret && has_bitmap)
			ret = want_missing(r, cx, nr + at, n, bitmap);
		else if (ret > 0 && !has_bitmap)
			ret = want_entries(r, cx, nr + at, n, data);
	}
	return ret < 0 ? ret : 0;
}

/* What a log in use lists of the entries from NR on; also where files do. */
static bool is_known(const struct redo *r, uint64_t nr)
{
	const struct listing *l = listings_find(&r->vblocks, nr);

	return is_referenced(r, nr) || (l && l->is_used);
}

/* Whether the entry DE of NR, of a group without a bitmap, is in use. */
static bool is_in_use(const struct redo *r, uint64_t nr,
		      const struct nilfs_dat_entry *de)
{
	const struct listing *l = listings_find(&r->vblocks, nr);

	return is_referenced(r, nr) ||
	       (l && l->is_used && l->blocknr == le64_get(de->de_blocknr));
}

/* Sets the bits of entries that are there. */
static void judge_entries(const struct redo *r, uint64_t nr, uint32_t count,
			  const char *data, uint8_t *bitmap, bool had_bitmap)
{
	uint32_t i, at = palloc_group_offset(r->g->p, nr);
	struct nilfs_dat_entry de;

	for (i = 0; i < count; i++, at++) {
		uint8_t bit = (uint8_t)(1 << at % 8);

		memcpy(&de, data + (size_t)i * r->g->p->entry_size, sizeof(de));
		if (!(nr + i) || is_in_use(r, nr + i, &de))
			bitmap[at / 8] |= bit;
		else if (!had_bitmap || (dat_is_unwritten(&de) &&
					 !r->job->check->tree_broken))
			bitmap[at / 8] &= (uint8_t)~bit;
	}
}

static int gather_own(struct redo *r, struct context *cx)
{
	if (r->have_own)
		return 0;
	r->have_own = true;
	return listings_of_file(&r->own, cx, r->job->check, NILFS_DAT_INO);
}

/* The block of entries from NR on is lost: it is made again. */
static int restore(struct redo *r, struct context *cx, uint64_t nr)
{
	uint64_t blkoff = palloc_entry_blkoff(r->g->p, nr);
	const struct listing *copy;
	int ret = gather_own(r, cx);

	if (ret)
		return ret;
	copy = listings_find(&r->own, blkoff);
	if (copy && !(r->lost && sparse_test(r->lost, blkoff)))
		ret = datblocks_copy(r->job, cx, r->g->m, blkoff, copy);
	if (ret) {
		fixers_tell(r->job, "DAT: block %llu taken from the log that "
			    "has it", (unsigned long long)blkoff);
		return ret < 0 ? ret : 0;
	}
	fixers_tell(r->job, "DAT: block %llu rebuilt from what the logs list",
		    (unsigned long long)blkoff);
	return datblocks_remake(r->job, cx, r->g->m, blkoff, &r->vblocks);
}

/* No block of entries is there from NR on: are the bits wrong, or is it? */
static int judge_missing(struct redo *r, struct context *cx, uint64_t nr,
			 uint32_t count, uint8_t *bitmap)
{
	uint32_t i, at = palloc_group_offset(r->g->p, nr);
	bool any = false;

	for (i = 0; i < count; i++, at++) {
		if (nr + i && is_known(r, nr + i))
			any = true;
		else if (nr + i)
			bitmap[at / 8] &= (uint8_t)~(1 << at % 8);
		if (is_referenced(r, nr + i))
			bitmap[at / 8] |= (uint8_t)(1 << at % 8);
	}
	return any ? restore(r, cx, nr) : 0;
}

/* Whether the block that DE names went with its segment. */
static bool is_gone(const struct redo *r, const struct nilfs_dat_entry *de)
{
	const struct nilfs_geometry *geo = &r->job->vol->geo;
	const struct bitmap *used = &r->job->check->used_segments;
	uint64_t blocknr = le64_get(de->de_blocknr);

	if (!blocknr || !used->bits)
		return false;
	return !geometry_has_block(geo, blocknr) ||
	       !bitmap_test(used, geometry_segment_of(geo, blocknr));
}

/* The entry of NR, which was free, is to say nothing rather than that. */
static int forget_former_life(struct redo *r, struct context *cx, uint64_t nr)
{
	const struct nilfs_dat_entry taken = {
		.de_start = le64_make(NILFS_CNO_MIN),
		.de_end = le64_make(NILFS_CNO_MAX),
	};
	uint64_t blkoff = palloc_entry_blkoff(r->g->p, nr);
	uint32_t offset = palloc_entry_offset(r->g->p, nr);
	struct nilfs_dat_entry de;
	const void *old;
	void *data;
	int ret = look(r, cx, blkoff, &old);

	if (ret <= 0)
		return ret;
	memcpy(&de, (const char *)old + offset, sizeof(de));
	if (!is_gone(r, &de))
		return 0;
	ret = metafile_change(r->g->m, cx, blkoff, &data, NULL);
	if (!ret)
		memcpy((char *)data + offset, &taken, sizeof(taken));
	return ret;
}

/* Numbers from NR on that BITMAP has free and files refer to. */
static int forget_former_lives(struct redo *r, struct context *cx, uint64_t nr,
			       uint32_t count, const uint8_t *bitmap)
{
	uint32_t i, at = palloc_group_offset(r->g->p, nr);
	int ret = 0;

	for (i = 0; i < count && ret >= 0; i++, at++)
		if (!(bitmap[at / 8] >> at % 8 & 1) && is_referenced(r, nr + i))
			ret = forget_former_life(r, cx, nr + i);
	return ret < 0 ? ret : 0;
}

static int judge_group(struct redo *r, struct context *cx, uint64_t group,
		       uint8_t *bitmap, bool had_bitmap)
{
	const struct palloc *p = r->g->p;
	uint64_t nr = group << p->group_bits;
	const void *data;
	uint32_t at, n;
	int ret = 0;

	if (!group)
		bitmap[0] |= 1;
	for (at = 0; ret >= 0 && at < p->entries_per_group; at += n) {
		n = entries_at(p, at);
		ret = had_bitmap ? forget_former_lives(r, cx, nr + at, n,
						       bitmap) : 0;
		if (!ret)
			ret = look(r, cx, palloc_entry_blkoff(p, nr + at),
				   &data);
		if (ret > 0)
			judge_entries(r, nr + at, n, data, bitmap, had_bitmap);
		else if (!ret)
			ret = judge_missing(r, cx, nr + at, n, bitmap);
	}
	return ret < 0 ? ret : 0;
}

static int repair_group(struct redo *r, struct context *cx, uint64_t group,
			uint8_t *bitmap)
{
	const struct palloc *p = r->g->p;
	uint64_t blkoff = palloc_bitmap_blkoff(p, group);
	int had_bitmap = copy_bitmap(r, cx, group, bitmap), err;
	void *data;

	if (had_bitmap < 0)
		return had_bitmap;
	if (!had_bitmap)
		memset(bitmap, 0, p->block_size);
	err = judge_group(r, cx, group, bitmap, had_bitmap);
	if (err || (!had_bitmap && !palloc_count(p, bitmap)))
		return err;
	err = metafile_replace(r->g->m, cx, blkoff, &data);
	if (!err)
		memcpy(data, bitmap, p->block_size);
	return err;
}

static int each_group(struct redo *r, struct context *cx,
		      int (*visit)(struct redo *r, struct context *cx,
				   uint64_t group, uint8_t *bitmap))
{
	uint8_t *bitmap = malloc(r->g->p->block_size);
	size_t i;
	int err = bitmap ? 0 : fail(cx, -ENOMEM, "bitmap of a group");

	for (i = 0; i < r->g->n && !err; i++)
		err = visit(r, cx, r->g->groups[i], bitmap);
	free(bitmap);
	return err;
}

static int repair_groups(struct redo *r, struct context *cx)
{
	uint64_t last = r->g->groups[r->g->n - 1];
	int err = datblocks_set(&r->wanted, cx,
				(last + 1) << r->g->p->group_bits);

	if (!err)
		err = each_group(r, cx, want_group);
	if (!err && sparse_next(&r->wanted, 0) < r->wanted.bits)
		err = listings_of_vblocks(&r->vblocks, cx, r->job->check,
					  &r->wanted);
	if (!err)
		err = each_group(r, cx, repair_group);
	if (!err)
		err = groupfix_count(r->g, cx);
	if (!err)
		fixers_tell(r->job, "DAT: bitmaps and counts of %zu %s made "
			    "right", r->g->n,
			    r->g->n == 1 ? "group" : "groups");
	return err;
}

int fix_allocator_groups(struct fixer_job *job, struct context *cx,
		   struct groupfix *g, const struct sparse *lost)
{
	struct redo r = { .job = job, .g = g, .lost = lost };
	int err = 0;

	groupfix_sort(g);
	if (g->n)
		err = repair_groups(&r, cx);
	sparse_fini(&r.wanted);
	listings_fini(&r.vblocks);
	listings_fini(&r.own);
	return err;
}

/* A group is one to be looked at where a finding names it, one of its blocks or
   one of its numbers. */
static int add_fix(struct groupfix *g, struct context *cx,
		   const struct fix *fix)
{
	const struct place *at = &fix->place;

	switch (at->kind) {
	case PLACE_GROUP:
		return groupfix_add(g, cx, at->number);
	case PLACE_VBLOCK:
		return groupfix_add(g, cx, palloc_group(g->p, at->number));
	case PLACE_MAP:
		/* A block of the DAT, or who refers to a number. */
		if (fix->rule == RULE_BMAP_VBLOCK_FREE)
			return groupfix_add(g, cx,
					    palloc_group(g->p, fix->got));
		return groupfix_add_block(g, cx, at->blkoff);
	default:
		return 0;
	}
}

int fix_allocator(struct fixer_job *job, struct context *cx,
		  const struct fix *fixes, size_t n)
{
	struct groupfix g = {
		.m = repairwriter_file(job->writer, NILFS_DAT_INO),
		.p = &job->vol->dat_palloc,
	};
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_fix(&g, cx, &fixes[i]);
	if (!err)
		err = fix_allocator_groups(job, cx, &g, NULL);
	groupfix_fini(&g);
	return err ? err : repairwriter_changed(job->writer, cx);
}
