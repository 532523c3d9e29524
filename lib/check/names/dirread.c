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

int dirread_add(struct root *root, struct context *cx,
		const struct inodelist *list, size_t dir, bool all,
		struct blockbatch *batch, struct dirread *blocks)
{
	uint64_t ino = list->dirs[dir].ino;
	struct nilfs_inode inode;
	struct blockmap map;
	int ret = 0;

	memset(blocks, 0, sizeof(*blocks));
	memset(&inode, 0, sizeof(inode));
	if (dir < list->nmaps) {
		inode.i_size = list->maps[dir].size;
		memcpy(inode.i_bmap, list->maps[dir].bmap,
		       sizeof(inode.i_bmap));
	} else {
		ret = root_inode_bytes(root, cx, ino, &inode);
	}
	if (ret >= 0)
		ret = blockmap_init(&map, cx, root->vol, ino, &inode);
	blocks->map.broken = ret < 0;
	if (ret < 0)
		return damage_is_fatal(ret) ? ret : 0;
	blocks->size = le64_get(inode.i_size);
	blocks->expected = div_round_up(blocks->size,
					root->vol->geo.block_size);
	return blockbatch_add_map(batch, cx, &map, dir, all ? UINT64_MAX :
				  blocks->expected, &blocks->map);
}

int dirread_run(struct root *root, struct context *cx,
		const struct inodelist *list, size_t from, size_t end,
		blockbatch_take *take, void *arg)
{
	struct blockbatch batch;
	struct dirread blocks;
	int err = blockbatch_open(&batch, cx, root->vol, take, arg);

	for (; from < end && !err; from++) {
		err = dirread_add(root, cx, list, from, true, &batch, &blocks);
		if (!err)
			fail_clear(cx);
	}
	if (!err)
		err = blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	return err;
}
