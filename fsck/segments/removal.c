// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emptying segments, as a cleaner does, but for the sake of their logs.
 *
 * A number may be listed in one segment only, or the kernel's cleaner refuses
 * to clean both (log/move.h), so all goes or nothing.  What is there is asked
 * of the DAT, not of the logs, since these are what is wrong.  They say whose
 * each block is, and the map of that file is asked.  If it does not agree, the
 * block is looked for in the maps: where DAT and map agree, the log is wrong.
 * gc.nilfs2 does the opposite (gc/move/load.c): it reads
 * which blocks there are from the logs, and skips a segment where they and the
 * DAT differ.  Both move by log/move.h, and share no more than that.
 *
 * No checkpoint is given up: what any of them has is moved.  The segments are
 * not clean then but in use without blocks, because the state before needs
 * them until superblocks name the new one, and further logs of this repair
 * must not go there.
 */
#include "fsck/segments/removal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "fsck/derive/datlife.h"
#include "log/move.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/datscan.h"

static int add_block(struct removal *r, struct context *cx,
		     const struct removal_block *b)
{
	const struct nilfs_geometry *geo = &r->job->vol->geo;

	if (!geometry_has_block(geo, b->blocknr) ||
	    !bitmap_test(r->which, geometry_segment_of(geo, b->blocknr)))
		return 0;
	if (array_reserve(cx, &r->blocks, &r->room, r->n + 1))
		return -ENOMEM;
	r->blocks[r->n++] = *b;
	return 0;
}

static int visit_entry(void *arg, struct context *cx, unsigned int worker,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	const struct removal_block b = {
		.blocknr = le64_get(de->de_blocknr),
		.vblocknr = vblocknr,
		.start = le64_get(de->de_start),
		.end = le64_get(de->de_end),
	};

	(void)worker;
	return add_block(arg, cx, &b);
}

/* The map of the DAT says what the block is, not the log. */
static int visit_own(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	const struct removal_block b = {
		.blocknr = item->ptr,
		.end = NILFS_CNO_MAX,
		.as = {
			.ino = NILFS_DAT_INO,
			.level = (uint8_t)item->level,
			.blkoff = item->key,
		},
	};

	return add_block(arg, cx, &b);
}

static int compare_block(const void *a, const void *b)
{
	const struct removal_block *x = a, *y = b;

	return (x->blocknr > y->blocknr) - (x->blocknr < y->blocknr);
}

/* All that the DAT has in the segments; a DAT that is not whole fails. */
static int gather_blocks(struct removal *r, struct context *cx)
{
	const struct datscan_visitor visitor = {
		.used = visit_entry,
		.own_block = visit_own,
		.arg = r,
	};
	int err = datscan_run_alone(r->job->vol, cx, &visitor);

	sort_in_place(r->blocks, r->n, sizeof(*r->blocks), compare_block);
	return err ? err : cptable_list(r->job->vol, cx, false, &r->cnos,
					&r->ncnos);
}

static bool is_below(const void *item, const void *key)
{
	const struct removal_block *b = item;

	return b->blocknr < *(const uint64_t *)key;
}

static size_t find_block(const struct removal *r, uint64_t blocknr)
{
	return search_first(r->blocks, r->n, sizeof(*r->blocks), is_below,
			    &blocknr);
}

/* A log has the block at BLOCKNR, and lists it as AS. */
static void name_block(struct removal *r, uint64_t blocknr,
		       const struct segsum_block *as)
{
	size_t i = find_block(r, blocknr);
	struct removal_block *b = &r->blocks[i];

	if (i == r->n || b->blocknr != blocknr || b->listed)
		return;
	if (!b->vblocknr || !as->is_virtual) {
		b->listed = !b->vblocknr && !as->is_virtual;
		return;
	}
	b->as = *as;
	b->listed = as->vblocknr == b->vblocknr;
}

