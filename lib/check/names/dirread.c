// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The blocks of a directory.
 *
 * The map is walked as readers do: the pass over maps reports its damage, here
 * it only matters that names may be missing.
 */
#include "check/damage.h"
#include "check/names/dirread.h"

#include <string.h>

#include "base/checked.h"
#include "disk/palloc.h"

/* Adds the block of ITEM; one that has no place on the disk breaks the map. */
static int add_block(const struct blockmap *map, struct context *cx,
		     const struct blockmap_item *item, uint64_t owner,
		     struct blockbatch *batch, struct dirread *blocks)
{
	struct blockbatch_item block = {
		.owner = owner,
		.blkoff = item->key,
		.vblocknr = item->ptr,
	};
	int err;

	blocks->found++;
	blocks->end = item->key + 1;
	err = blockmap_resolve(map, cx, item->ptr, &block.blocknr);
	if (!err)
		return blockbatch_add(batch, cx, &block);
	blocks->broken = true;
	return damage_is_fatal(err) ? err : 0;
}

static int walk_map(const struct blockmap *map, struct context *cx,
		    uint64_t owner, bool all, struct blockbatch *batch,
		    struct dirread *blocks)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret, err = 0;

	ret = blockmap_cursor_open(&cur, cx, map, 0, false);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		blocks->more = item.key >= blocks->expected;
		if (blocks->more && !all)
			break;
		err = add_block(map, cx, &item, owner, batch, blocks);
		if (err)
			break;
	}
	blockmap_cursor_close(&cur);
	blocks->broken |= ret < 0;
	if (!err && ret < 0 && damage_is_fatal(ret))
		err = ret;
	return err;
}

/* The size and the map of directory number DIR of LIST. */
static int find_map(struct root *root, struct context *cx,
		    const struct inodelist *list, size_t dir,
		    struct nilfs_inode *inode)
{
	int ret;

	memset(inode, 0, sizeof(*inode));
	if (dir >= list->nmaps) {
		ret = root_inode_bytes(root, cx, list->dirs[dir].ino, inode);
		return ret < 0 ? ret : 0;
	}
	inode->i_size = list->maps[dir].size;
	memcpy(inode->i_bmap, list->maps[dir].bmap, sizeof(inode->i_bmap));
	return 0;
}

static int add_blocks(struct root *root, struct context *cx,
		      const struct inodelist *list, size_t dir, bool all,
		      struct blockbatch *batch, struct dirread *blocks)
{
	struct nilfs_inode inode;
	struct blockmap map;
	int err = find_map(root, cx, list, dir, &inode);

	memset(blocks, 0, sizeof(*blocks));
	if (!err)
		err = blockmap_init(&map, cx, root->vol, list->dirs[dir].ino,
				    &inode);
	blocks->broken = err != 0;
	if (err)
		return damage_is_fatal(err) ? err : 0;
	blocks->size = le64_get(inode.i_size);
	blocks->expected = div_round_up(blocks->size,
					root->vol->geo.block_size);
	return walk_map(&map, cx, dir, all, batch, blocks);
}

int dirread_add(struct root *root, struct context *cx,
		const struct inodelist *list, size_t dir,
		struct blockbatch *batch, struct dirread *blocks)
{
	return add_blocks(root, cx, list, dir, false, batch, blocks);
}

int dirread_add_all(struct root *root, struct context *cx,
		    const struct inodelist *list, size_t dir,
		    struct blockbatch *batch, struct dirread *blocks)
{
	return add_blocks(root, cx, list, dir, true, batch, blocks);
}

int dirread_run(struct root *root, struct context *cx,
		const struct inodelist *list, size_t from, size_t end,
		blockbatch_take *take, void *arg)
{
	struct blockbatch batch;
	struct dirread blocks;
	int err = blockbatch_open(&batch, cx, root->vol, take, arg);

	for (; from < end && !err; from++) {
		err = dirread_add_all(root, cx, list, from, &batch, &blocks);
		if (!err)
			fail_clear(cx);
	}
	if (!err)
		err = blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	return err;
}
