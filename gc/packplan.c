// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What moves so that blocks of the DAT can go.
 *
 * The blocks under a sparse block of the DAT get numbers in gaps of others, and
 * it goes.  A block that is listed in a log by one number and found by another
 * would be taken for dead: so it moves, and as segments move whole, its
 * segment.  So does that of the one place that has its number, which is changed
 * on its way (renumber.c).
 *
 * That it is the only place has to be shown.  Another one would be an older
 * state of it that some checkpoint has in its stead: then there is a checkpoint
 * that has the block, but is older than that place.  Blocks of which there is
 * one keep their number, and so do the others under that block of the DAT.
 */
#include "gc/packplan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/search.h"
#include "disk/bmap.h"
#include "disk/dat.h"
#include "gc/batch.h"
#include "gc/datuse.h"
#include "gc/facts.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/translate.h"

struct packing {
	struct volume *vol;
	struct load *load;
	struct renumber *renumber;
	uint64_t room;		/* blocks */
	struct root root;
	struct datuse sparse;
	struct bitmap victims;
	struct tally wanted;	/* by block of the DAT: may become empty */
	struct tally runs;	/* by number there: that run, from 1 on */
	uint64_t *cnos;
	size_t ncnos;
	bool full;
	uint64_t left, left_used;	/* numbers of blocks that go */
};

static bool is_wanted(const struct packing *p, uint64_t vblocknr)
{
	return tally_get(&p->wanted, palloc_entry_blkoff(&p->vol->dat_palloc,
							 vblocknr));
}

/* Notes, with SIGN -1 forgets, where numbers that matter are in the load. */
static int note_runs(struct packing *p, struct context *cx, size_t from,
		     int sign)
{
	const struct move_run *what;
	size_t i;
	uint32_t k;
	int ret = 0;

	for (i = from; i < p->load->nruns; i++) {
		what = &p->load->runs[i].what;
		for (k = 0; k < what->count && !ret; k++)
			if (is_wanted(p, what->vblocknr + k))
				ret = tally_add(&p->runs, cx,
						what->vblocknr + k,
						sign * (int32_t)(i + 1));
	}
	return ret;
}

/* The segment of BLOCKNR moves: 1, or 0 where it cannot. */
static int take_segment(struct packing *p, struct context *cx,
			uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&p->vol->geo, blocknr);
	const struct policy_segment *s = facts_segment(p->load->facts, segnum);
	size_t from = p->load->nruns;
	int ret;

	if (bitmap_test(&p->victims, segnum))
		return 1;
	if (!s)
		return 0;
	ret = load_take(p->load, cx, s);
	if (ret <= 0) {
		fail_clear(cx);
		return ret;
	}
	bitmap_set(&p->victims, segnum);
	ret = note_runs(p, cx, from, 1);
	return ret ? ret : 1;
}

/* An entry in use, of a block of the DAT. */
struct entry {
	uint64_t vblocknr;
	struct nilfs_dat_entry de;
};

/*
 * What leads to a block: that of V, which is at KEY of LEVEL of inode INO, is
 * found by the node above it, or by the inode's block of the ifile.
 */
static int find_parent(struct packing *p, struct context *cx,
		       const struct blockmap *map, uint64_t key,
		       unsigned int level, uint64_t *parent)
{
	struct volume *vol = p->vol;
	int ret = blockmap_lookup_at_level(map, cx, key, level + 1, parent);

	if (ret || map->ino == NILFS_IFILE_INO)
		return ret;
	return blockmap_lookup(&p->root.ifile.map, cx,
			       palloc_entry_blkoff(&vol->ifile_palloc,
						   map->ino), parent);
}

/* Level and first key of the node at BLOCKNR: 1, or 0 where it is none. */
static int read_node(struct packing *p, struct context *cx, uint64_t blocknr,
		     unsigned int *level, uint64_t *key)
{
	uint32_t size = p->vol->geo.block_size;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(p->vol->cache, cx, blocknr, &block);

	if (ret)
		return ret;
	bmap_node_read(size, block, &node);
	ret = bmap_node_check(size, block) == RULE_OK;
	*level = node.level;
	*key = ret ? bmap_node_key(&node, 0) : 0;
	cache_put(p->vol->cache, block);
	return ret;
}

