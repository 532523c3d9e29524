// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair: the maps of files of the newest checkpoint.
 *
 * A broken map is rebuilt as a whole: what is sound of it is kept where it
 * is, what is lost is looked for in the logs, then in older checkpoints, and
 * what is not found becomes a hole.  Several files are repaired together, as
 * the logs are read once for all of them.
 *
 * Of two pointers to one block the log that has the block says which is right.
 * The other file is among those that are repaired then, though nothing was
 * found wrong with it.  It is also asked where a tree may have lost the mark
 * that it is one, as its nodes look like blocks of the file then.
 *
 * Before that nodes and roots are derived from the logs, for all checkpoints
 * (derive/derive_nodes.c): this is for what they do not explain.  Of snapshots
 * that is what went with a log.  Not repaired here: maps of
 * metadata files.
 *
 * Maps of files in snapshots with a part that is lost.
 *
 * A node that was overwritten, and cannot be derived from the remaining logs
 * (derive/derive_nodes.c), leads to nothing.  Its pointer is removed from the
 * root, so that the file has a hole there, and the block count of the inode is
 * set to that of its map.  If the pointer to a broken node is in another node,
 * the map is not changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/context.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/derive/contests.h"
#include "fsck/maps/mapfile.h"
#include "fsck/past/around.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "log/inodes.h"
#include "log/meta/bmapnode.h"
#include "vol/file.h"
#include "vol/root.h"

#define SECTOR 512u

struct pastmaps {
	struct pastblocks past;
	struct volume *vol;
	uint64_t cno, ino;
};

/* Whether there is a node at BLOCKNR: 1, 0, or a failure. */
static int is_node(struct pastmaps *m, struct context *cx, uint64_t blocknr)
{
	const void *block;
	int ret = cache_get(m->vol->cache, cx, blocknr, &block);

	if (ret)
		return ret;
	ret = bmap_node_check(m->vol->geo.block_size, block) == RULE_OK;
	cache_put(m->vol->cache, block);
	return ret;
}

/* The root of FILE without the pointers to what is no node: *CUT of them. */
static int cut_file(struct pastmaps *m, struct context *cx, struct file *file,
		    le64 map[NILFS_INODE_BMAP_SIZE], uint32_t *cut)
{
	struct bmapnode to = bmapnode_root(map);
	struct bmap_node root;
	uint64_t blocknr;
	uint32_t i, n = 0;
	int ret = 1;

	bmap_root_read(file->inode.i_bmap, &root);
	bmapnode_init_root(&to, root.level);
	for (i = 0; i < root.nchildren && ret >= 0; i++) {
		uint64_t ptr = bmap_node_ptr(&root, i);

		ret = blockmap_resolve(&file->map, cx, ptr, &blocknr);
		ret = ret ? ret : is_node(m, cx, blocknr);
		if (ret > 0)
			bmapnode_insert(&to, n++, bmap_node_key(&root, i), ptr);
	}
	*cut = root.nchildren - n;
	if (!n)
		memset(map, 0, sizeof(file->inode.i_bmap));
	return ret < 0 ? ret : 0;
}

/* As many blocks as the map of INODE has. */
static int count_left(struct pastmaps *m, struct context *cx,
		      struct nilfs_inode *inode)
{
	uint64_t unit = m->vol->geo.block_size / SECTOR, n = 0;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct file file;
	int ret = file_init(&file, cx, m->vol, m->ino, inode);

	if (ret)
		return ret;
	ret = blockmap_cursor_open(&cur, cx, &file.map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		n++;
	}
	blockmap_cursor_close(&cur);
	if (!ret)
		inode->i_blocks = le64_make(n * unit);
	return ret;
}

/* Makes INODE what is left: 1, 0 where that is what it is. */
static int repair_inode(struct pastmaps *m, struct context *cx,
			struct nilfs_inode *inode)
{
	struct nilfs_inode left = *inode;
	struct file file;
	uint32_t lost = 0;
	int err;

	if (!inode_has_bmap(inode))
		return 0;
	err = file_init(&file, cx, m->vol, m->ino, inode);
	if (!err && bmap_is_btree(inode->i_bmap) &&
	    bmap_root_check(inode->i_bmap) == RULE_OK)
		err = cut_file(m, cx, &file, left.i_bmap, &lost);
	if (!err)
		err = count_left(m, cx, &left);
	if (err || !memcmp(inode, &left, sizeof(left)))
		return err;
	if (lost)
		fixers_note(m->past.job, "checkpoint %" PRIu64 ": inode %"
			    PRIu64 ": what %" PRIu32 " of its nodes led to is "
			    "lost", m->cno, m->ino, lost);
	*inode = left;
	return 1;
}

