// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ifiles, checkpoint after checkpoint.
 *
 * The calling thread walks the map of an ifile, a thousandth of the data below
 * it, and collects the blocks of inodes that are new.  These are handed to the
 * workers a batch at a time, each of which has a volume, with a cache, of its
 * own.  They share sets to which any of them may add.
 *
 * The allocator is checked completely for the first checkpoint, and for the
 * others if part of a group is new.  Blocks of inodes that are not new were
 * checked with the bitmaps of another checkpoint: those with an inode that this
 * one marks otherwise are checked again.
 */
#include "check/inodes/ifilewalk.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/pool.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/inodes/inodescan.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "vol/ahead.h"

#define BATCH_BLOCKS 4096u
#define JOB_BLOCKS 16u
#define NODES_AHEAD 1024u

struct ifilewalk_worker {
	struct volume *vol;
	struct inodescan scan;
	struct file ifile;
	const void *bitmap;	/* borrowed, NULL: cannot be read */
	uint64_t group;
	bool have_group;
};

int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, struct pointers *pointers)
{
	int err = 0;

	*w = (struct ifilewalk){ .check = check, .pointers = pointers };
	w->workers = calloc(cx->threads, sizeof(*w->workers));
	w->blocks = malloc(BATCH_BLOCKS * sizeof(*w->blocks));
	if (!w->workers || !w->blocks)
		return fail(cx, -ENOMEM, "blocks of inodes");
	for (; w->nworkers < cx->threads && !err; w->nworkers++) {
		struct ifilewalk_worker *worker = &w->workers[w->nworkers];

		worker->vol = w->nworkers ? NULL : check->vol;
		if (w->nworkers)
			err = check_open_again(check, cx, cx->threads,
					       &worker->vol);
		inodescan_init(&worker->scan, check, worker->vol,
			       pointers->reported);
	}
	return err;
}

static void drop_bitmap(struct ifilewalk_worker *worker)
{
	if (worker->bitmap)
		file_put(&worker->ifile, worker->bitmap);
	worker->bitmap = NULL;
	worker->have_group = false;
}

void ifilewalk_fini(struct ifilewalk *w)
{
	unsigned int i;

	for (i = 0; i < w->nworkers; i++) {
		inodescan_fini(&w->workers[i].scan);
		if (i)
			volume_close(w->workers[i].vol);
	}
	free(w->workers);
	free(w->blocks);
	inodecount_fini(&w->count);
}

unsigned int ifilewalk_partial(const struct ifilewalk *w)
{
	unsigned int partial = w->hidden ? POINTERS_LOST : 0, i;

	for (i = 0; i < w->nworkers; i++)
		partial |= w->workers[i].scan.pointers.partial;
	return partial;
}

uint64_t ifilewalk_least(const struct ifilewalk *w)
{
	uint64_t least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < w->nworkers; i++)
		if (w->workers[i].scan.least < least)
			least = w->workers[i].scan.least;
	return least;
}

static int scan_block(struct ifilewalk *w, struct context *cx,
		      struct ifilewalk_worker *worker,
		      const struct ifilewalk_block *b)
{
	const struct palloc *palloc = &worker->vol->ifile_palloc;
	struct inodescan_block block = { .life = b->life,
					 .before = w->before };
	struct palloc_block what;
	const void *data;
	int ret;

	ret = cache_get(worker->vol->cache, cx, b->blocknr, &data);
	if (ret == -EIO) {
		findings_failed(w->check->findings, cx, RULE_DEV_UNREADABLE,
				place_map(w->cno, NILFS_IFILE_INO, b->blkoff,
					  0));
		worker->scan.pointers.partial |= POINTERS_LOST;
		return 0;
	}
	if (ret)
		return ret;
	palloc_locate(palloc, b->blkoff, &what);
	block.first = what.first;
	block.count = (uint32_t)what.count;
	if (!worker->have_group || worker->group != what.group) {
		drop_bitmap(worker);
		ret = file_block(&worker->ifile, cx,
				 palloc_bitmap_blkoff(palloc, what.group),
				 &worker->bitmap);
		if (ret <= 0)
			worker->bitmap = NULL;
		if (ret == -ENOMEM || ret == -ENOBUFS || ret == -EINTR)
			goto out;
		fail_clear(cx);
		worker->group = what.group;
		worker->have_group = true;
	}
	ret = inodescan_run(&worker->scan, cx, &block, data, worker->bitmap);
out:
	cache_put_spent(worker->vol->cache, data);
	return ret;
}