/* The map of INO now, in *MAP or of *FILE: 1, or 0 where there is none. */
static int open_map(struct packing *p, struct context *cx, uint64_t ino,
		    struct file *file, const struct blockmap **map)
{
	int ret;

	if (ino == NILFS_IFILE_INO) {
		*map = &p->root.ifile.map;
		return 1;
	}
	*map = &file->map;
	ret = root_file(&p->root, cx, ino, file);
	return ret ? ret : 1;
}

/* The place that has the number of E, which RUN says what it is: 1, or 0. */
static int look_up(struct packing *p, struct context *cx,
		   const struct load_run *run, const struct entry *e,
		   uint64_t *parent)
{
	uint64_t key = run->what.blkoff + e->vblocknr - run->what.vblocknr;
	const struct blockmap *map;
	unsigned int level = 0;
	struct file file;
	uint64_t ptr;
	int ret = open_map(p, cx, run->what.ino, &file, &map);

	if (ret > 0 && run->what.node)
		ret = read_node(p, cx, le64_get(e->de.de_blocknr), &level,
				&key);
	if (ret > 0)
		ret = blockmap_lookup_at_level(map, cx, key, level, &ptr);
	if (ret > 0)
		ret = ptr == e->vblocknr;
	return ret > 0 ? find_parent(p, cx, map, key, level, parent) : ret;
}

/* Whether PARENT, its entry, is the only place that has the number of E. */
static bool is_only(const struct packing *p, const struct entry *e,
		    const struct nilfs_dat_entry *parent)
{
	uint64_t start = le64_get(e->de.de_start);
	size_t i = search_lower_bound(p->cnos, p->ncnos, start);

	return i == p->ncnos || p->cnos[i] >= le64_get(parent->de_start);
}

/* E gets another number, if that can be: 1, or 0. */
static int renumber_entry(struct packing *p, struct context *cx,
			  const struct load_run *run, const struct entry *e)
{
	struct nilfs_dat_entry parent;
	uint64_t vblocknr;
	int ret = look_up(p, cx, run, e, &vblocknr);

	if (ret <= 0)
		return ret;
	ret = translate_entry(p->vol, cx, vblocknr, &parent);
	if (ret)
		return ret;
	if (!dat_is_current(&parent) || !is_only(p, e, &parent))
		return 0;
	ret = take_segment(p, cx, le64_get(parent.de_blocknr));
	if (ret <= 0)
		return ret;
	ret = renumber_add(p->renumber, cx, e->vblocknr);
	return ret ? ret : 1;
}

/*
 * E is free after the batch: 1, or 0 where it cannot be.  What is in a segment
 * that moves and is none of the runs is dead, or rewritten in any case.
 */
static int free_entry(struct packing *p, struct context *cx,
		      const struct entry *e)
{
	int32_t run;
	int ret;

	if (!le64_get(e->de.de_blocknr) ||
	    (!dat_is_current(&e->de) &&
	     liveness_of_entry(p->load->facts->liveness, &e->de) !=
		     LIVENESS_DEAD))
		return 0;
	ret = take_segment(p, cx, le64_get(e->de.de_blocknr));
	run = tally_get(&p->runs, e->vblocknr);
	if (ret <= 0 || !run)
		return ret;
	ret = renumber_entry(p, cx, &p->load->runs[run - 1], e);
	if (ret != -ENOENT && ret != -EUCLEAN && ret != -EIO)
		return ret;
	fail_clear(cx);
	return 0;
}

/* Entry I of block B, whose bits are BITMAP's: 1 where it is in use. */
static bool read_entry(const struct packing *p, const struct datuse_block *b,
		       uint32_t i, const void *bitmap, const char *data,
		       struct entry *e)
{
	const struct palloc *palloc = &p->vol->dat_palloc;

	e->vblocknr = b->first + i;
	memcpy(&e->de, data + (size_t)i * palloc->entry_size, sizeof(e->de));
	return palloc_bit(bitmap, palloc_group_offset(palloc, e->vblocknr));
}

static int free_entries(struct packing *p, struct context *cx,
			const struct datuse_block *b, const void *bitmap,
			const char *data)
{
	struct entry e;
	uint32_t i;
	int ret = 1;

	for (i = 0; i < b->count && ret > 0; i++)
		if (read_entry(p, b, i, bitmap, data, &e))
			ret = free_entry(p, cx, &e);
	return ret;
}

