// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ifiles, one checkpoint after the other.
 *
 * The calling thread walks the map of an ifile, about a thousandth of the data,
 * and collects the new blocks of inodes.  Workers, each with its own volume and
 * cache, process them in batches.  All workers add to the same sets.
 *
 * The allocator is checked completely for the first checkpoint, and for the
 * others if part of a group is new.  Blocks of inodes that are not new were
 * checked with the bitmaps of another checkpoint: they are checked again if an
 * inode is marked differently.
 *
 * Inodes in use are counted in the bitmaps; the descriptors are compared with
 * the counts.  The place of the last counted bitmap of each group is kept, and
 * a bitmap at the same place is not counted again.
 */
#include "check/inodes/ifilewalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pool.h"
#include "base/search.h"
#include "check/check.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "vol/ahead.h"

#define BATCH_BLOCKS 4096u
#define JOB_BLOCKS 16u
#define NODES_AHEAD 1024u
#define NO_GROUP UINT64_MAX

/* A new block of inodes. */
struct ifilewalk_block {
	uint64_t blkoff, blocknr;
	struct lifetime life;
};

/* The last counted bitmap of a group. */
struct ifilewalk_group {
	uint64_t number;	/* first: the sort key */
	uint64_t blocknr;	/* 0: not counted yet */
	uint32_t bits;		/* number of bits set */
	uint32_t reserved;	/* of these, bits of numbers that are no inodes */
};

struct ifilewalk_worker {
	struct pointers pointers;
	struct file ifile;
	const void *bitmap;	/* borrowed, NULL: cannot be read */
	uint64_t group;		/* group of BITMAP, or NO_GROUP */
};

int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, uint64_t end)
{
	struct volume *vol = check->vol;
	int err;

	*w = (struct ifilewalk){ .check = check, .least = UINT64_MAX,
				 .due_entries = NO_GROUP,
				 .due_counts = NO_GROUP };
	pointers_init(&w->pointers, check, vol, &w->reported);
	err = sparse_init_ends(&check->referenced, cx, end) ?:
	      sparse_init_ends(&w->walk, cx, end) ?:
	      sparse_init_ends(&w->reported, cx, end);
	if (err)
		return err;
	w->workers = calloc(cx->threads, sizeof(*w->workers));
	w->blocks = malloc(BATCH_BLOCKS * sizeof(*w->blocks));
	if (!w->workers || !w->blocks)
		return fail(cx, -ENOMEM, "blocks of inodes");
	for (; w->nworkers < cx->threads && !err; w->nworkers++) {
		struct ifilewalk_worker *worker = &w->workers[w->nworkers];

		if (w->nworkers) {
			vol = NULL;
			err = check_open_again(check, cx, cx->threads, &vol);
		}
		worker->group = NO_GROUP;
		pointers_init(&worker->pointers, check, vol, &w->reported);
	}
	return err;
}

static void drop_bitmap(struct ifilewalk_worker *worker)
{
	if (worker->bitmap)
		file_put(&worker->ifile, worker->bitmap);
	worker->bitmap = NULL;
	worker->group = NO_GROUP;
}

void ifilewalk_fini(struct ifilewalk *w)
{
	unsigned int i;

	for (i = 0; i < w->nworkers; i++) {
		pointers_fini(&w->workers[i].pointers);
		if (i)
			volume_close(w->workers[i].pointers.vol);
	}
	pointers_fini(&w->pointers);
	sparse_fini(&w->walk);
	sparse_fini(&w->reported);
	free(w->workers);
	free(w->blocks);
	free(w->counted);
}

/*
 * Reads N blocks from B on into the cache, and announces the nodes that they
 * refer to.  The walk of a map reads each node when it gets there, one map
 * after the other, and most maps have one or two nodes.  So these are announced
 * to the device at once, in disk order, as far as there is room.  Nodes below
 * them, in large files, are contiguous and are read in large pieces anyway.
 * Wrong roots are reported elsewhere.
 */
