// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block maps: lookups and cursors over direct and B-tree maps.
 *
 * Node blocks are borrowed from the cache, one per level, so a walk holds a dozen
 * blocks at most.  A lookup follows the kernel, which does not check keys.  A cursor
 * requires ascending keys, within a node and against the parent.  This bounds a walk
 * by the number of blocks on the disk, for any content of the pointers.  Every key
 * that was sought, yielded or skipped is below all later keys, so two keys can be
 * used as the ends of a range.
 */
#include "vol/blockmap.h"

#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "disk/rule.h"
#include "vol/translate.h"
#include "vol/volume.h"

static int check_root(const struct blockmap *map, struct context *cx)
{
	if (!map->broken)
		return 0;
	return fail(cx, -EUCLEAN, "inode %llu: block map: %s",
		    (unsigned long long)map->ino,
		    rule_info(map->broken)->text);
}

int blockmap_init(struct blockmap *map, struct context *cx,
		  struct volume *vol, uint64_t ino,
		  const struct nilfs_inode *inode)
{
	map->vol = vol;
	map->ino = ino;
	map->physical = ino == NILFS_DAT_INO;
	memcpy(map->root, inode->i_bmap, sizeof(map->root));
	map->broken = bmap_is_btree(map->root) ? bmap_root_check(map->root) :
						 RULE_OK;
	return check_root(map, cx);
}

int blockmap_resolve(const struct blockmap *map, struct context *cx,
		     uint64_t ptr, uint64_t *blocknr)
{
	if (!map->physical)
		return translate_vblock(map->vol, cx, ptr, blocknr);
	if (!geometry_has_block(&map->vol->geo, ptr))
		return fail(cx, -EUCLEAN,
			    "DAT: pointer to block %llu outside the segments",
			    (unsigned long long)ptr);
	*blocknr = ptr;
	return 0;
}

int blockmap_borrow(const struct blockmap *map, struct context *cx,
		    uint64_t ptr, const void **data)
{
	uint64_t blocknr;
	int err;

	*data = NULL;
	if (!ptr)
		return 0;
	err = blockmap_resolve(map, cx, ptr, &blocknr);
	return err ? err : cache_get(map->vol->cache, cx, blocknr, data);
}

/* Borrows and checks the node at PTR, which must be of LEVEL. */
static int get_node(const struct blockmap *map, struct context *cx,
		    uint64_t ptr, unsigned int level, const void **block,
		    struct bmap_node *node)
{
	struct volume *vol = map->vol;
	uint64_t blocknr = 0;
	enum rule rule;
	int err;

	err = blockmap_resolve(map, cx, ptr, &blocknr);
	if (err)
		return err;
	err = cache_get(vol->cache, cx, blocknr, block);
	if (err)
		return err;
	rule = bmap_node_check(vol->geo.block_size, *block);
	bmap_node_read(vol->geo.block_size, *block, node);
	if (rule == RULE_OK && node->level != level)
		rule = RULE_BMAP_NODE_LEVEL;
	if (rule != RULE_OK) {
		cache_put(vol->cache, *block);
		*block = NULL;
		return fail(cx, -EUCLEAN,
			    "inode %llu: map node at block %llu, level %u: %s",
			    (unsigned long long)map->ino,
			    (unsigned long long)blocknr, level,
			    rule_info(rule)->text);
	}
	return 0;
}

int blockmap_lookup_at_level(const struct blockmap *map, struct context *cx,
			     uint64_t key, unsigned int wanted, uint64_t *ptr)
{
	const void *block = NULL;
	struct bmap_node node;
	unsigned int level;
	int i, err = check_root(map, cx);

	if (err)
		return err;
	if (!bmap_is_btree(map->root)) {
		if (wanted)
			return 0;
		*ptr = bmap_direct_ptr(map->root, key);
		return *ptr != 0;
	}
	bmap_root_read(map->root, &node);
	if (node.level <= wanted)
		return 0;
	for (level = node.level;; level--) {
		uint64_t child_key = 0;

		i = bmap_node_search(&node, key);
		if (i >= 0) {
			child_key = bmap_node_key(&node, (uint32_t)i);
			*ptr = bmap_node_ptr(&node, (uint32_t)i);
		}
		cache_put(map->vol->cache, block);
		if (i < 0)
			return 0;
		if (level - 1 == wanted)
			return wanted || child_key == key;
		err = get_node(map, cx, *ptr, level - 1, &block, &node);
		if (err)
			return err;
	}
}