/* Asks the logs of SEGNUM: 1, 0 where they are not all there. */
static int ask_logs(struct removal *r, struct context *cx, uint64_t segnum)
{
	struct segsum_block b;
	struct lifelogs l;
	struct logindex_log log;
	bool broken = false;
	int ret = lifelogs_open(&l, cx, r->job->check, segnum);

	while (ret > 0 && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		while (!l.is_former && (ret = lifelogs_block(&l, cx, &b)) > 0)
			name_block(r, log.pseg + b.index, &b);
		if (ret < 0)
			break;
		ret = 1;
		broken |= !l.is_former && log.verdict &&
			  log.verdict != RULE_LOG_SUMBYTES_UNUSED;
	}
	broken |= l.partial;
	return ret < 0 ? ret : !broken;
}

/* The first checkpoint that has B: 1, 0 where none has. */
static int find_checkpoint(const struct removal *r,
			   const struct removal_block *b, uint64_t *cno)
{
	size_t i = search_lower_bound(r->cnos, r->ncnos, b->start);

	*cno = 0;
	if (i < r->ncnos && r->cnos[i] < b->end)
		*cno = r->cnos[i];
	return *cno || b->end == NILFS_CNO_MAX;
}

/* Level and key of a block, which logs do not have of a node: 1, 0 where it is
   no node. */
static int locate(struct removal *r, struct context *cx,
		  const struct removal_block *b, unsigned int *level,
		  uint64_t *key)
{
	*level = b->as.level;
	*key = b->as.blkoff;
	return b->as.is_node && b->vblocknr ?
		       blockmap_identify(r->job->vol, cx, b->blocknr, level,
					 key) : 1;
}

/* Looks for B in the map of INO in checkpoint CNO: 1, and B as it is there, 0. */
static int search_map(struct removal *r, struct context *cx,
		      struct removal_block *b, uint64_t cno, uint64_t ino)
{
	struct blockmap_cursor cur = { 0 };
	struct blockmap_item item;
	struct blockmap map;
	bool found = false;
	int ret = ino ? datlife_map(r->job->vol, cx, cno, ino, &map) : 0;

	if (ret > 0) {
		ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
		ret = ret ? ret : 1;
	}
	while (ret > 0 && !found) {
		ret = blockmap_cursor_next(&cur, cx, &item);
		found = ret > 0 && item.ptr == b->vblocknr;
	}
	blockmap_cursor_close(&cur);
	if (!found)
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

/*
 * Whether it is known what B is: a map leads to it where its log says, or
 * elsewhere, or no map that can be read does and its log lists it.  1, 0.
 */
static int is_identified(struct removal *r, struct context *cx,
			 struct removal_block *b)
{
	uint64_t cno, key, ptr, named = b->as.ino;
	unsigned int level;
	struct place at;
	size_t i;
	int ret;

	if (!find_checkpoint(r, b, &cno))
		return 1;
	if (!b->vblocknr)
		return b->listed;
	ret = b->listed ? locate(r, cx, b, &level, &key) : 0;
	if (ret > 0) {
		at = place_map(cno, named, key, level);
		ret = datlife_pointer(r->job->vol, cx, &at, &ptr);
	}
	ret = ret > 0 ? ptr == b->vblocknr : damage_forgive(cx, ret);
	if (!ret)
		ret = search_map(r, cx, b, cno, named);
	for (i = 0; i < r->ninos && !ret; i++)
		ret = search_map(r, cx, b, cno, r->inos[i]);
	return ret ? ret : b->listed;
}

/* Only segments of which it is known what all blocks are, but those that only
   have to be freed, are emptied. */
static int choose_segments(struct removal *r, struct context *cx)
{
	const struct nilfs_geometry *geo = &r->job->vol->geo;
	uint64_t segnum = bitmap_next_set(r->which, 0), end;
	size_t i;
	int ret;

	for (; segnum < r->which->bits;
	     segnum = bitmap_next_set(r->which, segnum + 1)) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = ask_logs(r, cx, segnum);
		i = find_block(r, geometry_segment_start(geo, segnum));
		end = geometry_segment_end(geo, segnum);
		for (; ret > 0 && i < r->n && r->blocks[i].blocknr < end; i++)
			ret = is_identified(r, cx, &r->blocks[i]);
		if (ret < 0)
			return ret;
		if (!ret)
			bitmap_clear(r->which, segnum);
	}
	return 0;
}

