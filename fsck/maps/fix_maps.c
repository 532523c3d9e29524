// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair: the maps of files of the newest checkpoint.
 *
 * Nodes and roots were derived from the logs before, for all checkpoints
 * (derive/derive_nodes.c): this is for what the logs do not explain.  A broken
 * map is rebuilt as a whole: what is sound of it is kept where it is, what is
 * lost is looked for in the logs, then in older checkpoints, and what is not
 * found becomes a hole.  Several files are repaired together, as the logs are
 * read once for all of them.  Not repaired here: maps of metadata files.
 *
 * Of two pointers to one block the log that has the block says which is right.
 * The other file is among those that are repaired then, though nothing was
 * found wrong with it.  It is also asked where a tree may have lost the mark
 * that it is one, as its nodes look like blocks of the file then.
 *
 * In snapshots, a node that was overwritten and cannot be derived from the
 * remaining logs leads to nothing.  Its pointer is removed from the root, so
 * that the file has a hole there, and the block count of the inode is set to
 * that of its map.  So is a pointer of a root without nodes to a block that its
 * log has for another place.  If the wrong pointer is in a node, the map is not
 * changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/derive/holders.h"
#include "fsck/maps/mapfile.h"
#include "fsck/past/around.h"
#include "fsck/past/pastblocks.h"
#include "log/inodes.h"
#include "log/meta/bmapnode.h"
#include "vol/root.h"

#define SECTOR 512u

static int add_doubted(struct mapfiles *m, struct context *cx,
		       uint64_t vblocknr)
{
	if (array_reserve(cx, &m->doubted, &m->doubted_room, m->ndoubted + 1))
		return -ENOMEM;
	m->doubted[m->ndoubted++] = vblocknr;
	return 0;
}

static int add_file(void *arg, struct context *cx, uint64_t ino)
{
	struct mapfiles *m = arg;

	if (array_reserve(cx, &m->inos, &m->room, m->n + 1))
		return -ENOMEM;
	m->inos[m->n++] = ino;
	return 0;
}

/* The files that are to be repaired, and the blocks that are in doubt. */
static int list_files(struct mapfiles *m, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	uint64_t room = NILFS_DIRECT_NBLOCKS *
			(uint64_t)m->job->vol->geo.block_size;
	struct nilfs_inode inode;
	unsigned int key;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (fixes[i].place.cno == m->job->vol->latest.cno)
			err = add_file(m, cx, fixes[i].place.ino);
		if (!err && fixes[i].rule == RULE_BMAP_TWICE)
			err = add_doubted(m, cx, fixes[i].got);
	}
	m->n = sort_unique(m->inos, m->n);
	for (i = 0; i < m->n && !err; i++) {
		err = inodes_read(m->job->writer, cx, m->inos[i], &inode);
		if (err) {
			err = damage_forgive(cx, err);
			continue;
		}
		/* A direct map has no room for as much: it may be a tree. */
		if (!inode_has_bmap(&inode) || bmap_is_btree(inode.i_bmap) ||
		    le64_get(inode.i_size) <= room)
			continue;
		for (key = 1; key <= NILFS_DIRECT_NBLOCKS && !err; key++)
			err = add_doubted(m, cx, le64_get(inode.i_bmap[key]));
	}
	m->ndoubted = sort_unique(m->doubted, m->ndoubted);
	if (!err && m->n)
		err = holders_of(m->job->vol, cx, 0, m->doubted, m->ndoubted,
				   add_file, m);
	m->n = sort_unique(m->inos, m->n);
	return err;
}

