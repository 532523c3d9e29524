// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A super root that is lost, from the one before it.
 *
 * The logs since then list each block of DAT, cpfile and SUFILE that was
 * written, as these have new places.  What they hang from is the root of a map
 * in the super root: the pointers there that lead to one of them are replaced.
 * Sizes and times of these files do not change.  How many blocks they have got
 * or lost is not known exactly, nor whether the log is a cleaner's, so some
 * numbers are tried.  The checksum of the log shows which of them is right, bit
 * for bit.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "fsck/witness/witness.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"

#define FILES 3			/* DAT, cpfile, SUFILE */
#define FEWER 1			/* blocks that a file may have lost */
#define OLDER_MAX 8		/* super roots before it that are looked at */
#define SEGMENTS_MAX 256	/* that may lie between the two */

/* Numbers of blocks that are tried; the DAT grows with the files. */
static const unsigned int tries[FILES] = { 512, 6, 4 };

struct rootderive {
	const struct rootsearch *rs;
	const struct root_log *root, *before;
	struct witness witness;
	struct witness_block made;
	char *block;
	/* As before: */
	uint64_t blocks[FILES];
	le64 maps[FILES][NILFS_INODE_BMAP_SIZE];
	uint64_t nongc;
};

static struct nilfs_inode *inode_of(const struct rootderive *d, uint64_t ino)
{
	return (struct nilfs_inode *)(uintptr_t)superroot_inode(
		d->rs->geo, d->block, ino);
}

static uint64_t super_root_of(const struct root_log *root)
{
	return root->pseg + le32_get(root->ss.ss_nblocks) - 1;
}

/* Reads the super root of ROOT: 1, 0 where there is none, or a failure. */
static int read_root(const struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, char *block)
{
	int err = volume_read_blocks(rs->vol, cx, super_root_of(root), 1,
				     block);

	if (err)
		return damage_forgive(cx, err);
	return superroot_check(rs->geo, block) == RULE_OK;
}

/* Pointer KEY of the root of a B-tree; one that is new comes last. */
static void set_child(struct nilfs_inode *inode, uint64_t key, uint64_t ptr)
{
	struct nilfs_btree_node *root = (void *)inode->i_bmap;
	le64 *keys = inode->i_bmap + 1;
	le64 *ptrs = keys + NILFS_BTREE_ROOT_NCHILDREN_MAX;
	uint16_t n = le16_get(root->bn_nchildren), i = 0;

	while (i < n && le64_get(keys[i]) != key)
		i++;
	if (i == NILFS_BTREE_ROOT_NCHILDREN_MAX ||
	    (i == n && n && le64_get(keys[n - 1]) > key))
		return;
	keys[i] = le64_make(key);
	ptrs[i] = le64_make(ptr);
	if (i == n)
		root->bn_nchildren = le16_make(n + 1);
}

/*
 * The root of a map that became a B-tree.  What is in use of it is set, the
 * rest is what the direct map had: nilfs_btree_commit_convert_and_insert().
 */
static void make_root(struct nilfs_inode *inode,
		      const le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct nilfs_btree_node *root = (void *)inode->i_bmap;

	memcpy(inode->i_bmap, map, sizeof(inode->i_bmap));
	root->bn_flags = NILFS_BTREE_NODE_ROOT;
	root->bn_level = NILFS_BTREE_LEVEL_NODE_MIN + 1;
	root->bn_nchildren = le16_make(0);
}

/* Block B, at BLOCKNR, which the map of its file may have in its root. */
static int take_block(struct rootderive *d, struct context *cx,
		      const struct segsum_block *b, uint64_t blocknr)
{
	struct nilfs_inode *inode = inode_of(d, b->ino);
	uint64_t ptr = b->is_virtual ? b->vblocknr : blocknr;
	uint32_t size = d->rs->geo->block_size;
	uint64_t key = b->blkoff;
	struct bmap_node root, node = { 0 };
	const void *block;
	int err;

	if (!bmap_is_btree(inode->i_bmap) && !b->is_node) {
		if (key < NILFS_DIRECT_NBLOCKS)
			inode->i_bmap[1 + key] = le64_make(ptr);
		return 0;
	}
	if (b->is_node) {
		err = cache_get(d->rs->vol->cache, cx, blocknr, &block);
		if (err)
			return damage_forgive(cx, err);
		bmap_node_read(size, block, &node);
		key = node.nchildren ? bmap_node_key(&node, 0) : 0;
		cache_put(d->rs->vol->cache, block);
	}
	if (!bmap_is_btree(inode->i_bmap))
		make_root(inode, d->maps[b->ino - NILFS_DAT_INO]);
	bmap_root_read(inode->i_bmap, &root);
	if (node.level + 1 == root.level)
		set_child(inode, key, ptr);
	return 0;
}

/* What LOG lists of the files, if it was written after the super root before, up
   to the lost one; *NEXT is the segment that it names. */