static int ifilewalk_read_blocks(struct ifilewalk_worker *worker,
				 struct context *cx,
				 const struct ifilewalk_block *b, uint32_t n)
{
	struct vblocks *vblocks = &worker->pointers.vblocks[1];
	const struct palloc *p = &vblocks->vol->ifile_palloc;
	struct cache *cache = vblocks->vol->cache;
	struct ahead ahead = ahead_of(vblocks->vol);
	uint64_t places[NODES_AHEAD];	/* ascending */
	const struct nilfs_inode *inode;
	uint32_t i, k, c, at, row, nplaces = 0;
	struct bmap_node root;
	struct vblock vb;
	const void *data;
	int state = 0;

	for (i = 0; i < n; i += row) {
		row = 1;
		while (i + row < n && b[i + row].blocknr == b[i].blocknr + row)
			row++;
		cache_readahead(cache, cx, b[i].blocknr, row);
	}
	for (i = 0; i < n && state >= 0; i++) {
		if (cache_get(cache, cx, b[i].blocknr, &data)) {
			fail_clear(cx);
			continue;
		}
		for (k = 0; k < p->entries_per_block && state >= 0; k++) {
			inode = (const void *)((const char *)data +
					       (size_t)k * p->entry_size);
			if (!le16_get(inode->i_links_count) ||
			    !inode_has_bmap(inode) ||
			    !bmap_is_btree(inode->i_bmap) ||
			    bmap_root_check(inode->i_bmap) != RULE_OK)
				continue;
			bmap_root_read(inode->i_bmap, &root);
			if (root.level == NILFS_BTREE_LEVEL_NODE_MIN)
				continue;
			for (c = 0; c < root.nchildren &&
				    nplaces < NODES_AHEAD; c++) {
				state = vblocks_find(vblocks, cx,
						     bmap_node_ptr(&root, c),
						     &vb);
				if (state < 0)
					break;
				if (!geometry_has_block(&vblocks->vol->geo,
							vb.blocknr))
					continue;
				/* A new place is mostly the greatest. */
				for (at = nplaces++; at && places[at - 1] >
						     vb.blocknr; at--)
					places[at] = places[at - 1];
				places[at] = vb.blocknr;
			}
		}
		cache_put(cache, data);
	}
	for (i = 0; i < nplaces; i++)
		ahead_add(&ahead, places[i], 1);
	ahead_end(&ahead);
	return state < 0 ? state : 0;
}

static int ifilewalk_run_job(struct context *cx, void *arg, unsigned int number,
			     uint64_t job)
{
	struct ifilewalk *w = arg;
	struct ifilewalk_worker *worker = &w->workers[number];
	struct volume *vol = worker->pointers.vol;
	const struct palloc *palloc = &vol->ifile_palloc;
	const struct ifilewalk_block *b = w->blocks + job * JOB_BLOCKS;
	uint32_t n = w->nblocks - (uint32_t)job * JOB_BLOCKS;
	const struct ifilewalk_block *end = b + (n < JOB_BLOCKS ? n :
						 JOB_BLOCKS);
	struct pointers_block block = { .before = w->before };
	struct palloc_block what;
	const void *data;
	int ret = ifilewalk_read_blocks(worker, cx, b, (uint32_t)(end - b));

	for (; b < end && !ret; b++) {
		ret = cache_get(vol->cache, cx, b->blocknr, &data);
		if (ret == -EIO) {
			findings_failed(w->check->findings, cx,
					RULE_DEV_UNREADABLE,
					place_map(worker->pointers.cno,
						  NILFS_IFILE_INO, b->blkoff,
						  0));
			worker->pointers.partial |= POINTERS_LOST;
			ret = 0;
			continue;
		}
		if (ret)
			break;
		palloc_locate(palloc, b->blkoff, &what);
		block.first = what.first;
		block.count = (uint32_t)what.count;
		block.life = b->life;
		if (worker->group != what.group) {
			drop_bitmap(worker);
			ret = file_block(&worker->ifile, cx,
					 palloc_bitmap_blkoff(palloc,
							      what.group),
					 &worker->bitmap);
			if (ret <= 0)
				worker->bitmap = NULL;
			if (!damage_is_fatal(ret)) {
				fail_clear(cx);
				worker->group = what.group;
				ret = 0;
			}
		}
		if (!ret)
			ret = pointers_scan_inodes(&worker->pointers, cx,
						   &block, data,
						   worker->bitmap);
		cache_put_spent(vol->cache, data);
	}
	return ret;
}

