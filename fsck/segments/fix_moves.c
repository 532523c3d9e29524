// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emptying segments, as a cleaner does, because of errors in their logs.
 *
 * A log may list a live block with a wrong number or file. Only a cleaner reads
 * the list: nilfs_cleanerd stops there, or takes live blocks for dead ones. So
 * all live blocks are moved out of the segment. The kernel's cleaner refuses
 * segments if a number is listed in two of them (log/move.h), so all blocks are
 * moved or none.
 *
 * The log is wrong, not the DAT, if no log lists the number and the map of a
 * file agrees with the DAT. If log and pointer have different owners of a
 * block, the pointer is correct if the map of the log's owner has no such
 * block.
 *
 * The segments are not clean then but in use without blocks, because the
 * previous state needs them until superblocks name the new one, and later logs
 * of this repair must not use them.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "fsck/derive/datlife.h"
#include "log/move.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/translate.h"

/* A block that the DAT has in one of the segments. */
struct block {
	uint64_t blocknr;	/* first: the sort key */
	uint64_t vblocknr;	/* 0: a block of the DAT itself */
	uint64_t start, end;
	uint64_t cno;		/* the first checkpoint with the block, or 0 */
	bool needed;		/* needed by a checkpoint or the latest state */
	bool listed;		/* listed by its number */
	struct segsum_block as;	/* identity from its log, or from a map */
};

struct emptying {
	struct fixer_job *job;
	struct bitmap *which;		/* the segments; borrowed */
	const uint64_t *inos;		/* inodes whose blocks logs may list for
					   another file */
	size_t ninos;
	struct block *blocks;		/* ascending by block number */
	size_t n, room;
};

static int add_moved_block(void *arg, struct context *cx, uint64_t blocknr,
			   uint64_t vblocknr, const struct nilfs_dat_entry *de,
			   const struct blockmap_item *own)
{
	struct emptying *e = arg;
	const struct nilfs_geometry *geo = &e->job->vol->geo;
	struct block b = {
		.blocknr = blocknr,
		.vblocknr = vblocknr,
		.start = de ? le64_get(de->de_start) : 0,
		.end = de ? le64_get(de->de_end) : NILFS_CNO_MAX,
	};

	if (!geometry_has_block(geo, blocknr) ||
	    !bitmap_test(e->which, geometry_segment_of(geo, blocknr)))
		return 0;
	/* The map of the DAT identifies the block, not the log. */
	if (own)
		b.as = (struct segsum_block){
			.ino = NILFS_DAT_INO,
			.level = (uint8_t)own->level,
			.blkoff = own->key,
		};
	return array_push(cx, &e->blocks, &e->n, &e->room, b);
}

/* Finds level and key of a block, which logs do not have for a node: 1, 0 if it
   is not a node. */
static int locate(struct emptying *e, struct context *cx, const struct block *b,
		  unsigned int *level, uint64_t *key)
{
	*level = b->as.level;
	*key = b->as.blkoff;
	return b->as.is_node && b->vblocknr ?
		       blockmap_identify(e->job->vol, cx, b->blocknr, level,
					 key) : 1;
}

/* Searches B in the map of INO: 1 and sets its identity, 0. */
static int search_map(struct emptying *e, struct context *cx, struct block *b,
		      uint64_t ino)
{
	struct blockmap_item item;
	struct blockmap map;
	int ret = ino ? datlife_map(e->job->vol, cx, b->cno, ino, &map) : 0;

	if (ret > 0)
		ret = blockmap_find_pointer(&map, cx, &b->vblocknr, 1, true,
					    &item);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	b->as = (struct segsum_block){
		.ino = ino,
		.cno = b->as.ino == ino ? b->as.cno : b->start,
		.vblocknr = b->vblocknr,
		.blkoff = item.level ? 0 : item.key,
		.is_virtual = true,
		.is_node = item.level > 0,
	};
	b->listed = true;
	return 1;
}