/* Nodes of the maps of some hundred inodes, ascending. */
struct nodes {
	uint64_t places[NODES_AHEAD];
	unsigned int n;
};

/* Adds what the root of the B-tree of INODE leads to, as far as there is room.
   What is wrong with it is for others to say. */
static int add_nodes(struct nodes *nodes, struct context *cx,
		     struct vblocks *vblocks, const struct nilfs_inode *inode)
{
	struct bmap_node root;
	struct vblock vb;
	unsigned int at;
	uint32_t i;
	int state;

	if (!le16_get(inode->i_links_count) || !inode_has_bmap(inode) ||
	    !bmap_is_btree(inode->i_bmap) ||
	    bmap_root_check(inode->i_bmap) != RULE_OK)
		return 0;
	bmap_root_read(inode->i_bmap, &root);
	if (root.level == NILFS_BTREE_LEVEL_NODE_MIN)
		return 0;
	for (i = 0; i < root.nchildren && nodes->n < NODES_AHEAD; i++) {
		state = vblocks_find(vblocks, cx, bmap_node_ptr(&root, i), &vb);
		if (state < 0)
			return state;
		if (!geometry_has_block(&vblocks->vol->geo, vb.blocknr))
			continue;
		/* Mostly what is added is the greatest. */
		for (at = nodes->n++;
		     at && nodes->places[at - 1] > vb.blocknr; at--)
			nodes->places[at] = nodes->places[at - 1];
		nodes->places[at] = vb.blocknr;
	}
	return 0;
}

/*
 * Reads N blocks from B on into the cache, and announces the nodes that they
 * refer to.  A node is read when the walk of a map comes to it, one map after the
 * other, and most maps have one or two.  So they are announced to the device at
 * once, in its order.  That is all that most files have; below it, nodes of large
 * files are contiguous and are read in large pieces anyway.
 */
static int read_blocks(struct ifilewalk_worker *worker, struct context *cx,
		       const struct ifilewalk_block *b, uint32_t n)
{
	const struct palloc *p = &worker->vol->ifile_palloc;
	struct vblocks *vblocks = &worker->scan.pointers.vblocks[1];
	struct cache *cache = worker->vol->cache;
	struct ahead ahead = ahead_of(worker->vol);
	struct nodes nodes;
	const char *data;
	uint32_t i, k, row;
	int err = 0;

	nodes.n = 0;
	for (i = 0; i < n; i += row) {
		row = 1;
		while (i + row < n && b[i + row].blocknr == b[i].blocknr + row)
			row++;
		cache_readahead(cache, cx, b[i].blocknr, row);
	}
	for (i = 0; i < n && !err; i++) {
		if (cache_get(cache, cx, b[i].blocknr, (const void **)&data)) {
			fail_clear(cx);
			continue;
		}
		for (k = 0; k < p->entries_per_block && !err; k++)
			err = add_nodes(&nodes, cx, vblocks, (const void *)
					(data + (size_t)k * p->entry_size));
		cache_put(cache, data);
	}
	for (i = 0; i < nodes.n; i++)
		ahead_add(&ahead, nodes.places[i], 1);
	ahead_end(&ahead);
	return err;
}

static int run_job(struct context *cx, void *arg, unsigned int number,
		   uint64_t job)
{
	struct ifilewalk *w = arg;
	struct ifilewalk_worker *worker = &w->workers[number];
	const struct ifilewalk_block *b = w->blocks + job * JOB_BLOCKS;
	uint32_t n = w->nblocks - (uint32_t)job * JOB_BLOCKS, i;
	int err;

	if (n > JOB_BLOCKS)
		n = JOB_BLOCKS;
	err = read_blocks(worker, cx, b, n);
	for (i = 0; i < n && !err; i++)
		err = scan_block(w, cx, worker, &b[i]);
	return err;
}

