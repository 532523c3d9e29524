// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of snapshots and plain checkpoints: a list by virtual block, with
 * their new content. A block of the latest state is not changed, because the
 * latest state is repaired first, with new blocks.
 *
 * With an undo file a block is changed in place. Otherwise every checkpoint
 * that has the block gets a new one with the same lifetime
 * (directwriter_replace()). All checkpoints of a node or inode have the blocks
 * that it points to, so the nodes that lead to the block are replaced likewise,
 * each once, up to the inode of the ifile in the cpfile. Maps of files come
 * first, because they change blocks of the ifile; maps of ifiles come last.
 * Only nodes that lead to one of the blocks are read.
 */
#include "fsck/snapshots/snapblocks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "log/directwriter.h"
#include "log/meta/bmapnode.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/root.h"

static bool is_vblock_below(const void *item, const void *key)
{
	const struct snapblocks_block *b = item;
	const uint64_t *vblocknr = key;

	return b->vblocknr < *vblocknr;
}

struct snapblocks_block *snapblocks_find(const struct snapblocks *p,
					 uint64_t vblocknr)
{
	size_t at = search_first(p->list, p->n, sizeof(*p->list), is_vblock_below,
				 &vblocknr);

	return at < p->n && p->list[at].vblocknr == vblocknr ? &p->list[at]
							     : NULL;
}

void snapblocks_drop(struct snapblocks *p, uint64_t vblocknr)
{
	struct snapblocks_block *b = snapblocks_find(p, vblocknr);

	if (!b)
		return;
	free(b->content);
	p->n--;
	memmove(b, b + 1, (size_t)((char *)(p->list + p->n) - (char *)b));
}

int snapblocks_read(struct snapblocks *p, struct context *cx,
		    struct snapblocks_block *b, void *buf)
{
	const struct snapblocks_block *listed = snapblocks_find(p, b->vblocknr);
	struct vblock vb;
	int ret;

	if (listed) {
		memcpy(buf, listed->content, p->job->vol->geo.block_size);
		*b = *listed;
		return 1;
	}
	if (!p->vblocks.vol)
		vblocks_init(&p->vblocks, p->job->vol, NULL);
	ret = vblocks_find(&p->vblocks, cx, b->vblocknr, &vb);
	if (ret < 0)
		return ret;
	if (ret != VBLOCKS_USED || p->job->snapshots_written ||
	    vb.life.start >= vb.life.end || vb.life.end == NILFS_CNO_MAX ||
	    !geometry_has_block(&p->job->vol->geo, vb.blocknr))
		return 0;
	b->blocknr = vb.blocknr;
	b->life = vb.life;
	ret = volume_read_blocks(p->job->vol, cx, b->blocknr, 1, buf);
	if (!ret)
		return 1;
	if (ret != -EIO)
		return ret;
	fail_clear(cx);
	memset(buf, 0, p->job->vol->geo.block_size);
	return 0;
}

int snapblocks_change(struct snapblocks *p, struct context *cx,
		      const struct snapblocks_block *what, bool create,
		      struct snapblocks_block **b)
{
	struct snapblocks_block new = *what;
	size_t at;
	int ret;

	*b = snapblocks_find(p, what->vblocknr);
	if (*b)
		return 1;
	new.content = malloc(p->job->vol->geo.block_size);
	if (!new.content)
		return fail(cx, -ENOMEM, "block of a snapshot");
	ret = snapblocks_read(p, cx, &new, new.content);
	if (!ret && create && new.blocknr)
		ret = 1;
	if (ret > 0 && array_reserve(cx, &p->list, &p->room, p->n + 1))
		ret = -ENOMEM;
	if (ret <= 0) {
		free(new.content);
		return ret;
	}
	for (at = p->n++; at && p->list[at - 1].vblocknr > new.vblocknr; at--)
		p->list[at] = p->list[at - 1];
	p->list[at] = new;
	*b = p->list + at;
	return 1;
}

int snapblocks_change_in(struct snapblocks *p, struct context *cx,
			 struct file *file, uint64_t key,
			 struct snapblocks_block **b)
{
	struct snapblocks_block what = {.ino = file->ino, .key = key};
	int ret = blockmap_lookup(&file->map, cx, key, &what.vblocknr);

	return ret > 0 ? snapblocks_change(p, cx, &what, false, b) : ret;
}

/*
 * Writes the new content in place, then the matching checksum to each log that
 * has some of the blocks. A checksum that already matches, because the damage
 * came after the log was written, stays. An interruption loses nothing, because
 * the blocks were unusable.
 */