/* Whether B is identified: a map leads to it at the place in its log, or
   elsewhere, or no readable map does and its log lists it. 1, 0. */
static int is_identified(struct emptying *e, struct context *cx,
			 struct block *b)
{
	uint64_t key, ptr, named = b->as.ino;
	unsigned int level;
	struct place at;
	size_t i;
	int ret;

	if (!b->needed)
		return 1;
	if (!b->vblocknr)
		return b->listed;
	ret = b->listed ? locate(e, cx, b, &level, &key) : 0;
	if (ret > 0) {
		at = place_map(b->cno, named, key, level);
		ret = datlife_pointer(e->job->vol, cx, &at, &ptr);
	}
	ret = ret > 0 ? ptr == b->vblocknr : damage_forgive(cx, ret);
	if (!ret)
		ret = search_map(e, cx, b, named);
	for (i = 0; i < e->ninos && !ret; i++)
		ret = search_map(e, cx, b, e->inos[i]);
	return ret ? ret : b->listed;
}

/* Whether all blocks of SEGNUM from FIRST to before
   END are identified: 1, 0. */
static int identify_segment(struct emptying *e, struct context *cx,
			    uint64_t segnum, size_t first, size_t end)
{
	struct logindex_log log;
	struct segsum_block as;
	struct block *b;
	bool whole = true;
	struct listings_walk l;
	size_t i = first;
	int ret = listings_open(&l, cx, e->job->check, segnum);

	while (ret > 0 && (ret = listings_next(&l, cx, &log)) > 0) {
		if (l.is_former)
			continue;
		while ((ret = listings_block(&l, cx, &as)) > 0) {
			while (i < end && e->blocks[i].blocknr <
						  log.pseg + as.index)
				i++;
			if (i == end)
				break;
			b = &e->blocks[i];
			if (b->blocknr != log.pseg + as.index)
				continue;
			b->listed = !b->vblocknr && !as.is_virtual;
			if (b->vblocknr && as.is_virtual) {
				b->as = as;
				b->listed = as.vblocknr == b->vblocknr;
			}
		}
		if (ret < 0)
			break;
		whole &= log.verdict == RULE_OK ||
			 log.verdict == RULE_LOG_SUMBYTES_UNUSED;
		ret = 1;
	}
	if (ret < 0 || !whole || l.partial)
		return ret < 0 ? ret : 0;
	for (ret = 1; first < end && ret > 0; first++)
		ret = is_identified(e, cx, &e->blocks[first]);
	return ret;
}

/* Removes segments with unidentified blocks from WHICH, and their blocks from
   the list. */
static int choose_segments(struct emptying *e, struct context *cx)
{
	const struct nilfs_geometry *geo = &e->job->vol->geo;
	uint64_t segnum = bitmap_next_set(e->which, 0), last;
	size_t first, end = 0, kept = 0;
	int ret;

	for (; segnum < e->which->bits;
	     segnum = bitmap_next_set(e->which, segnum + 1)) {
		last = geometry_segment_end(geo, segnum);
		for (first = end; end < e->n && e->blocks[end].blocknr < last;)
			end++;
		ret = context_cancelled(cx) ?:
		      identify_segment(e, cx, segnum, first, end);
		if (ret < 0)
			return ret;
		if (!ret)
			bitmap_clear(e->which, segnum);
		while (ret && first < end)
			e->blocks[kept++] = e->blocks[first++];
	}
	e->n = kept;
	return 0;
}

/* Whether the commit rewrites B. That is the only way to move blocks of the
   DAT; those of cpfile and SUFILE change with every checkpoint. */
static bool is_block_rewritten(const struct block *b)
{
	return !b->vblocknr || (b->end == NILFS_CNO_MAX &&
				(b->as.ino == NILFS_CPFILE_INO ||
				 b->as.ino == NILFS_SUFILE_INO));
}