/* The inodes of the files, without those that cannot be read. */
static int read_inodes(struct mapfiles *m, struct context *cx)
{
	uint32_t block_size = m->job->vol->geo.block_size;
	size_t i, n = 0;
	int err;

	m->list = calloc(m->n ? m->n : 1, sizeof(*m->list));
	m->live = calloc(m->n ? m->n : 1, sizeof(*m->live));
	if (!m->list || !m->live)
		return fail(cx, -ENOMEM, "%zu files", m->n);
	for (i = 0; i < m->n; i++) {
		struct mapfile *f = &m->list[n];
		uint16_t mode;

		err = inodes_read(m->job->writer, cx, m->inos[i], &f->inode);
		if (damage_forgive(cx, err))
			return err;
		if (err)
			continue;
		mode = le16_get(f->inode.i_mode);
		f->is_dir = S_ISDIR(mode);
		f->is_link = S_ISLNK(mode);
		f->live = &m->live[n++];
		f->live->q = (struct liveblocks_question){
			.ino = m->inos[i],
			.inode = &f->inode,
			.cno = m->job->vol->latest.cno,
			.missing = true,
			.limit = f->is_link ? 1 :
				 div_round_up(le64_get(f->inode.i_size),
					      block_size),
			.dense = f->is_dir || f->is_link,
			.is_dir = f->is_dir,
			.doubted = m->doubted,
			.ndoubted = m->ndoubted,
		};
	}
	m->n = n;
	return 0;
}

/* Checkpoints that are asked for the size of a file. */
#define ASK_MOST 16

/*
 * The size of F, whose last block is LAST, as the nearest checkpoint that has it
 * with the same map says, or else all of that block.
 */
static int find_size(struct mapfiles *m, struct context *cx,
		     const struct mapfile *f, uint64_t last, uint64_t *size)
{
	struct volume *vol = m->job->vol;
	struct around around = { 0 };
	struct nilfs_inode inode;
	unsigned int asked = 0;
	uint64_t cno, was;
	struct root root;
	int ret = around_open(&around, cx, vol);

	*size = (last + 1) << vol->geo.block_bits;
	around_begin(&around,
		     (struct lifetime){ vol->latest.cno, NILFS_CNO_MAX });
	while (ret >= 0 && asked++ < ASK_MOST &&
	       (ret = around_next(&around, cx, &cno)) > 0) {
		ret = root_open(&root, cx, vol, cno);
		if (!ret)
			ret = root_inode_bytes(&root, cx, f->live->q.ino,
					       &inode);
		ret = damage_forgive(cx, ret);
		if (ret <= 0 || !inode_is_same_file(&inode, &f->inode) ||
		    memcmp(inode.i_bmap, f->inode.i_bmap,
			   sizeof(inode.i_bmap)))
			continue;
		was = le64_get(inode.i_size);
		if (was > *size || was <= last << vol->geo.block_bits)
			continue;
		*size = was;
		break;
	}
	around_close(&around);
	return ret < 0 ? ret : 0;
}

/*
 * Block LAST, which F's map leads to, is past its size: the size is wrong where
 * the log of the block has it for this place.
 */
static int extend_size(struct mapfiles *m, struct context *cx,
		       struct mapfile *f, uint64_t last)
{
	struct volume *vol = m->job->vol;
	uint64_t ino = f->live->q.ino, size, blocknr;
	struct segsum_block b = { .ino = 0 };
	struct file file;
	int ret;

	if (last >= (uint64_t)INT64_MAX >> vol->geo.block_bits)
		return 0;
	ret = file_init(&file, cx, vol, ino, &f->inode);
	if (!ret)
		ret = file_lookup(&file, cx, last, &blocknr);
	if (ret > 0)
		ret = lifelogs_find_block(cx, m->job->check, blocknr, &b, NULL);
	if (ret <= 0 || b.ino != ino || b.is_node || b.blkoff != last)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	ret = find_size(m, cx, f, last, &size);
	if (ret)
		return ret;
	f->inode.i_size = le64_make(size);
	f->live->q.limit = last + 1;
	fixers_note(m->job, "inode %" PRIu64 ": its size is %" PRIu64 " now, "
		    "as it has blocks up to there", ino, size);
	return inodes_write(m->job->writer, cx, ino, &f->inode);
}

static int compare_file(const void *key, const void *item)
{
	const uint64_t *ino = key;
	const struct mapfile *f = item;

	return *ino < f->live->q.ino ? -1 : *ino > f->live->q.ino;
}

/*
 * What findings say of files: that they have more blocks than were found, or
 * blocks past their size, for which a symbolic link has no room.
 */