static int write_in_place(struct snapblocks *p, struct context *cx)
{
	const struct nilfs_geometry *g = &p->job->vol->geo;
	uint64_t *logs = calloc(p->n, sizeof(*logs)), at;
	struct dev *dev = p->job->dev;
	struct nilfs_segment_summary ss;
	struct segsum_crc crc;
	size_t i, n = 0;
	le32 sum;
	int ret = logs ? 0 : fail(cx, -ENOMEM, "logs of blocks");

	for (i = 0; i < p->n && ret >= 0; i++) {
		const struct snapblocks_block *b = &p->list[i];
		struct segsum_block listed = {.index = 0};

		ret = dev_write(dev, cx, b->blocknr << g->block_bits,
				b->content, g->block_size);
		if (!ret)
			ret = listings_find_block(cx, p->job->check, b->blocknr,
						  &listed);
		if (ret > 0)
			logs[n++] = b->blocknr - listed.index;
	}
	n = ret < 0 ? 0 : sort_unique(logs, n);
	/* A log that cannot be read completely has no valid checksum anyway. */
	for (i = 0; i < n && ret >= 0; i++) {
		at = logs[i] << g->block_bits;
		ret = dev_read(dev, cx, at, &ss, sizeof(ss));
		if (!ret)
			ret = logcheck_sum(dev, cx, g, logs[i], &ss, &crc);
		if (!ret && segsum_crc_check(&crc, &ss) != RULE_OK) {
			at += offsetof(struct nilfs_segment_summary,
				       ss_datasum);
			sum = le32_make(crc.sum);
			ret = dev_write(dev, cx, at, &sum, sizeof(sum));
		}
		ret = damage_forgive(cx, ret);
	}
	free(logs);
	return ret < 0 ? ret : 0;
}

struct snapwrite {
	struct snapblocks *p;
	uint64_t *cnos; /* checkpoints that may have any of the blocks */
	size_t ncnos;
	uint64_t ino;	/* the current file */
	uint64_t *keys; /* keys of the blocks to be replaced in it, ascending */
	size_t nkeys, room;
	struct sparse seen; /* blocks of the ifile that had its inode */
};

/*
 * Updates the pointers of NODE, which has blocks of the file before END: 1 if
 * one changed, 0. A node is added to the list if something below it is
 * replaced.
 */
static int replace_pointers(struct snapwrite *w, struct context *cx,
			    struct bmapnode *node, uint64_t end)
{
	uint32_t size = w->p->job->vol->geo.block_size;
	uint32_t i, count = bmapnode_count(node);
	struct snapblocks_block *b, what = {.ino = w->ino};
	struct bmapnode child;
	bool listed, changed = false;
	uint64_t next;
	size_t at;
	int ret = 0;

	what.level = node->head->bn_level - 1u;
	for (i = 0; i < count && ret >= 0; i++) {
		what.vblocknr = le64_get(node->ptrs[i]);
		what.key = le64_get(node->keys[i]);
		next = i + 1 < count ? le64_get(node->keys[i + 1]) : end;
		b = snapblocks_find(w->p, what.vblocknr);
		listed = b;
		ret = 0;
		if (!what.vblocknr ||
		    (b && (b->ino != w->ino || b->level != what.level)))
			continue;
		if (!listed) {
			at = search_lower_bound(w->keys, w->nkeys, what.key);
			if (!what.level || at == w->nkeys ||
			    w->keys[at] >= next)
				continue;
			ret = snapblocks_change(w->p, cx, &what, false, &b);
			if (ret <= 0) {
				ret = damage_forgive(cx, ret);
				continue;
			}
		}
		if (what.level && !b->number) {
			child = bmapnode_block(size, b->content);
			ret = bmap_node_check(size, b->content) == RULE_OK &&
					      child.head->bn_level ==
						      what.level
				      ? replace_pointers(w, cx, &child, next)
				      : 0;
			if (!ret && !listed)
				snapblocks_drop(w->p, what.vblocknr);
			if (ret < 0 || (!ret && !listed))
				continue;
		}
		b = snapblocks_find(w->p, what.vblocknr);
		ret = 0;
		if (!b->number) {
			const struct directwriter_block old = {
				.ino = b->ino,
				.blkoff = b->key,
				.is_node = b->level > 0,
				.vblocknr = b->vblocknr,
			};

			ret = directwriter_replace(w->p->job->writer, cx, &old,
						   b->content, &b->number);
			if (ret)
				return ret;
		}
		node->ptrs[i] = le64_make(b->number);
		changed = true;
	}
	return ret < 0 ? ret : changed;
}

/* Updates the map of INODE: 1 if it changed, 0. */
static int replace_in_map(struct snapwrite *w, struct context *cx,
			  struct nilfs_inode *inode)
{
	struct bmapnode root = bmapnode_root(inode->i_bmap);
	struct nilfs_btree_node head = {
		.bn_level = 1,
		.bn_nchildren = le16_make(NILFS_DIRECT_NBLOCKS),
	};
	le64 keys[NILFS_DIRECT_NBLOCKS];
	uint64_t i;

	if (bmap_is_btree(inode->i_bmap))
		return bmap_root_check(inode->i_bmap) != RULE_OK
			       ? 0
			       : replace_pointers(w, cx, &root, UINT64_MAX);
	for (i = 0; i < NILFS_DIRECT_NBLOCKS; i++)
		keys[i] = le64_make(i);
	root = (struct bmapnode){&head, keys, inode->i_bmap + 1,
				 NILFS_DIRECT_NBLOCKS};
	return replace_pointers(w, cx, &root, NILFS_DIRECT_NBLOCKS);
}

