// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A node is read when the walk of a map comes to it, one map after the other,
 * and most maps have one or two.  The pointers to them are in the inodes, so
 * those of some hundred inodes are announced to the device at once, in its
 * order.  That is all that most files have; below it, nodes of large files are
 * contiguous and are read in large pieces anyway.
 */
#include "check/inodes/nodeahead.h"

#include "disk/bmap.h"
#include "disk/inode.h"
#include "vol/ahead.h"

static bool has_nodes(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count) && inode_has_bmap(inode) &&
	       bmap_is_btree(inode->i_bmap) &&
	       bmap_root_check(inode->i_bmap) == RULE_OK;
}

/* Keeps the list sorted: mostly what is added is the greatest. */
static void add_place(struct nodeahead *a, uint64_t blocknr)
{
	unsigned int at = a->n++;

	for (; at && a->places[at - 1] > blocknr; at--)
		a->places[at] = a->places[at - 1];
	a->places[at] = blocknr;
}

static int add_inode(struct nodeahead *a, struct context *cx,
		     const struct nilfs_inode *inode)
{
	const struct nilfs_geometry *geo = &a->vblocks->vol->geo;
	struct bmap_node root;
	struct vblock vb;
	uint32_t i;
	int state;

	bmap_root_read(inode->i_bmap, &root);
	if (root.level == NILFS_BTREE_LEVEL_NODE_MIN)
		return 0;
	for (i = 0; i < root.nchildren && a->n < NODEAHEAD_MAX; i++) {
		state = vblocks_find(a->vblocks, cx, bmap_node_ptr(&root, i),
				     &vb);
		if (state < 0)
			return state;
		if (geometry_has_block(geo, vb.blocknr))
			add_place(a, vb.blocknr);
	}
	return 0;
}

int nodeahead_add(struct nodeahead *a, struct context *cx,
			 const void *block)
{
	const struct palloc *p = &a->vblocks->vol->ifile_palloc;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->entries_per_block && !err; i++) {
		const struct nilfs_inode *inode = (const void *)
			((const char *)block + (size_t)i * p->entry_size);

		if (has_nodes(inode))
			err = add_inode(a, cx, inode);
	}
	return err;
}

void nodeahead_end(struct nodeahead *a)
{
	struct ahead ahead = ahead_of(a->vblocks->vol);
	unsigned int i;

	for (i = 0; i < a->n; i++)
		ahead_add(&ahead, a->places[i], 1);
	ahead_end(&ahead);
	a->n = 0;
}