int blockmap_lookup(const struct blockmap *map, struct context *cx,
		    uint64_t key, uint64_t *ptr)
{
	return blockmap_lookup_at_level(map, cx, key, 0, ptr);
}

/* Enters LEVEL: sets the cursor to INDEX of the node there. */
static void stand(struct blockmap_cursor *cur, unsigned int level,
		  const void *block, const struct bmap_node *node,
		  uint64_t end)
{
	struct blockmap_level *l = &cur->path[level];

	l->block = block;
	l->node = *node;
	l->index = 0;
	l->end = end;
	cur->level = level;
	cur->entered = false;
}

static uint64_t child_key(const struct blockmap_level *l)
{
	return le64_get(l->node.keys[l->index]);
}

/* The end of the keys below the child at the index. */
static uint64_t child_end(const struct blockmap_level *l)
{
	if (l->index + 1 < l->node.nchildren)
		return le64_get(l->node.keys[l->index + 1]);
	return l->end;
}

static int bad_order(const struct blockmap_cursor *cur, struct context *cx)
{
	return fail(cx, -EUCLEAN,
		    "inode %llu: map node of level %u: keys out of order",
		    (unsigned long long)cur->map->ino, cur->level);
}

/* Descends to the child at the index, whose keys were checked. */
static int descend(struct blockmap_cursor *cur, struct context *cx)
{
	struct blockmap_level *l = &cur->path[cur->level];
	uint64_t key = child_key(l), end = child_end(l);
	const void *block = NULL;
	struct bmap_node node;
	int err;

	err = get_node(cur->map, cx, le64_get(l->node.ptrs[l->index]),
		       cur->level - 1, &block, &node);
	if (err)
		return err;
	l->index++;
	stand(cur, cur->level - 1, block, &node, end);
	if (le64_get(node.keys[0]) < key)
		return bad_order(cur, cx);
	return 0;
}

int blockmap_cursor_open(struct blockmap_cursor *cur, struct context *cx,
			 const struct blockmap *map, uint64_t key, bool nodes)
{
	struct blockmap_level *l;
	struct bmap_node root;
	int i, err = check_root(map, cx);

	cur->map = NULL;
	if (err)
		return err;
	cur->map = map;
	cur->nodes = nodes;
	cur->entered = false;
	cur->floor = key;
	if (!bmap_is_btree(map->root)) {
		cur->level = cur->top = 0;
		cur->path[0].index = key < NILFS_DIRECT_NBLOCKS ?
			(unsigned int)key : NILFS_DIRECT_NBLOCKS;
		return 0;
	}
	bmap_root_read(map->root, &root);
	cur->top = root.level;
	stand(cur, root.level, NULL, &root, UINT64_MAX);
	/* Descend to the first child that can contain keys >= KEY. */
	while (key) {
		l = &cur->path[cur->level];
		i = bmap_node_search(&l->node, key);
		if (i < 0)
			break;
		l->index = (unsigned int)i;
		if (cur->level == 1) {
			l->index += child_key(l) != key;
			break;
		}
		err = descend(cur, cx);
		if (err)
			return err;
	}
	return 0;
}

/* Yields the child at the index of the cursor's node. */
static int take_child(struct blockmap_cursor *cur, struct context *cx,
		      struct blockmap_item *item)
{
	struct blockmap_level *l = &cur->path[cur->level];

	item->key = child_key(l);
	item->ptr = le64_get(l->node.ptrs[l->index]);
	item->level = cur->level - 1;
	if (item->key < cur->floor || item->key >= child_end(l))
		return bad_order(cur, cx);
	cur->floor = item->key + !item->level;
	return 1;
}