static int empty_block(struct packing *p, struct context *cx,
		       const struct datuse_block *b)
{
	const struct palloc *palloc = &p->vol->dat_palloc;
	uint64_t blkoff = palloc_bitmap_blkoff(palloc,
					       palloc_group(palloc, b->first));
	struct file *dat = &p->vol->dat;
	const void *bitmap, *data;
	int ret = file_block(dat, cx, blkoff, &bitmap);

	if (ret <= 0)
		return ret;
	ret = file_block(dat, cx, b->blkoff, &data);
	if (ret > 0) {
		ret = free_entries(p, cx, b, bitmap, data);
		file_put(dat, data);
	}
	file_put(dat, bitmap);
	return ret;
}

static bool has_room(const struct packing *p, const struct context *cx)
{
	return batch_need(p->load) <= p->room &&
	       load_bytes(p->load) <= cx->max_memory / 2;
}

/*
 * Whether all new numbers can be in blocks that stay if B goes as well.  Those
 * of cpfile and SUFILE, which change with every log, end in any case.
 */
static bool has_numbers(const struct packing *p, const struct datuse_block *b)
{
	uint64_t numbers = p->sparse.numbers - p->left - b->count;
	uint64_t used = p->sparse.used - p->left_used - b->used;

	return used + p->renumber->n + datuse_spare(p->vol) <= numbers;
}

/* What was done for a block that stays after all. */
static int undo(struct packing *p, struct context *cx,
		const struct load_size *size, size_t nnumbers)
{
	int ret = note_runs(p, cx, size->nruns, -1);
	size_t i;

	for (i = size->nvictims; i < p->load->nvictims; i++)
		bitmap_clear(&p->victims, p->load->victims[i]);
	load_rewind(p->load, cx, size);
	p->renumber->n = nnumbers;
	return ret;
}

/* Plans that B goes, where that can be: 1, or 0. */
static int plan_block(struct packing *p, struct context *cx,
		      const struct datuse_block *b)
{
	struct load_size before = load_size(p->load);
	size_t n = p->renumber->n;
	int ret = empty_block(p, cx, b);

	if (ret > 0 && !(has_room(p, cx) && has_numbers(p, b))) {
		p->full = true;
		ret = 0;
	}
	if (!ret)
		return undo(p, cx, &before, n);
	if (ret < 0)
		return ret;
	p->left += b->count;
	p->left_used += b->used;
	return renumber_leave(p->renumber, cx, b->blkoff);
}

static int plan(struct packing *p, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < p->sparse.n && !ret && !p->full; i++)
		ret = plan_block(p, cx, &p->sparse.blocks[i]);
	return ret;
}

static int note_wanted(struct packing *p, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < p->sparse.n && !ret; i++)
		ret = tally_add(&p->wanted, cx, p->sparse.blocks[i].blkoff, 1);
	return ret;
}

static int note_victims(struct packing *p, struct context *cx)
{
	size_t i;
	int ret = bitmap_init(&p->victims, cx, p->vol->geo.nsegments);

	for (i = 0; !ret && i < p->load->nvictims; i++)
		bitmap_set(&p->victims, p->load->victims[i]);
	return ret ? ret : note_runs(p, cx, 0, 1);
}

static int look(struct packing *p, struct context *cx)
{
	int ret = datuse_find(&p->sparse, cx, p->vol);

	p->renumber->avoided = p->sparse.holes;
	p->sparse.holes = (struct tally){ 0 };
	if (!ret)
		ret = root_open(&p->root, cx, p->vol, 0);
	if (!ret)
		ret = cptable_list(p->vol, cx, false, &p->cnos, &p->ncnos);
	if (!ret)
		ret = note_wanted(p, cx);
	return ret ? ret : note_victims(p, cx);
}

int packplan_make(struct context *cx, struct load *load,
		  struct renumber *renumber, uint64_t room)
{
	struct packing p = {
		.vol = load->facts->vol,
		.load = load,
		.renumber = renumber,
		.room = room,
	};
	int ret = look(&p, cx);

	load->renumber = renumber;
	if (!ret)
		ret = plan(&p, cx);
	datuse_free(&p.sparse);
	bitmap_fini(&p.victims);
	tally_fini(&p.wanted);
	tally_fini(&p.runs);
	free(p.cnos);
	return ret;
}