static int doubt_files(struct mapfiles *m, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	struct mapfile *f;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct fix *fix = &fixes[i];

		if (fix->place.cno != m->job->vol->latest.cno)
			continue;
		f = bsearch(&fix->place.ino, m->list, m->n, sizeof(*f),
			    compare_file);
		if (f && fix->rule == RULE_INODE_BLOCKS)
			f->live->q.dense |= fix->got > fix->want;
		else if (f && fix->rule == RULE_INODE_PAST_SIZE && !f->is_link)
			err = extend_size(m, cx, f, fix->got - 1);
	}
	return err;
}

/* A hole is doubted: justly where the logs have a block for it. */
static bool is_broken(const struct mapfile *f)
{
	const struct liveblocks *l = f->live;

	if (f->is_dir && l->end != l->q.limit)
		return true;
	return !liveblocks_is_whole(l) || l->n ||
	       ((f->is_dir || f->is_link) && l->ngaps);
}

static int repair_file(struct mapfiles *m, struct context *cx,
		       struct mapfile *f)
{
	uint64_t unit = m->job->vol->geo.block_size / SECTOR;
	uint64_t ino = f->live->q.ino, blocks = f->live->nmapped;
	uint64_t want = blocks * unit, got = le64_get(f->inode.i_blocks);
	int err = context_cancelled(cx);

	if (err)
		return err;
	if (inode_has_bmap(&f->inode) && is_broken(f))
		return maprebuild_run(m, cx, f);
	/* The map is sound, and the inode counts its blocks wrong.  A block of
	   the root may count as a sector (check/inodes/inodescan.c). */
	if (got == want ||
	    (ino == NILFS_ROOT_INO && got == want - unit + 1))
		return 0;
	f->inode.i_blocks = le64_make(want);
	fixers_note(m->job, "inode %" PRIu64 ": has %" PRIu64 " blocks, as it "
		    "says now", ino, blocks);
	return inodes_write(m->job->writer, cx, ino, &f->inode);
}

/* All that is listed, of which N FIXES are. */
static int repair_files(struct mapfiles *m, struct context *cx,
			const struct fix *fixes, size_t n)
{
	size_t i;
	int err = read_inodes(m, cx);

	if (err)
		return err;
	err = doubt_files(m, cx, fixes, n);
	if (!err)
		err = liveblocks_gather_all(m->live, m->n, cx, m->job->check);
	for (i = 0; i < m->n && !err; i++)
		err = repair_file(m, cx, &m->list[i]);
	return err;
}

static void fini_files(struct mapfiles *m)
{
	size_t i;

	for (i = 0; m->live && i < m->n; i++)
		liveblocks_fini(&m->live[i]);
	free(m->live);
	free(m->list);
	free(m->inos);
	free(m->doubted);
}

/* Whether BLOCKNR can be what child I of ROOT, of the map of INO, leads to: a
   node, or the block that its log has for this place.  1, 0. */
static int is_child(struct fixer_job *job, struct context *cx, uint64_t ino,
		    const struct bmap_node *root, uint32_t i, uint64_t blocknr)
{
	struct segsum_block b;
	const void *block;
	int ret;

	if (root->level == NILFS_BTREE_LEVEL_NODE_MIN) {
		ret = lifelogs_find_block(cx, job->check, blocknr, &b, NULL);
		if (ret <= 0)
			return ret ? ret : 1;
		return b.ino == ino && !b.is_node &&
		       b.blkoff == bmap_node_key(root, i) &&
		       b.vblocknr == bmap_node_ptr(root, i);
	}
	ret = cache_get(job->vol->cache, cx, blocknr, &block);
	if (ret)
		return ret;
	ret = bmap_node_check(job->vol->geo.block_size, block) == RULE_OK;
	cache_put(job->vol->cache, block);
	return ret;
}

/*
 * Makes INODE, of file INO of a snapshot, what is left: its root without the
 * pointers that are wrong, as many blocks as its map has.  1, 0 where that is
 * what it is.
 */