static int take_log(struct rootderive *d, struct context *cx,
		    const struct log *log, struct segsum_iter *it,
		    uint64_t *next)
{
	uint64_t seq = le64_get(log->ss.ss_seq);
	uint64_t from = le64_get(d->before->ss.ss_seq);
	uint64_t to = le64_get(d->root->ss.ss_seq);
	struct segsum_block b;
	int err = 0;

	if (seq < from || (seq == from && log->pseg <= d->before->pseg) ||
	    seq > to || (seq == to && log->pseg > d->root->pseg))
		return 0;
	*next = geometry_segment_of(d->rs->geo, le64_get(log->ss.ss_next));
	while (!err && segsum_iter_next(it, &b))
		if (b.ino >= NILFS_DAT_INO && b.ino < NILFS_DAT_INO + FILES)
			err = take_block(d, cx, &b, log->pseg + b.index);
	return err;
}

/* The logs of segment SEGNUM. */
static int take_segment(struct rootderive *d, struct context *cx,
			uint64_t segnum, uint64_t *next)
{
	const struct nilfs_geometry *geo = d->rs->geo;
	struct logsearch search;
	struct log log;
	int ret = logsearch_open(&search, cx, d->rs->vol, segnum,
				 geometry_segment_start(geo, segnum));

	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		search.next += ret < 0;
		if (ret > 0)
			ret = take_log(d, cx, &log, &search.summary.iter, next);
		ret = damage_forgive(cx, ret);
	}
	logsearch_close(&search);
	return ret;
}

/* The logs since then, segment after segment. */
static int take_segments(struct rootderive *d, struct context *cx)
{
	const struct nilfs_geometry *geo = d->rs->geo;
	uint64_t last = geometry_segment_of(geo, d->root->pseg);
	uint64_t now = geometry_segment_of(geo, d->before->pseg), next;
	unsigned int n;
	int err = 0;

	/* Where nothing follows in its segment its own log leads on. */
	next = geometry_segment_of(geo, le64_get(d->before->ss.ss_next));
	for (n = 0; n < SEGMENTS_MAX && now < geo->nsegments && !err; n++) {
		err = take_segment(d, cx, now, &next);
		if (now == last)
			break;
		now = next;
	}
	return err;
}

/* Tries the numbers of blocks; bit 0 of TRY says whether a cleaner wrote it. */
static int try_numbers(struct rootderive *d, struct context *cx)
{
	struct nilfs_super_root *sr = (void *)d->block;
	unsigned int try, rest, i;
	int ret = 0;

	for (try = 0; try < 2 * tries[0] * tries[1] * tries[2] && !ret; try++) {
		sr->sr_nongc_ctime = try % 2 ? le64_make(d->nongc) :
					       d->root->ss.ss_create;
		for (i = 0, rest = try / 2; i < FILES; rest /= tries[i++])
			inode_of(d, NILFS_DAT_INO + i)->i_blocks = le64_make(
				d->blocks[i] + (rest % tries[i]) - FEWER);
		sr->sr_sum = le32_make(superroot_checksum(d->rs->geo,
							  d->block));
		ret = witness_proves(&d->witness, cx, d->root->pseg, &d->made,
				     1);
	}
	return ret;
}

static int derive_root(struct rootderive *d, struct context *cx)
{
	const struct nilfs_super_root *sr = (const void *)d->block;
	uint32_t bytes = le16_get(sr->sr_bytes);
	const struct nilfs_inode *inode;
	unsigned int i;
	int err;

	memset(d->block + bytes, 0, d->rs->geo->block_size - bytes);
	d->nongc = le64_get(sr->sr_nongc_ctime);
	for (i = 0; i < FILES; i++) {
		inode = inode_of(d, NILFS_DAT_INO + i);
		d->blocks[i] = le64_get(inode->i_blocks);
		memcpy(d->maps[i], inode->i_bmap, sizeof(d->maps[i]));
	}
	err = take_segments(d, cx);
	return err ? err : try_numbers(d, cx);
}

int rootderive_run(const struct rootsearch *rs, struct context *cx, size_t i,
		   char *block)
{
	struct rootderive d = {
		.rs = rs,
		.root = &rs->roots[i],
		.witness.logbits = { .dev = rs->dev, .geo = rs->geo },
		.made = { super_root_of(&rs->roots[i]), block },
		.block = block,
	};
	size_t end = i + OLDER_MAX < rs->nroots ? i + OLDER_MAX : rs->nroots;
	int ret = d.root->headless ? 1 : read_root(rs, cx, d.root, block);

	if (ret)
		return ret < 0 ? ret : 0;
	while (++i < end && !ret) {
		d.before = &rs->roots[i];
		ret = read_root(rs, cx, d.before, block);
	}
	if (ret > 0)
		ret = derive_root(&d, cx);
	witness_fini(&d.witness);
	return ret;
}