static int ifilewalk_run_batch(struct ifilewalk *w, struct context *cx)
{
	struct ahead ahead = ahead_of(w->check->vol);
	uint64_t jobs = (w->nblocks + JOB_BLOCKS - 1) / JOB_BLOCKS;
	const struct pointers *scan;
	uint32_t i;
	int err;

	for (i = 0; i < w->nblocks; i++)
		ahead_add(&ahead, w->blocks[i].blocknr, 1);
	ahead_end(&ahead);
	err = pool_run(cx, jobs, ifilewalk_run_job, w);
	w->nblocks = 0;
	w->total_inodes = w->total_blocks = 0;
	for (i = 0; i < w->nworkers; i++) {
		scan = &w->workers[i].pointers;
		w->total_inodes += scan->total_inodes;
		w->total_blocks += scan->total_blocks;
		w->partial |= scan->partial;
		if (scan->least < w->least)
			w->least = scan->least;
	}
	check_progress(w->check, w->total_inodes);
	return err;
}

/* The index of GROUP in w->counted, or where to insert it; *HAS: it was found. */
static size_t find_group(const struct ifilewalk *w, uint64_t group, bool *has)
{
	size_t at = search_number(w->counted, w->ncounted, sizeof(*w->counted),
				  group);

	*has = at < w->ncounted && w->counted[at].number == group;
	return at;
}

static bool is_counted(void *arg, uint64_t group, uint64_t blocknr,
		       uint32_t *used)
{
	const struct ifilewalk *w = arg;
	bool has;
	size_t at = find_group(w, group, &has);

	if (!has || w->counted[at].blocknr != blocknr)
		return false;
	*used = w->counted[at].bits;
	return true;
}

/* Counts the inodes in use in the current ifile: 1, 0 if a bitmap cannot be
   read. */
static int count_used_inodes(struct ifilewalk *w, struct context *cx,
			     uint64_t *used)
{
	const struct palloc *palloc = w->groups.palloc;
	struct ifilewalk_group *g;
	const void *bitmap;
	uint64_t blocknr;
	uint32_t ino;
	int ret;

	for (g = w->counted; g < w->counted + w->ncounted; g++) {
		ret = file_lookup(&w->ifile, cx,
				  palloc_bitmap_blkoff(palloc, g->number),
				  &blocknr);
		if (!ret)
			continue;
		if (ret > 0 && g->blocknr == blocknr) {
			*used += g->bits - g->reserved;
			continue;
		}
		if (ret > 0)
			ret = cache_get(w->ifile.vol->cache, cx, blocknr,
					&bitmap);
		if (ret)
			return damage_forgive(cx, ret);
		g->blocknr = blocknr;
		g->bits = palloc_count(palloc, bitmap);
		g->reserved = 0;
		/* Reserved numbers except the root are no inodes. */
		for (ino = 0; !g->number && ino < NILFS_USER_INO; ino++)
			g->reserved += ino != NILFS_ROOT_INO &&
				       palloc_bit(bitmap, ino);
		cache_put(w->ifile.vol->cache, bitmap);
		*used += g->bits - g->reserved;
	}
	return 1;
}

/* Runs the checks of the allocator that are due.  In the first checkpoint all
   of it is checked later. */
static int check_due(struct ifilewalk *w, struct context *cx)
{
	bool later = !w->pointers.walk;
	int err = 0;

	if (!later && w->due_counts != NO_GROUP)
		err = groups_check_counts(&w->groups, cx, w->due_counts);
	if (!later && !err && w->due_entries != NO_GROUP)
		err = groups_check_entries(&w->groups, cx, w->due_entries);
	w->due_counts = w->due_entries = NO_GROUP;
	return err;
}

/*
 * A new block of the ifile makes the checks of its group due.  A block of
 * inodes is added to the next batch.
 */
