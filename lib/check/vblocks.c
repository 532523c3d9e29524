// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking up many entries of the DAT.
 *
 * One block of entries and the bitmap of its group are borrowed from the cache.
 * Several streams of ascending numbers alternate, because files written at the
 * same time have different ranges.  A block that is not cached although the one
 * before it is belongs to such a stream; the following blocks are read ahead in
 * disk order.
 *
 * Other checks report damage of the DAT.  Here damage only affects the result:
 * the state is unknown if a block of entries or the map to it is unreadable;
 * without its bitmap, an entry counts as used.
 *
 * Most files are contiguous, so consecutive entries have consecutive blocks and
 * equal lifetimes.  A few runs represent a block of entries, which need not be
 * read again.  Each worker of the pass over the DAT creates its own runs; they
 * are read only after that pass.  Numbers of data and nodes alternate, so a
 * block may need several runs.  A block that needs many is read again instead.
 */
#include "check/vblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/sparse.h"
#include "disk/bmap.h"
#include "disk/ondisk.h"
#include "vol/volume.h"

#define READAHEAD_BLOCKS 32
/* Share of the budget for the directory of a set of numbers, in bytes. */
#define DIRECTORY_SHARE 16

#define CHUNK 128u		/* entries: a block of 4 KiB */
#define CHUNK_RUNS 32u		/* limit for a chunk: an eighth of its entries */
#define MOST_LIVES (1u << 15)
#define RECENT_LIVES 4u		/* lifetimes that are compared */
#define MOST_NUMBER (UINT64_C(1) << 48)

int vblocks_runs_begin(struct datruns *r, struct context *cx,
		       unsigned int workers, uint64_t bytes)
{
	*r = (struct datruns){ .bytes = bytes / workers };
	r->parts = calloc(workers, sizeof(*r->parts));
	if (!r->parts)
		return fail(cx, -ENOMEM, "runs of the DAT");
	r->nparts = workers;
	return 0;
}

/* The index of the lifetime of DE, or MOST_LIVES if there is no room for it. */
static uint32_t find_datrun_life(struct datruns_part *part, struct context *cx,
				 const struct nilfs_dat_entry *de)
{
	const struct lifetime life = {
		le64_get(de->de_start), le64_get(de->de_end),
	};
	size_t i, n = part->nlives;

	for (i = n; i > 0 && i + RECENT_LIVES > n; i--)
		if (part->lives[i - 1].start == life.start &&
		    part->lives[i - 1].end == life.end)
			return (uint32_t)(i - 1);
	if (n == MOST_LIVES ||
	    array_reserve(cx, &part->lives, &part->lives_room, n + 1))
		return MOST_LIVES;
	part->lives[part->nlives++] = life;
	return (uint32_t)n;
}

void vblocks_runs_add(struct datruns *r, unsigned int worker,
		      const struct datscan_block *block)
{
	struct datruns_part *part = &r->parts[worker];
	struct context cx = { .max_memory = r->bytes };
	const struct nilfs_dat_entry *first, *de;
	uint32_t i, end, n, life, step;
	uint64_t blocknr;
	size_t before;

	for (i = 0; i < block->count; i = end) {
		end = block->count - i < CHUNK ? block->count : i + CHUNK;
		before = part->n;
		/* All entries of a chunk are stored, or none. */
		for (; i < end && part->n < before + CHUNK_RUNS; i += n) {
			first = datscan_entry(block, i);
			blocknr = le64_get(first->de_blocknr);
			life = find_datrun_life(part, &cx, first);
			if (life == MOST_LIVES || blocknr >= MOST_NUMBER ||
			    block->first + i >= MOST_NUMBER ||
			    array_reserve(&cx, &part->list, &part->room,
					  part->n + 1))
				break;
			for (n = 1, step = 0; i + n < end; n++) {
				de = datscan_entry(block, i + n);
				if (n == 1)
					step = le64_get(de->de_blocknr) ==
					       blocknr + 1;
				if (le64_get(de->de_blocknr) !=
					    blocknr + (uint64_t)n * step ||
				    le64_get(de->de_start) !=
					    le64_get(first->de_start) ||
				    le64_get(de->de_end) !=
					    le64_get(first->de_end))
					break;
			}
			part->list[part->n++] = (struct datrun){
				.number = block->first + i,
				.count = (uint16_t)n, .blocknr = blocknr,
				.life = (uint16_t)life, .step = (uint8_t)step,
			};
		}
		if (i < end)
			part->n = before;
	}
}

static int compare_datruns(const void *a, const void *b)
{
	const struct datrun *x = a, *y = b;

	return sort_order(x->number, y->number);
}

void vblocks_runs_finish(struct datruns *r)
{
	unsigned int i;

	for (i = 0; r->parts && i < r->nparts; i++)
		sort_in_place(r->parts[i].list, r->parts[i].n,
			      sizeof(*r->parts[i].list), compare_datruns);
}

void vblocks_runs_fini(struct datruns *r)
{
	unsigned int i;

	for (i = 0; r->parts && i < r->nparts; i++) {
		free(r->parts[i].list);
		free(r->parts[i].lives);
	}
	free(r->parts);
	*r = (struct datruns){ 0 };
}

static bool datrun_ends_before(const void *item, const void *key)
{
	const struct datrun *run = item;

	return run->number + run->count <= *(const uint64_t *)key;
}

