// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A third witness about the keys of a node.
 *
 * Every key of a map stands in two places: in a node, and in what the node
 * leads to.  A node begins with the key that its parent has for it, and the log
 * of a block of a file has the block's offset.
 */
#include "fsck/maps/keywitness.h"

#include "check/damage.h"
#include "check/lifelogs.h"

/* The node at BLOCKNR, of LEVEL. */
static int ask_node(struct snapmaps *s, struct context *cx, uint64_t blocknr,
		    unsigned int level, uint64_t key)
{
	uint32_t size = s->job->vol->geo.block_size;
	struct bmap_node node;
	const void *block;
	int ret = cache_get(s->job->vol->cache, cx, blocknr, &block);

	if (ret)
		return damage_forgive(cx, ret);
	bmap_node_read(size, block, &node);
	ret = bmap_node_check(size, block) == RULE_OK && node.level == level &&
	      bmap_node_key(&node, 0) == key;
	cache_put(s->job->vol->cache, block);
	return ret;
}

static int ask_log(struct snapmaps *s, struct context *cx, uint64_t blocknr,
		   uint64_t vblocknr, uint64_t key)
{
	struct segsum_block b;
	int ret = lifelogs_find_block(cx, s->job->check, blocknr, &b, NULL);

	if (ret <= 0)
		return ret;
	return b.ino == s->ino && !b.is_node && b.vblocknr == vblocknr &&
	       b.blkoff == key;
}

int keywitness_ask(struct snapmaps *s, struct context *cx,
		   const struct bmap_node *node, uint32_t i)
{
	uint64_t key = bmap_node_key(node, i), ptr = bmap_node_ptr(node, i);
	struct vblock vb;
	int state = vblocks_find(&s->vblocks[node->level > 1], cx, ptr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&s->job->vol->geo, vb.blocknr))
		return 0;
	return node->level > 1 ?
		       ask_node(s, cx, vb.blocknr, node->level - 1u, key) :
		       ask_log(s, cx, vb.blocknr, ptr, key);
}
