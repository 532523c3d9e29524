// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looking up many entries of the DAT.
 *
 * One block of entries and the bitmap of its group are borrowed from the cache.
 * Several streams of ascending numbers alternate, since files that were written
 * at the same time have different ranges: a block that is missing after one in
 * the cache belongs to such a stream, and the following ones are read with it,
 * in the order of the disk.
 *
 * Other checks report damage of the DAT.  Here it only decides whether the
 * state of a number is known: not if a block of entries or the map to it is
 * unreadable, and without its bitmap an entry counts as used.
 */
#include "check/vblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/bmap.h"
#include "vol/volume.h"

#define READAHEAD_BLOCKS 32

void vblocks_init(struct vblocks *v, struct volume *vol,
		  const struct datruns *runs)
{
	*v = (struct vblocks){ .vol = vol, .runs = runs };
}

static void give_back(struct vblocks *v, const void *data)
{
	if (data && data != v->own)
		file_put(&v->vol->dat, data);
}

void vblocks_fini(struct vblocks *v)
{
	if (!v->vol)
		return;
	give_back(v, v->bitmap);
	give_back(v, v->block);
	free(v->own);
	vblocks_init(v, v->vol, v->runs);
}

/* Borrows block BLKOFF of the DAT: a state with *DATA, or a failure. */
static int borrow_block(struct vblocks *v, struct context *cx, uint64_t blkoff,
			const void **data)
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

static bool is_cached(const struct vblocks *v, struct context *cx,
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
	give_back(v, v->block);
	v->block = NULL;
	v->count = 0;
	if (v->runs && v->runs->nparts && !v->own)
		v->own = calloc(1, palloc->block_size);
	data = NULL;
	if (v->runs && v->own && datruns_expand(v->runs, palloc, &what, v->own))
		data = v->own;
	if (!data) {
		/* If a block is missing after one in the cache, more will be
		   needed. */
		context_child(cx, &quiet);
		if (blkoff && !is_cached(v, &quiet, blkoff) &&
		    is_cached(v, &quiet, blkoff - 1))
			file_readahead(&v->vol->dat, &quiet, blkoff,
				       READAHEAD_BLOCKS);
		state = borrow_block(v, cx, blkoff, &data);
	}
	if (state < 0)
		return state;
	v->block = data;
	v->state = (enum vblocks_state)state;
	v->first = what.first;
	v->count = what.count;
	if (!data || (v->have_group && v->group == what.group))
		return 0;
	give_back(v, v->bitmap);
	v->bitmap = NULL;
	v->have_group = false;
	state = borrow_block(v, cx, palloc_bitmap_blkoff(palloc, what.group),
			     &data);
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
	/* Its last block, as far as the map can be followed; levels descend,
	   whatever the nodes say, so that this ends. */
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
	return what.first + what.count;
}