/* Updates the current file in checkpoint CNO, and its inode, which is in the
   ifile; that of the ifile is in the cpfile. */
static int replace_in_checkpoint(struct snapwrite *w, struct context *cx, uint64_t cno)
{
	struct volume *vol = w->p->job->vol;
	const struct palloc *palloc = &vol->ifile_palloc;
	struct snapblocks_block *b, what = {.ino = NILFS_IFILE_INO};
	struct nilfs_checkpoint cp, *to;
	struct nilfs_inode inode;
	struct root root;
	bool listed;
	void *data;
	int ret;

	if (w->ino == NILFS_IFILE_INO) {
		ret = cptable_read(vol, cx, cno, &cp);
		if (ret)
			return damage_forgive(cx, ret);
		ret = replace_in_map(w, cx, &cp.cp_ifile_inode);
		if (ret <= 0)
			return ret;
		ret = metafile_change(
			directwriter_file(w->p->job->writer, NILFS_CPFILE_INO),
			cx, checkpoint_blkoff(&vol->geo, cno), &data, NULL);
		if (ret)
			return ret;
		to = (void *)((char *)data + checkpoint_offset(&vol->geo, cno));
		memcpy(to->cp_ifile_inode.i_bmap, cp.cp_ifile_inode.i_bmap,
		       sizeof(to->cp_ifile_inode.i_bmap));
		return 0;
	}
	what.key = palloc_entry_blkoff(palloc, w->ino);
	ret = root_open(&root, cx, vol, cno);
	if (!ret)
		ret = blockmap_lookup(&root.ifile.map, cx, what.key,
				      &what.vblocknr);
	if (ret > 0)
		ret = damage_add(&w->seen, cx, what.vblocknr);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	listed = snapblocks_find(w->p, what.vblocknr);
	ret = snapblocks_change(w->p, cx, &what, false, &b);
	if (ret <= 0)
		return ret;
	data = (char *)b->content + palloc_entry_offset(palloc, w->ino);
	memcpy(&inode, data, sizeof(inode));
	ret = inode_has_bmap(&inode) ? replace_in_map(w, cx, &inode) : 0;
	if (ret > 0)
		memcpy(data, &inode, sizeof(inode));
	else if (!ret && !listed)
		snapblocks_drop(w->p, what.vblocknr);
	return ret < 0 ? ret : 0;
}

int snapblocks_write(struct snapblocks *p, struct context *cx)
{
	struct snapwrite w = {.p = p};
	uint64_t start = UINT64_MAX, end = 0, *inos;
	size_t i, j, n = 0, ninos;
	int err;

	if (!p->n)
		return 0;
	/* In place only with an undo file, and not on zones, where blocks below
	   the write pointer cannot be written. */
	if (p->job->undo && !p->job->dev->zones)
		return write_in_place(p, cx);
	inos = calloc(p->n + 1, sizeof(*inos));
	if (!inos)
		return fail(cx, -ENOMEM, "files of blocks of snapshots");
	for (i = 0; i < p->n; i++) {
		const struct lifetime *life = &p->list[i].life;

		inos[i] = p->list[i].ino;
		start = life->start < start ? life->start : start;
		end = life->end > end ? life->end : end;
	}
	/* Blocks of ifiles are added to the list, so ifiles come last. */
	ninos = sort_unique(inos, p->n);
	inos[ninos++] = NILFS_IFILE_INO;
	err = cptable_list(p->job->vol, cx, false, &w.cnos, &w.ncnos);
	for (i = 0; i < w.ncnos; i++)
		if (w.cnos[i] >= start && w.cnos[i] < end)
			w.cnos[n++] = w.cnos[i];
	w.ncnos = n;
	if (!err)
		err = sparse_init_ends(&w.seen, cx, vblocks_end(p->job->vol, cx));
	for (i = 0; i < ninos && !err; i++) {
		w.ino = inos[i];
		if (w.ino == NILFS_IFILE_INO && i + 1 < ninos)
			continue;
		w.nkeys = 0;
		for (j = 0; j < p->n && !err; j++)
			if (p->list[j].ino == w.ino)
				err = array_push(cx, &w.keys, &w.nkeys, &w.room,
						 p->list[j].key);
		sort_in_place(w.keys, w.nkeys, sizeof(*w.keys),
			      sort_compare_number);
		sparse_clear(&w.seen);
		for (j = 0; j < w.ncnos && !err; j++)
			err = replace_in_checkpoint(&w, cx, w.cnos[j]);
		if (!err)
			err = context_cancelled(cx);
	}
	p->job->snapshots_written = true;
	sparse_fini(&w.seen);
	free(w.keys);
	free(w.cnos);
	free(inos);
	return err;
}

void snapblocks_fini(struct snapblocks *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->list[i].content);
	free(p->list);
	vblocks_fini(&p->vblocks);
	*p = (struct snapblocks){.job = p->job};
}