static int ifilewalk_visit_pointer(void *arg, struct context *cx,
				   const struct mapcheck_pointer *p,
				   uint64_t *blocknr, struct lifetime *life)
{
	struct ifilewalk *w = arg;
	struct palloc_block what;
	struct vblock target;
	bool has = true;
	size_t at = 0;
	int err = 0, ret;

	w->sums.own++;
	ret = pointers_check(&w->pointers, cx, p, &target);
	if (ret <= 0)
		return ret;
	*blocknr = target.blocknr;
	*life = target.life;
	if (p->level) {
		pointers_read_node(&w->pointers, cx, target.blocknr);
		return 1;
	}
	palloc_locate(&w->check->vol->ifile_palloc, p->key, &what);
	if (w->due_entries != NO_GROUP && w->due_entries != what.group)
		err = check_due(w, cx);
	if (what.kind != PALLOC_ENTRIES)
		w->due_counts = what.group;
	if (what.kind != PALLOC_DESC)
		w->due_entries = what.group;
	if (what.kind == PALLOC_BITMAP)
		at = find_group(w, what.group, &has);
	if (!err && !has)
		err = array_reserve(cx, &w->counted, &w->room, w->ncounted + 1);
	if (!err && !has) {
		memmove(w->counted + at + 1, w->counted + at,
			(w->ncounted++ - at) * sizeof(*w->counted));
		w->counted[at] = (struct ifilewalk_group){
			.number = what.group };
	}
	if (err || what.kind != PALLOC_ENTRIES)
		return err;
	w->blocks[w->nblocks++] = (struct ifilewalk_block){
		.blkoff = p->key,
		.blocknr = target.blocknr,
		.life = target.life,
	};
	return w->nblocks < BATCH_BLOCKS ? 0 : ifilewalk_run_batch(w, cx);
}

/* Adds the blocks of inodes of GROUP shared with OTHER, if their bits differ
   between the bitmap of OTHER, at BEFORE, and the one at NOW. */
static int add_marked(struct ifilewalk *w, struct context *cx,
		      struct file *other, uint64_t group, const uint8_t *now,
		      const uint8_t *before)
{
	const struct palloc *p = w->groups.palloc;
	uint64_t ino = group * p->entries_per_group, blkoff, last = 0;
	uint64_t blocknr, shared;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < p->entries_per_group / 8 && ret >= 0; i++, ino += 8) {
		blkoff = palloc_entry_blkoff(p, ino);
		if (now[i] == before[i] || blkoff == last)
			continue;
		last = blkoff;
		ret = file_lookup(&w->ifile, cx, blkoff, &blocknr);
		if (ret > 0)
			ret = file_lookup(other, cx, blkoff, &shared);
		if (ret <= 0 || blocknr != shared)
			continue;
		/* A block that the first one shares was compared with it. */
		if (other != &w->first &&
		    file_lookup(&w->first, cx, blkoff, &shared) > 0 &&
		    blocknr == shared)
			continue;
		w->blocks[w->nblocks++] = (struct ifilewalk_block){
			.blkoff = blkoff,
			.blocknr = blocknr,
			.life = { w->pointers.cno, w->pointers.cno + 1 },
		};
	}
	return ret;
}

/* Checks the inodes that the current ifile marks differently from OTHER, group
   by group. */
static int check_marked(struct ifilewalk *w, struct context *cx,
			struct file *other)
{
	uint64_t group = 0, blkoff, now, before;
	const void *bits, *old;
	int ret = 0, err = 0;