int blockmap_cursor_next(struct blockmap_cursor *cur, struct context *cx,
			 struct blockmap_item *item)
{
	struct blockmap_level *l = &cur->path[0];
	int err;

	while (!cur->top && l->index < NILFS_DIRECT_NBLOCKS) {
		item->key = l->index++;
		item->ptr = bmap_direct_ptr(cur->map->root, item->key);
		item->level = 0;
		if (item->ptr)
			return 1;
	}
	while (cur->top && cur->level <= cur->top) {
		l = &cur->path[cur->level];
		if (l->index >= l->node.nchildren) {
			cache_put(cur->map->vol->cache, l->block);
			cur->level++;
			cur->entered = false;
			continue;
		}
		if (cur->level == 1) {
			err = take_child(cur, cx, item);
			l->index++;
			return err;
		}
		if (!cur->entered) {
			err = take_child(cur, cx, item);
			if (err < 0)
				return err;
			cur->entered = true;
			if (cur->nodes)
				return 1;
		}
		err = descend(cur, cx);
		if (err)
			return err;
	}
	return 0;
}

void blockmap_cursor_skip(struct blockmap_cursor *cur)
{
	cur->path[cur->level].index++;
	cur->entered = false;
}

void blockmap_cursor_skip_same(struct blockmap_cursor *a,
			       struct blockmap_cursor *b)
{
	struct blockmap_level *x = &a->path[1], *y = &b->path[1];

	if (!a->top || !b->top || a->level != 1 || b->level != 1)
		return;
	while (x->index < x->node.nchildren && y->index < y->node.nchildren &&
	       child_key(x) == child_key(y) && child_key(x) >= a->floor &&
	       child_key(x) < x->end && child_key(x) < y->end &&
	       le64_get(x->node.ptrs[x->index]) ==
		       le64_get(y->node.ptrs[y->index])) {
		a->floor = b->floor = child_key(x) + 1;
		x->index++;
		y->index++;
	}
}

uint64_t blockmap_cursor_skip_row(struct blockmap_cursor *cur, uint64_t key)
{
	struct blockmap_level *l = &cur->path[1];

	if (!cur->top || cur->level != 1)
		return key;
	while (l->index < l->node.nchildren && child_key(l) == key + 1 &&
	       key + 1 < l->end) {
		l->index++;
		key++;
	}
	cur->floor = key + 1;
	return key;
}

void blockmap_cursor_close(struct blockmap_cursor *cur)
{
	unsigned int level;

	if (!cur->map)
		return;
	if (cur->top)
		for (level = cur->level; level <= cur->top; level++)
			cache_put(cur->map->vol->cache, cur->path[level].block);
	cur->map = NULL;
}

int blockmap_find_pointer(const struct blockmap *map, struct context *cx,
			  const uint64_t *numbers, size_t n, bool nodes,
			  struct blockmap_item *item)
{
	struct blockmap_cursor cur;
	bool found = false;
	size_t i;
	int ret = blockmap_cursor_open(&cur, cx, map, 0, nodes);

	while (!ret && !found &&
	       (ret = blockmap_cursor_next(&cur, cx, item)) > 0) {
		i = search_lower_bound(numbers, n, item->ptr);
		found = i < n && numbers[i] == item->ptr;
		ret = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	return ret ? ret : found;
}

int blockmap_identify(struct volume *vol, struct context *cx, uint64_t blocknr,
		      unsigned int *level, uint64_t *key)
{
	uint32_t size = vol->geo.block_size;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(vol->cache, cx, blocknr, &block);

	if (ret)
		return ret;
	bmap_node_read(size, block, &node);
	ret = bmap_node_check(size, block) == RULE_OK && node.nchildren;
	*level = ret ? node.level : 0;
	*key = ret ? bmap_node_key(&node, 0) : 0;
	cache_put(vol->cache, block);
	return ret;
}
