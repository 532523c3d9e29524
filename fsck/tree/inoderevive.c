// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files taken back from an older checkpoint.
 *
 * Most files are what they were: then the whole map is alive and stays.
 * Blocks that have ended since belong to the past alone, so that the newest
 * checkpoint gets copies of them under a new map.
 */
#include "fsck/tree/inoderevive.h"

#include <errno.h>

#include "check/damage.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "log/remap.h"
#include "vol/blockmap.h"

struct revival {
	struct fixer_job *job;
	struct blockmap map;
	struct vblocks vblocks;
	struct remap *remap;
};

/* Whether the newest checkpoint can have it: 1, 0, or a failure. */
static int is_alive(struct revival *r, struct context *cx, uint64_t vblocknr)
{
	struct vblock vb;
	int state = vblocks_find(&r->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	return state == VBLOCKS_USED && vb.end == NILFS_CNO_MAX;
}

/* Whether all of the map is alive, its nodes too. */
static int is_whole(struct revival *r, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int alive = 1, ret;

	ret = blockmap_cursor_open(&cur, cx, &r->map, 0, true);
	while (!ret && alive > 0 &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		alive = is_alive(r, cx, item.ptr);
		ret = 0;
	}
	blockmap_cursor_close(&cur);
	if (alive < 0 || (ret < 0 && !damage_is(ret)))
		return alive < 0 ? alive : ret;
	if (ret < 0)
		fail_clear(cx);
	return alive && !ret;
}

/* A copy of the block; one that cannot be read is left out. */
static int copy(struct revival *r, struct context *cx,
		const struct blockmap_item *item)
{
	struct cache *cache = r->job->vol->cache;
	uint64_t blocknr;
	const void *data;
	int err = blockmap_resolve(&r->map, cx, item->ptr, &blocknr);

	if (!err)
		err = cache_get(cache, cx, blocknr, &data);
	if (err)
		return damage_forgive(cx, err);
	err = remap_put(r->remap, cx, item->key, data);
	cache_put_spent(cache, data);
	return err;
}

static int take(struct revival *r, struct context *cx,
		const struct blockmap_item *item)
{
	int ret = is_alive(r, cx, item->ptr);

	if (ret > 0)
		return remap_keep(r->remap, cx, item->key, item->ptr);
	return ret ? ret : copy(r, cx, item);
}

static int remake(struct revival *r, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret, err = 0;

	ret = blockmap_cursor_open(&cur, cx, &r->map, 0, false);
	while (!ret && !err &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		err = take(r, cx, &item);
		if (!err)
			err = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	return err ? err : damage_forgive(cx, ret < 0 ? ret : 0);
}

static int revive(struct revival *r, struct context *cx, uint64_t ino,
		  struct nilfs_inode *inode)
{
	int ret = is_whole(r, cx);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = remap_open(&r->remap, cx, r->job->writer, ino);
	if (!ret)
		ret = remake(r, cx);
	if (!ret)
		ret = remap_finish(r->remap, cx, inode);
	remap_close(r->remap);
	return ret;
}

int inoderevive_map(struct fixer_job *job, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode)
{
	struct revival r = { .job = job };
	int err;

	if (!inode_has_bmap(inode))
		return 0;
	err = blockmap_init(&r.map, cx, job->vol, ino, inode);
	if (err) {
		fail_clear(cx);
		return 0;
	}
	vblocks_init(&r.vblocks, job->vol);
	err = revive(&r, cx, ino, inode);
	vblocks_fini(&r.vblocks);
	return err;
}