bool vblocks_runs_expand(const struct datruns *r, const struct palloc *palloc,
			 const struct palloc_block *what, char *buf)
{
	const uint64_t end = what->first + what->count;
	const struct datruns_part *part;
	const struct lifetime *life;
	const struct datrun *run;
	uint64_t at = end, until, blocknr;
	struct nilfs_dat_entry *de;
	size_t k;

	/* One part contains all of a block. */
	for (part = r->parts; part < r->parts + r->nparts; part++) {
		at = what->first;
		k = search_first(part->list, part->n, sizeof(*part->list),
				 datrun_ends_before, &at);
		for (; at < end && k < part->n; k++) {
			run = &part->list[k];
			if (run->number > at)
				break;
			until = run->number + run->count;
			until = until < end ? until : end;
			life = &part->lives[run->life];
			blocknr = run->blocknr + (at - run->number) * run->step;
			for (; at < until; at++, blocknr += run->step) {
				de = (void *)(buf + (at - what->first) *
						    palloc->entry_size);
				de->de_blocknr = le64_make(blocknr);
				de->de_start = le64_make(life->start);
				de->de_end = le64_make(life->end);
			}
		}
		if (at == end)
			return true;
	}
	return false;
}

void vblocks_init(struct vblocks *v, struct volume *vol,
		  const struct datruns *runs)
{
	*v = (struct vblocks){ .vol = vol, .runs = runs };
}

static void vblocks_give_back(struct vblocks *v, const void *data)
{
	if (data && data != v->own)
		file_put(&v->vol->dat, data);
}

void vblocks_fini(struct vblocks *v)
{
	if (!v->vol)
		return;
	vblocks_give_back(v, v->bitmap);
	vblocks_give_back(v, v->block);
	free(v->own);
	vblocks_init(v, v->vol, v->runs);
}

/* Borrows block BLKOFF of the DAT: a state with *DATA, or a failure. */
static int vblocks_borrow_block(struct vblocks *v, struct context *cx,
				uint64_t blkoff, const void **data)
{
	int ret = file_block(&v->vol->dat, cx, blkoff, data);

	if (ret > 0)
		return VBLOCKS_USED;
	*data = NULL;
	if (!ret)
		return VBLOCKS_MISSING;
	if (ret != -EIO && ret != -EUCLEAN)
		return ret;
	fail_clear(cx);
	return VBLOCKS_UNKNOWN;
}

static bool is_dat_block_cached(const struct vblocks *v, struct context *cx,
				uint64_t blkoff)
{
	uint64_t blocknr;

	return file_lookup(&v->vol->dat, cx, blkoff, &blocknr) > 0 &&
	       cache_has(v->vol->cache, blocknr);
}

int vblocks_seek(struct vblocks *v, struct context *cx, uint64_t number)
{
	const struct palloc *palloc = &v->vol->dat_palloc;
	uint64_t blkoff = palloc_entry_blkoff(palloc, number);
	struct palloc_block what;
	struct context quiet;
	const void *data;
	int state = VBLOCKS_USED;

	palloc_locate(palloc, blkoff, &what);
	vblocks_give_back(v, v->block);
	v->block = NULL;
	v->count = 0;
	if (v->runs && v->runs->nparts && !v->own)
		v->own = calloc(1, palloc->block_size);
	data = NULL;
	if (v->runs && v->own &&
	    vblocks_runs_expand(v->runs, palloc, &what, v->own))
		data = v->own;
	if (!data) {
		/* If the block before is cached, the blocks after this one will
		   be needed too. */
		context_child(cx, &quiet);
		if (blkoff && !is_dat_block_cached(v, &quiet, blkoff) &&
		    is_dat_block_cached(v, &quiet, blkoff - 1))
			file_readahead(&v->vol->dat, &quiet, blkoff,
				       READAHEAD_BLOCKS);
		state = vblocks_borrow_block(v, cx, blkoff, &data);
	}
	if (state < 0)
		return state;
	v->block = data;
	v->state = (enum vblocks_state)state;
	v->first = what.first;
	v->count = what.count;
	if (!data || (v->have_group && v->group == what.group))
		return 0;
	vblocks_give_back(v, v->bitmap);
	v->bitmap = NULL;
	v->have_group = false;
	state = vblocks_borrow_block(
		v, cx, palloc_bitmap_blkoff(palloc, what.group), &data);
	if (state < 0)
		return state;
	v->bitmap = data;
	v->group = what.group;
	v->have_group = true;
	v->group_known = state != VBLOCKS_UNKNOWN;
	return 0;
}

uint64_t vblocks_end(struct volume *vol, struct context *cx)
{
	const uint64_t most = cx->max_memory / DIRECTORY_SHARE /
			      sizeof(uint64_t *) * SPARSE_CHUNK_BITS;
	const le64 *map = vol->dat.map.root;
	unsigned int level = 0;
	struct palloc_block what;
	struct bmap_node node;
	struct context quiet;
	const void *block = NULL;
	uint64_t ptr, key = 0;

	context_child(cx, &quiet);
	if (!vol->dat.map.broken && bmap_is_btree(map)) {
		bmap_root_read(map, &node);
		level = node.level;
	} else if (!vol->dat.map.broken) {
		key = NILFS_DIRECT_NBLOCKS - 1;
		while (key && !bmap_direct_ptr(map, key))
			key--;
	}
	/* Finds the last block, as far as the map can be followed.  The level
	   is counted down regardless of the nodes, so that the loop ends. */
	for (; level; level--) {
		ptr = 0;
		if (node.nchildren) {
			key = bmap_node_key(&node, node.nchildren - 1u);
			ptr = bmap_node_ptr(&node, node.nchildren - 1u);
		}
		cache_put(vol->cache, block);
		if (level == 1 || !ptr ||
		    cache_get(vol->cache, &quiet, ptr, &block))
			break;
		bmap_node_read(vol->geo.block_size, block, &node);
	}
	palloc_locate(&vol->dat_palloc, key, &what);
	return what.first < most ? what.first + what.count : most;
}