/* What all workers have checked so far. */
struct totals {
	uint64_t inodes, blocks;
};

static struct totals totals_of(const struct ifilewalk *w)
{
	struct totals sum = { 0 };
	unsigned int i;

	for (i = 0; i < w->nworkers; i++) {
		sum.inodes += w->workers[i].scan.total_inodes;
		sum.blocks += w->workers[i].scan.total_blocks;
	}
	return sum;
}

static int run_batch(struct ifilewalk *w, struct context *cx)
{
	struct ahead ahead = ahead_of(w->check->vol);
	uint64_t jobs = (w->nblocks + JOB_BLOCKS - 1) / JOB_BLOCKS;
	uint32_t i;
	int err;

	for (i = 0; i < w->nblocks; i++)
		ahead_add(&ahead, w->blocks[i].blocknr, 1);
	ahead_end(&ahead);
	err = pool_run(cx, jobs, run_job, w);
	w->nblocks = 0;
	check_progress(w->check, totals_of(w).inodes);
	return err;
}

/*
 * Checks the allocator where what was met so far makes it due.  For the first
 * checkpoint all of it is checked, later.
 */
static int check_due(struct ifilewalk *w, struct context *cx)
{
	bool later = !w->pointers->walk;
	int err = 0;

	if (!later && w->have_counts)
		err = groups_check_counts(&w->groups, cx, w->due_counts);
	if (!later && !err && w->have_entries)
		err = groups_check_entries(&w->groups, cx, w->due_entries);
	w->have_counts = w->have_entries = false;
	return err;
}

/* A block of the ifile that is new: it makes the checks of its group due, and is
   one of the next batch if it has inodes. */
static int take_block(struct ifilewalk *w, struct context *cx, uint64_t blkoff,
		      const struct target *target)
{
	struct palloc_block what;
	int err = 0;

	palloc_locate(&w->check->vol->ifile_palloc, blkoff, &what);
	if (w->have_entries && w->due_entries != what.group)
		err = check_due(w, cx);
	if (what.kind != PALLOC_ENTRIES) {
		w->due_counts = what.group;
		w->have_counts = true;
	}
	if (what.kind != PALLOC_DESC) {
		w->due_entries = what.group;
		w->have_entries = true;
	}
	if (!err && what.kind == PALLOC_BITMAP)
		err = inodecount_learn(&w->count, cx, what.group);
	if (err || what.kind != PALLOC_ENTRIES)
		return err;
	w->blocks[w->nblocks++] = (struct ifilewalk_block){
		.blkoff = blkoff,
		.blocknr = target->blocknr,
		.life = target->life,
	};
	return w->nblocks < BATCH_BLOCKS ? 0 : run_batch(w, cx);
}

static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct ifilewalk *w = arg;
	struct target target;
	int ret;

	w->met++;
	ret = pointers_check(w->pointers, cx, NILFS_IFILE_INO, p, &target);
	if (ret <= 0)
		return ret;
	*blocknr = target.blocknr;
	*life = target.life;
	if (!p->level)
		return take_block(w, cx, p->key, &target);
	pointers_read_node(w->pointers, cx, target.blocknr);
	return 1;
}

static bool is_counted(void *arg, uint64_t group, uint64_t blocknr,
		       uint32_t *used)
{
	const struct ifilewalk *w = arg;

	return inodecount_known(&w->count, group, blocknr, used);
}

/* Turns to a checkpoint: 1, 0 where its ifile's map has a broken root. */
static int start_walk(struct ifilewalk *w, struct context *cx, uint64_t cno,
		      const struct nilfs_inode *inode)
{
	struct volume *vol = w->check->vol;
	unsigned int i;

	w->cno = cno;
	w->met = 0;
	w->pointers->cno = cno;
	if (file_init(&w->ifile, cx, vol, NILFS_IFILE_INO, inode)) {
		fail_clear(cx);
		return 0;
	}
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
		w->workers[i].ifile = w->ifile;
		w->workers[i].ifile.vol = w->workers[i].vol;
		w->workers[i].ifile.map.vol = w->workers[i].vol;
		w->workers[i].scan.pointers.cno = cno;
		w->workers[i].scan.pointers.walk = w->pointers->walk;
	}
	return 1;
}