static bool is_moved(const struct block *b)
{
	return b->needed && !is_block_rewritten(b);
}

/* Moves block *I and the adjacent blocks after it, and advances *I. */
static int move_whole_run(struct emptying *e, struct context *cx, size_t *i)
{
	const struct block *b = &e->blocks[*i], *a, *next;
	struct move_run run = {
		.ino = b->as.ino,
		.cno = b->as.cno,
		.node = b->as.is_node,
		.vblocknr = b->vblocknr,
		.blkoff = b->as.blkoff,
	};
	struct payload *p = payload_device(e->job->dev, b->blocknr,
					   e->job->vol->geo.block_size);
	int err;

	if (!p)
		return fail(cx, -ENOMEM, "blocks that are moved");
	do {
		run.count++;
		a = &e->blocks[(*i)++];
		next = a + 1;
	} while (*i < e->n && is_moved(next) &&
		 a->blocknr + 1 == next->blocknr &&
		 a->vblocknr + 1 == next->vblocknr &&
		 a->as.ino == next->as.ino && a->as.cno == next->as.cno &&
		 a->as.is_node == next->as.is_node &&
		 (a->as.is_node || a->as.blkoff + 1 == next->as.blkoff));
	err = move_blocks(e->job->writer, cx, &run, p, 0);
	payload_put(p);
	return err;
}

/* Ends the old number of a rewritten block, which is free like the others. */
static int leave_block(struct emptying *e, struct context *cx,
		       const struct block *b)
{
	unsigned int level;
	uint64_t key;
	int ret = 1;

	if (is_block_rewritten(b)) {
		ret = locate(e, cx, b, &level, &key) ?:
		      fail(cx, -EUCLEAN, "block %llu: is no node",
			   (unsigned long long)b->blocknr);
		if (ret > 0)
			ret = move_metadata(e->job->writer, cx, b->as.ino,
					    level, key);
	}
	if (ret < 0 || !b->vblocknr)
		return ret < 0 ? ret : 0;
	return move_forget(e->job->writer, cx, b->vblocknr);
}

int fix_moves_empty(struct fixer_job *job, struct context *cx,
		    struct bitmap *which, const uint64_t *inos, size_t ninos)
{
	struct emptying e = {
		.job = job, .which = which, .inos = inos, .ninos = ninos,
	};
	/* An incomplete DAT is a failure. */
	const struct datscan_visitor visitor = {
		.block = add_moved_block,
		.arg = &e,
	};
	uint64_t segnum, *cnos = NULL;
	size_t ncnos = 0, i;
	int err = datscan_run_alone(job->vol, cx, &visitor);

	sort_in_place(e.blocks, e.n, sizeof(*e.blocks), sort_compare_number);
	if (!err)
		err = cptable_list(job->vol, cx, false, &cnos, &ncnos);
	for (i = 0; i < e.n && !err; i++) {
		struct block *b = &e.blocks[i];

		b->cno = search_within(cnos, ncnos, b->start, b->end);
		b->needed = b->cno || b->end == NILFS_CNO_MAX;
	}
	free(cnos);
	if (!err)
		err = choose_segments(&e, cx);
	i = 0;
	while (i < e.n && !err)
		if (is_moved(&e.blocks[i]))
			err = move_whole_run(&e, cx, &i);
		else
			i++;
	for (i = 0; i < e.n && !err; i++)
		if (!is_moved(&e.blocks[i]))
			err = leave_block(&e, cx, &e.blocks[i]);
	for (segnum = bitmap_next_set(which, 0); segnum < which->bits && !err;
	     segnum = bitmap_next_set(which, segnum + 1))
		err = move_set_segment(job->writer, cx, segnum,
				       SEGMENTS_SCRAPPED);
	free(e.blocks);
	return err;
}