/* The current file, in the block of the ifile with its inode. */
static int repair_past_file(struct pastmaps *m, struct context *cx)
{
	const struct palloc *p = &m->vol->ifile_palloc;
	struct pastblocks_block *b;
	size_t n = m->past.n;
	struct root root;
	int ret = root_open(&root, cx, m->vol, m->cno);

	if (!ret)
		ret = pastblocks_change_in(&m->past, cx, &root.ifile,
					   palloc_entry_blkoff(p, m->ino),
					   false, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = repair_inode(m, cx, (struct nilfs_inode *)(
		(char *)b->content + palloc_entry_offset(p, m->ino)));
	if (ret <= 0 && m->past.n > n)
		pastblocks_drop(&m->past, b->vblocknr);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

/*
 * Removes pointers to invalid nodes from the maps of these N findings: 0, or as
 * pastblocks_write().
 */
static int pastmaps_repair(struct fixer_job *job, struct context *cx,
			   const struct fix *fixes, size_t n)
{
	struct pastmaps m = { .past.job = job, .vol = job->vol };
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		const struct place *place = &fixes[i].place;

		if (!place->cno || place->cno == job->vol->latest.cno ||
		    inode_is_metadata(place->ino) ||
		    (place->cno == m.cno && place->ino == m.ino))
			continue;
		m.cno = place->cno;
		m.ino = place->ino;
		err = repair_past_file(&m, cx);
	}
	if (!err)
		err = pastblocks_write(&m.past, cx);
	pastblocks_fini(&m.past);
	return err;
}

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

/* INO has its map in its inode, where it has room for fewer blocks. */
static int doubt_direct(struct mapfiles *m, struct context *cx, uint64_t ino)
{
	uint64_t room = NILFS_DIRECT_NBLOCKS *
			(uint64_t)m->job->vol->geo.block_size;
	struct nilfs_inode inode;
	unsigned int i;
	int err = inodes_read(m->job->writer, cx, ino, &inode);

	if (err)
		return damage_forgive(cx, err);
	if (!inode_has_bmap(&inode) || bmap_is_btree(inode.i_bmap) ||
	    le64_get(inode.i_size) <= room)
		return 0;
	for (i = 1; i <= NILFS_DIRECT_NBLOCKS && !err; i++)
		err = add_doubted(m, cx, le64_get(inode.i_bmap[i]));
	return err;
}

/* The files that are to be repaired, and the blocks that are in doubt. */
static int list_files(struct mapfiles *m, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	uint64_t latest = m->job->vol->latest.cno;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (fixes[i].place.cno == latest)
			err = add_file(m, cx, fixes[i].place.ino);
		if (!err && fixes[i].rule == RULE_BMAP_TWICE)
			err = add_doubted(m, cx, fixes[i].got);
	}
	m->n = sort_unique(m->inos, m->n);
	for (i = 0; i < m->n && !err; i++)
		err = doubt_direct(m, cx, m->inos[i]);
	m->ndoubted = sort_unique(m->doubted, m->ndoubted);
	if (!err && m->n)
		err = contests_ask(m->job->vol, cx, 0, m->doubted, m->ndoubted,
				   add_file, m);
	m->n = sort_unique(m->inos, m->n);
	return err;
}

/* Takes over the inode: 1, 0 where it cannot be read. */
static int read_inode(struct mapfiles *m, struct context *cx, uint64_t ino,
		      struct mapfile *f)
{
	uint32_t block_size = m->job->vol->geo.block_size;
	uint64_t limit;
	uint16_t mode;
	int err = inodes_read(m->job->writer, cx, ino, &f->inode);

	if (err)
		return damage_forgive(cx, err);
	limit = div_round_up(le64_get(f->inode.i_size), block_size);
	mode = le16_get(f->inode.i_mode);
	f->is_dir = S_ISDIR(mode);
	f->is_link = S_ISLNK(mode);
	f->live->q = (struct liveblocks_question){
		.ino = ino,
		.inode = &f->inode,
		.cno = m->job->vol->latest.cno,
		.missing = true,
		.limit = f->is_link ? 1 : limit,
		.dense = f->is_dir || f->is_link,
		.is_dir = f->is_dir,
		.doubted = m->doubted,
		.ndoubted = m->ndoubted,
	};
	return 1;
}

/* The inodes of the files, without those that cannot be read. */
static int read_inodes(struct mapfiles *m, struct context *cx)
{
	size_t i, n = 0;
	int ret = 0;

	m->list = calloc(m->n ? m->n : 1, sizeof(*m->list));
	m->live = calloc(m->n ? m->n : 1, sizeof(*m->live));
	if (!m->list || !m->live)
		return fail(cx, -ENOMEM, "%zu files", m->n);
	for (i = 0; i < m->n && ret >= 0; i++) {
		m->list[n].live = &m->live[n];
		ret = read_inode(m, cx, m->inos[i], &m->list[n]);
		n += ret > 0;
	}
	m->n = n;
	return ret < 0 ? ret : 0;
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

/* A map that is sound, and an inode that counts its blocks wrong. */
static int count_blocks(struct mapfiles *m, struct context *cx,
			struct mapfile *f)
{
	uint64_t unit = m->job->vol->geo.block_size / SECTOR;
	uint64_t ino = f->live->q.ino, blocks = f->live->nmapped;
	uint64_t want = blocks * unit, got = le64_get(f->inode.i_blocks);

	if (got == want ||
	    (ino == NILFS_ROOT_INO && got == want - unit + 1))
		return 0;
	f->inode.i_blocks = le64_make(want);
	fixers_note(m->job, "inode %" PRIu64 ": has %" PRIu64 " blocks, as it "
		    "says now", ino, blocks);
	return inodes_write(m->job->writer, cx, ino, &f->inode);
}

static int repair_file(struct mapfiles *m, struct context *cx,
		       struct mapfile *f)
{
	int err = context_cancelled(cx);

	if (err || !inode_has_bmap(&f->inode) || !is_broken(f))
		return err ? err : count_blocks(m, cx, f);
	err = mapsearch_older(m, cx, f);
	return err ? err : maprebuild_run(m, cx, f);
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

static struct mapfiles begin_files(struct fixer_job *job)
{
	return (struct mapfiles){
		.job = job,
		.logs_whole = listings_are_whole(job->check),
	};
}

int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n)
{
	struct mapfiles m = begin_files(job);
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
	struct mapfiles m = begin_files(job);
	int err = list_files(&m, cx, fixes, n);

	if (!err)
		err = repair_files(&m, cx, fixes, n);
	/* All logs together say what was there. */
	if (!err && !m.logs_whole)
		err = pastmaps_repair(job, cx, fixes, n);
	fini_files(&m);
	return err;
}