/*
 * Adds the blocks of inodes of GROUP that OTHER has as well, if their bits in
 * its bitmap, at BEFORE, differ from those in the bitmap at NOW.
 */
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
		/* That was enough: the first one shares it as well. */
		if (other != &w->first &&
		    file_lookup(&w->first, cx, blkoff, &shared) > 0 &&
		    blocknr == shared)
			continue;
		w->blocks[w->nblocks++] = (struct ifilewalk_block){
			.blkoff = blkoff,
			.blocknr = blocknr,
			.life = { w->cno, w->cno + 1 },
		};
	}
	return ret;
}

/* Checks what the current ifile marks otherwise than OTHER, group by group. */
static int check_marked(struct ifilewalk *w, struct context *cx,
			struct file *other)
{
	uint64_t group = 0, blkoff, now, before;
	const void *bits, *old;
	int ret, err = 0;

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
					ret = run_batch(w, cx);
				w->before = NULL;
				w->nblocks = 0;
				file_put(other, old);
			}
			file_put(&w->ifile, bits);
		}
		err = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return err;
}

int ifilewalk_run(struct ifilewalk *w, struct context *cx, uint64_t cno,
		  const struct nilfs_inode *inode,
		  const struct lifetime *within, struct ifilewalk_sums *sums)
{
	const struct findings *f = w->check->findings;
	uint64_t blocks_before = totals_of(w).blocks, blocknr;
	bool ready = start_walk(w, cx, cno, inode);
	const struct mapcheck m = {
		.vol = w->check->vol,
		.findings = w->check->findings,
		.cno = cno,
		.ino = NILFS_IFILE_INO,
		.within = *within,
		.visit = visit_pointer,
		.arg = w,
	};
	bool whole;
	unsigned int i;
	int ret;

	*sums = (struct ifilewalk_sums){ 0 };
	ret = mapcheck_run(&m, cx, inode);
	whole = !ret;
	if (ret > 0)
		w->pointers->partial |= POINTERS_LOST;
	if (ret >= 0)
		ret = run_batch(w, cx);
	if (!ret && ready && w->have_first)
		ret = check_marked(w, cx, &w->first);
	if (!ret && ready && w->have_first)
		ret = check_marked(w, cx, &w->previous);
	for (i = 0; i < w->nworkers; i++)
		drop_bitmap(&w->workers[i]);
	if (ret || !ready)
		return ret;
	if (!w->have_first)
		w->first = w->ifile;
	w->have_first = true;
	w->previous = w->ifile;
	ret = w->pointers->walk ? check_due(w, cx) : groups_check(&w->groups, cx);
	if (ret)
		return ret;

	/* The block with the root's inode was scanned unless it is a hole, in
	   which case nilfs_get_root_dentry() fails. */
	ret = file_lookup(&w->ifile, cx, palloc_entry_blkoff(
				  w->groups.palloc, NILFS_ROOT_INO), &blocknr);
	if (!ret && whole)
		findings_broken(w->check->findings, RULE_INODE_NO_ROOT,
				place_inode(cno, NILFS_ROOT_INO));
	ret = damage_forgive(cx, ret < 0 ? ret : 0);
	if (ret)
		return ret;

	ret = inodecount_count(&w->count, cx, &w->ifile, &sums->inodes);
	/* Without its bitmaps, or if they cannot be trusted, none is in use. */
	sums->inodes_known = ret > 0 && !w->pointers->partial &&
			     !findings_count(f, RULE_PALLOC_BITMAP_MISSING) &&
			     !findings_count(f, RULE_INODE_METADATA_MODE);
	sums->own = w->met;
	sums->blocks = w->met + totals_of(w).blocks - blocks_before;
	sums->blocks_known = !w->pointers->walk && !w->pointers->partial &&
			     !ifilewalk_partial(w);
	return ret < 0 ? ret : 0;
}