/* Whether log and map differ in the owner or place of a block. */
static bool is_of_map(const struct finding *fix)
{
	return fix->rule == RULE_BMAP_OWNER || fix->rule == RULE_BMAP_PLACE ||
	       fix->rule == RULE_LOG_PLACE;
}

/* The virtual block that is listed wrong according to FIX, or 0. */
static uint64_t move_number_of(const struct finding *fix)
{
	if (is_of_map(fix))
		return fix->got;
	return fix->rule == RULE_LOG_UNLISTED &&
	       fix->place.kind == PLACE_VBLOCK ? fix->place.number : 0;
}

/* The block of FIX, if its log alone can be wrong: 1, 0. */
static int find_moved_block(struct fixer_job *job, struct context *cx,
			    const struct listings *listings,
			    const struct finding *fix, uint64_t *blocknr)
{
	const struct listing *l = listings_find(listings, move_number_of(fix));
	struct nilfs_dat_entry de;
	int err;

	*blocknr = fix->place.number;
	/* For numbers that are free in the DAT or belong to another block. */
	if (fix->place.kind == PLACE_SEGMENT) {
		*blocknr = geometry_segment_start(&job->vol->geo, *blocknr);
		return 1;
	}
	/* An unreadable log may list blocks that the others do not. */
	if (listings->partial)
		return 0;
	if (!move_number_of(fix))
		return fix->rule == RULE_LOG_UNLISTED &&
		       fix->place.kind == PLACE_BLOCK;
	if (l && l->is_used &&
	    (!is_of_map(fix) ||
	     (fix->rule == RULE_BMAP_OWNER && l->ino == fix->place.ino)))
		return 0;
	err = translate_entry(job->vol, cx, move_number_of(fix), &de);
	if (err)
		return damage_forgive(cx, err);
	*blocknr = le64_get(de.de_blocknr);
	return geometry_has_block(&job->vol->geo, *blocknr);
}

int fix_moves(struct fixer_job *job, struct context *cx,
	      const struct finding *fixes, size_t n)
{
	const struct nilfs_geometry *geo = &job->vol->geo;
	struct sparse wanted = { 0 };
	struct listings listings = { .wanted = &wanted };
	struct bitmap segments = { 0 };
	uint64_t *inos = calloc(n + 1, sizeof(*inos));
	uint64_t segnum, blocknr;
	size_t i, ninos = 0;
	int ret = sparse_init_ends(&wanted, cx, vblocks_end(job->vol, cx));

	for (i = 0; i < n && ret >= 0; i++)
		if (move_number_of(&fixes[i]) &&
		    sparse_can_have(&wanted, move_number_of(&fixes[i])))
			ret = sparse_add(&wanted, cx, move_number_of(&fixes[i]));
	if (ret >= 0)
		ret = bitmap_init(&segments, cx, geo->nsegments);
	if (!ret)
		ret = listings_gather(&listings, cx, job->check);
	if (!ret && !inos)
		ret = fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n && ret >= 0; i++) {
		ret = find_moved_block(job, cx, &listings, &fixes[i], &blocknr);
		if (ret <= 0)
			continue;
		bitmap_set(&segments, geometry_segment_of(geo, blocknr));
		/* Logs may list blocks of this inode for another file. */
		if (is_of_map(&fixes[i]))
			inos[ninos++] = fixes[i].place.ino;
	}
	ninos = sort_unique(inos, ninos);
	if (ret >= 0)
		ret = bitmap_count(&segments, UINT64_MAX) ?
			fix_moves_empty(job, cx, &segments, inos, ninos) : 0;
	for (segnum = 0; segnum < segments.bits && !ret; segnum++)
		if (bitmap_test(&segments, segnum))
			fixers_note(job, "segment %" PRIu64 ": live blocks "
				    "moved, because its logs list some of them "
				    "wrong", segnum);
	sparse_fini(&wanted);
	bitmap_fini(&segments);
	free(inos);
	listings_fini(&listings);
	return ret;
}