static bool is_chosen(const struct removal *r, const struct removal_block *b)
{
	return bitmap_test(r->which, geometry_segment_of(&r->job->vol->geo,
							 b->blocknr));
}

/*
 * Whether the commit writes B again: the DAT's have no other way, those of
 * cpfile and SUFILE change with every checkpoint.
 */
static bool is_rewritten(const struct removal_block *b)
{
	return !b->vblocknr || (b->end == NILFS_CNO_MAX &&
				(b->as.ino == NILFS_CPFILE_INO ||
				 b->as.ino == NILFS_SUFILE_INO));
}

/* Whether block I goes on where the one before it ends. */
static bool goes_on(const struct removal *r, size_t i)
{
	const struct removal_block *a = &r->blocks[i - 1], *b = &r->blocks[i];

	return a->blocknr + 1 == b->blocknr && a->vblocknr + 1 == b->vblocknr &&
	       a->as.ino == b->as.ino && a->as.cno == b->as.cno &&
	       a->as.is_node == b->as.is_node &&
	       (a->as.is_node || a->as.blkoff + 1 == b->as.blkoff);
}

static bool is_moved(const struct removal *r, const struct removal_block *b)
{
	uint64_t cno;

	return is_chosen(r, b) && find_checkpoint(r, b, &cno) &&
	       !is_rewritten(b);
}

/* The COUNT blocks from FIRST on. */
static int move_run(struct removal *r, struct context *cx, size_t first,
		    size_t count)
{
	const struct removal_block *b = &r->blocks[first];
	const struct move_run run = {
		.ino = b->as.ino,
		.cno = b->as.cno,
		.node = b->as.is_node,
		.vblocknr = b->vblocknr,
		.blkoff = b->as.blkoff,
		.count = (uint32_t)count,
	};
	struct payload *p = payload_device(r->job->dev, b->blocknr,
					   r->job->vol->geo.block_size);
	int err;

	if (!p)
		return fail(cx, -ENOMEM, "blocks that are moved");
	err = move_blocks(r->job->writer, cx, &run, p, 0);
	payload_put(p);
	return err;
}

static int move_all(struct removal *r, struct context *cx)
{
	size_t i, n;
	int err = 0;

	for (i = 0; i < r->n && !err; i += n) {
		n = 1;
		if (!is_moved(r, &r->blocks[i]))
			continue;
		while (i + n < r->n && goes_on(r, i + n) &&
		       is_moved(r, &r->blocks[i + n]))
			n++;
		err = move_run(r, cx, i, n);
	}
	return err;
}

/* The old number of what is rewritten ends, and is free like the others. */
static int leave_segment(struct removal *r, struct context *cx,
			 const struct removal_block *b)
{
	unsigned int level;
	uint64_t key, cno;
	int ret = 1;

	if (find_checkpoint(r, b, &cno) && !is_rewritten(b))
		return 0;
	if (is_rewritten(b)) {
		ret = locate(r, cx, b, &level, &key);
		if (!ret)
			ret = fail(cx, -EUCLEAN, "block %llu: is no node",
				   (unsigned long long)b->blocknr);
		else if (ret > 0)
			ret = move_metadata(r->job->writer, cx, b->as.ino,
					    level, key);
	}
	if (ret < 0 || !b->vblocknr)
		return ret < 0 ? ret : 0;
	return move_forget(r->job->writer, cx, b->vblocknr);
}

int removal_run(struct removal *r, struct context *cx)
{
	uint64_t segnum;
	size_t i;
	int err = gather_blocks(r, cx);

	if (!err)
		err = choose_segments(r, cx);
	if (!err)
		err = move_all(r, cx);
	for (i = 0; i < r->n && !err; i++)
		if (is_chosen(r, &r->blocks[i]))
			err = leave_segment(r, cx, &r->blocks[i]);
	for (segnum = bitmap_next_set(r->which, 0);
	     segnum < r->which->bits && !err;
	     segnum = bitmap_next_set(r->which, segnum + 1))
		err = move_scrap(r->job->writer, cx, segnum);
	return err;
}

void removal_fini(struct removal *r)
{
	free(r->blocks);
	free(r->cnos);
}