	while (!err && (ret = groups_next(&w->groups, cx, group, &group)) > 0) {
		blkoff = palloc_bitmap_blkoff(w->groups.palloc, group++);
		ret = file_lookup(&w->ifile, cx, blkoff, &now);
		if (ret > 0)
			ret = file_lookup(other, cx, blkoff, &before);
		if (ret <= 0 || now == before) {
			err = damage_forgive(cx, ret < 0 ? ret : 0);
			continue;
		}
		ret = file_block(&w->ifile, cx, blkoff, &bits);
		if (ret > 0) {
			ret = file_block(other, cx, blkoff, &old);
			if (ret > 0) {
				ret = add_marked(w, cx, other, group - 1, bits,
						 old);
				w->before = old;
				if (ret >= 0 && w->nblocks)
					ret = ifilewalk_run_batch(w, cx);
				w->before = NULL;
				w->nblocks = 0;
				file_put(other, old);
			}
			file_put(&w->ifile, bits);
		}
		err = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return err ? err : damage_forgive(cx, ret < 0 ? ret : 0);
}

int ifilewalk_run(struct ifilewalk *w, struct context *cx, uint64_t cno,
		  const struct nilfs_inode *inode,
		  const struct lifetime *within)
{
	const struct findings *f = w->check->findings;
	struct volume *vol = w->check->vol;
	struct ifilewalk_sums *sums = &w->sums;
	uint64_t blocks_before = w->total_blocks, blocknr;
	const struct mapcheck m = {
		.vol = vol,
		.findings = w->check->findings,
		.cno = cno,
		.ino = NILFS_IFILE_INO,
		.within = *within,
		.visit = ifilewalk_visit_pointer,
		.arg = w,
	};
	bool ready, whole;
	unsigned int i;
	int ret;

	if (w->ifile.vol && !memcmp(w->ifile.inode.i_bmap, inode->i_bmap,
				    sizeof(inode->i_bmap)))
		return 0;
	w->pointers.cno = cno;
	w->pointers.ino = NILFS_IFILE_INO;
	/* If the root is broken, only the map is walked. */
	ready = !file_init(&w->ifile, cx, vol, NILFS_IFILE_INO, inode);
	if (!ready)
		fail_clear(cx);
	w->groups = (struct groups){
		.file = &w->ifile,
		.palloc = &vol->ifile_palloc,
		.findings = w->check->findings,
		.cno = cno,
		.reserved = NILFS_USER_INO,
		.known = is_counted,
		.arg = w,
		.hidden = &w->hidden,
	};
	for (i = 0; i < w->nworkers; i++) {
		struct ifilewalk_worker *worker = &w->workers[i];

		worker->ifile = w->ifile;
		worker->ifile.vol = worker->pointers.vol;
		worker->ifile.map.vol = worker->pointers.vol;
		worker->pointers.cno = cno;
		worker->pointers.walk = w->pointers.walk;
	}
	*sums = (struct ifilewalk_sums){ 0 };
	ret = mapcheck_run(&m, cx, inode);
	whole = !ret;
	if (ret > 0)
		w->pointers.partial |= POINTERS_LOST;
	if (ret >= 0)
		ret = ifilewalk_run_batch(w, cx);
	if (!ret && ready && w->first.vol)
		ret = check_marked(w, cx, &w->first);
	if (!ret && ready && w->first.vol)
		ret = check_marked(w, cx, &w->previous);
	for (i = 0; i < w->nworkers; i++)
		drop_bitmap(&w->workers[i]);
	if (ret || !ready)
		goto out;
	if (!w->first.vol)
		w->first = w->ifile;
	w->previous = w->ifile;
	ret = w->pointers.walk ? check_due(w, cx) : groups_check(&w->groups, cx);
	if (ret)
		goto out;

	/* The block with the root's inode was scanned unless it is a hole;
	   nilfs_get_root_dentry() fails for a hole. */
	ret = file_lookup(&w->ifile, cx, palloc_entry_blkoff(
				  w->groups.palloc, NILFS_ROOT_INO), &blocknr);
	if (!ret && whole)
		findings_broken(w->check->findings, RULE_INODE_NO_ROOT,
				place_inode(cno, NILFS_ROOT_INO));
	ret = damage_forgive(cx, ret < 0 ? ret : 0);
	if (ret)
		goto out;
	ret = count_used_inodes(w, cx, &sums->inodes);
	/* If bitmaps are missing or wrong, the count is unknown. */
	sums->inodes_known = ret > 0 && !w->pointers.partial &&
			     !findings_count(f, RULE_PALLOC_BITMAP_MISSING) &&
			     !findings_count(f, RULE_INODE_METADATA_MODE);
	sums->blocks = sums->own + w->total_blocks - blocks_before;
	sums->blocks_known = !w->pointers.walk && !ifilewalk_partial(w);
out:
	/* The first checkpoint is done: later blocks may have been visited
	   before. */
	sparse_clear(&w->walk);
	w->pointers.walk = &w->walk;
	return ret < 0 ? ret : 0;
}