static int cut_inode(struct fixer_job *job, struct context *cx, uint64_t cno,
		     uint64_t ino, struct nilfs_inode *inode)
{
	uint32_t size = job->vol->geo.block_size, i, n = 0;
	struct nilfs_inode left = *inode;
	struct bmapnode to = bmapnode_root(left.i_bmap);
	struct bmap_node root = { .nchildren = 0 };
	struct blockmap_cursor cur;
	struct blockmap_item item;
	uint64_t blocknr, blocks = 0;
	struct file file;
	int ret;

	if (!inode_has_bmap(inode))
		return 0;
	ret = file_init(&file, cx, job->vol, ino, inode);
	if (!ret && bmap_is_btree(inode->i_bmap) &&
	    bmap_root_check(inode->i_bmap) == RULE_OK) {
		bmap_root_read(inode->i_bmap, &root);
		bmapnode_init_root(&to, root.level);
		for (i = 0; i < root.nchildren && ret >= 0; i++) {
			uint64_t ptr = bmap_node_ptr(&root, i);

			ret = blockmap_resolve(&file.map, cx, ptr, &blocknr);
			if (!ret)
				ret = is_child(job, cx, ino, &root, i, blocknr);
			if (ret > 0)
				bmapnode_insert(&to, n++,
						bmap_node_key(&root, i), ptr);
		}
		if (!n)
			memset(left.i_bmap, 0, sizeof(left.i_bmap));
	}
	if (ret >= 0)
		ret = file_init(&file, cx, job->vol, ino, &left);
	if (ret)
		return ret;
	ret = blockmap_cursor_open(&cur, cx, &file.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		blocks++;
	}
	blockmap_cursor_close(&cur);
	left.i_blocks = le64_make(blocks * (size / SECTOR));
	if (ret || !memcmp(inode, &left, sizeof(left)))
		return ret;
	if (root.nchildren > n)
		fixers_note(job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": what %" PRIu32 " of its %s led to is lost", cno,
			    ino, root.nchildren - n,
			    root.level > NILFS_BTREE_LEVEL_NODE_MIN ?
				    "nodes" : "pointers");
	*inode = left;
	return 1;
}

/* File INO of snapshot CNO, in the block of the ifile with its inode. */
static int cut_file(struct pastblocks *past, struct context *cx, uint64_t cno,
		    uint64_t ino)
{
	const struct palloc *p = &past->job->vol->ifile_palloc;
	struct pastblocks_block *b;
	size_t n = past->n;
	struct root root;
	int ret = root_open(&root, cx, past->job->vol, cno);

	if (!ret)
		ret = pastblocks_change_in(past, cx, &root.ifile,
					   palloc_entry_blkoff(p, ino), false,
					   &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = cut_inode(past->job, cx, cno, ino, (struct nilfs_inode *)(
		(char *)b->content + palloc_entry_offset(p, ino)));
	if (ret <= 0 && past->n > n)
		pastblocks_drop(past, b->vblocknr);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

/* The maps of files of snapshots that these N findings are about. */
static int cut_files(struct fixer_job *job, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	struct pastblocks past = { .job = job };
	const struct place *last = NULL;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct place *at = &fixes[i].place;

		if (!at->cno || at->cno == job->vol->latest.cno ||
		    inode_is_metadata(at->ino) ||
		    (last && at->cno == last->cno && at->ino == last->ino))
			continue;
		last = at;
		err = cut_file(&past, cx, at->cno, at->ino);
	}
	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	return err;
}

int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n)
{
	struct mapfiles m = {
		.job = job, .logs_whole = listings_are_whole(job->check),
	};
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_file(&m, cx, inos[i]);
	m.n = sort_unique(m.inos, m.n);
	if (!err)
		err = repair_files(&m, cx, NULL, 0);
	fini_files(&m);
	return err;
}

int fix_maps(struct fixer_job *job, struct context *cx,
	     const struct fix *fixes, size_t n)
{
	struct mapfiles m = {
		.job = job, .logs_whole = listings_are_whole(job->check),
	};
	int err = list_files(&m, cx, fixes, n);

	if (!err)
		err = repair_files(&m, cx, fixes, n);
	/* All logs together say what was there. */
	if (!err && !m.logs_whole)
		err = cut_files(job, cx, fixes, n);
	fini_files(&m);
	return err;
}
