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
#include "check/inodes/nodeahead.h"
#include "disk/inode.h"
#include "vol/ahead.h"

#define BATCH_BLOCKS 4096u
#define JOB_BLOCKS 16u

struct ifilewalk_worker {
	struct volume *vol;
	struct inodescan scan;
	struct file ifile;
	const void *bitmap;	/* borrowed, NULL: cannot be read */
	uint64_t group;
	bool have_group;
};

static int init_worker(struct ifilewalk *w, struct context *cx,
		       unsigned int number)
{
	struct ifilewalk_worker *worker = &w->workers[number];
	int err = 0;

	worker->vol = number ? NULL : w->check->vol;
	if (number)
		err = check_open_again(w->check, cx, cx->threads, &worker->vol);
	inodescan_init(&worker->scan, w->check, worker->vol,
		       w->pointers->reported);
	return err;
}

int ifilewalk_init(struct ifilewalk *w, struct context *cx,
		   struct check *check, struct pointers *pointers)
{
	int err = 0;

	*w = (struct ifilewalk){ .check = check, .pointers = pointers };
	w->workers = calloc(cx->threads, sizeof(*w->workers));
	w->blocks = malloc(BATCH_BLOCKS * sizeof(*w->blocks));
	if (!w->workers || !w->blocks)
		return fail(cx, -ENOMEM, "blocks of inodes");
	for (; w->nworkers < cx->threads && !err; w->nworkers++)
		err = init_worker(w, cx, w->nworkers);
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

/* The bitmap of GROUP, as this worker sees it. */
static int find_bitmap(struct ifilewalk_worker *worker, struct context *cx,
		       uint64_t group)
{
	const struct palloc *palloc = &worker->vol->ifile_palloc;
	int ret;

	if (worker->have_group && worker->group == group)
		return 0;
	drop_bitmap(worker);
	ret = file_block(&worker->ifile, cx,
			 palloc_bitmap_blkoff(palloc, group), &worker->bitmap);
	if (ret <= 0)
		worker->bitmap = NULL;
	if (ret == -ENOMEM || ret == -ENOBUFS || ret == -EINTR)
		return ret;
	fail_clear(cx);
	worker->group = group;
	worker->have_group = true;
	return 0;
}

static int scan_block(struct ifilewalk *w, struct context *cx,
		      struct ifilewalk_worker *worker,
		      const struct ifilewalk_block *b)
{
	struct inodescan_block block = { .life = b->life,
					 .before = w->before };
	struct palloc_block what;
	const void *data;
	int err;

	err = cache_get(worker->vol->cache, cx, b->blocknr, &data);
	if (err == -EIO) {
		findings_failed(w->check->findings, cx, RULE_DEV_UNREADABLE,
				place_map(w->cno, NILFS_IFILE_INO, b->blkoff,
					  0));
		worker->scan.pointers.partial |= POINTERS_LOST;
		return 0;
	}
	if (err)
		return err;
	palloc_locate(&worker->vol->ifile_palloc, b->blkoff, &what);
	block.first = what.first;
	block.count = (uint32_t)what.count;
	err = find_bitmap(worker, cx, what.group);
	if (!err)
		err = inodescan_run(&worker->scan, cx, &block, data,
				    worker->bitmap);
	cache_put_spent(worker->vol->cache, data);
	return err;
}

/* Blocks from B on, at most COUNT, that lie in a row. */
static uint32_t row_length(const struct ifilewalk_block *b, uint32_t count)
{
	uint32_t n = 1;

	while (n < count && b[n].blocknr == b->blocknr + n)
		n++;
	return n;
}

/*
 * Reads N blocks from B on into the cache, and announces the blocks that they
 * refer to.
 */
static int read_blocks(struct ifilewalk_worker *worker, struct context *cx,
		       const struct ifilewalk_block *b, uint32_t n)
{
	struct cache *cache = worker->vol->cache;
	struct nodeahead nodes = { .vblocks = &worker->scan.pointers.vblocks[1] };
	const void *data;
	uint32_t i, row;
	int err = 0;

	for (i = 0; i < n; i += row) {
		row = row_length(b + i, n - i);
		cache_readahead(cache, cx, b[i].blocknr, row);
	}
	for (i = 0; i < n && !err; i++) {
		if (cache_get(cache, cx, b[i].blocknr, &data)) {
			fail_clear(cx);
			continue;
		}
		err = nodeahead_add(&nodes, cx, data);
		cache_put(cache, data);
	}
	nodeahead_end(&nodes);
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

static uint64_t inodes_so_far(const struct ifilewalk *w)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < w->nworkers; i++)
		sum += w->workers[i].scan.total_inodes;
	return sum;
}

static uint64_t blocks_so_far(const struct ifilewalk *w)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < w->nworkers; i++)
		sum += w->workers[i].scan.total_blocks;
	return sum;
}

static void read_ahead(const struct ifilewalk *w)
{
	struct ahead ahead = ahead_of(w->check->vol);
	uint32_t i;

	for (i = 0; i < w->nblocks; i++)
		ahead_add(&ahead, w->blocks[i].blocknr, 1);
	ahead_end(&ahead);
}

static int run_batch(struct ifilewalk *w, struct context *cx)
{
	uint64_t jobs = (w->nblocks + JOB_BLOCKS - 1) / JOB_BLOCKS;
	int err;

	read_ahead(w);
	err = pool_run(cx, jobs, run_job, w);
	w->nblocks = 0;
	check_progress(w->check, inodes_so_far(w));
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

/* A block of the allocator that is new makes the checks of its group due. */
static int note_group(struct ifilewalk *w, struct context *cx,
		      const struct palloc_block *what)
{
	int err = 0;

	if (w->have_entries && w->due_entries != what->group)
		err = check_due(w, cx);
	if (what->kind != PALLOC_ENTRIES) {
		w->due_counts = what->group;
		w->have_counts = true;
	}
	if (what->kind != PALLOC_DESC) {
		w->due_entries = what->group;
		w->have_entries = true;
	}
	if (!err && what->kind == PALLOC_BITMAP)
		err = inodecount_learn(&w->count, cx, what->group);
	return err;
}

static int take_block(struct ifilewalk *w, struct context *cx, uint64_t blkoff,
		      const struct target *target)
{
	struct palloc_block what;
	int err;

	palloc_locate(&w->check->vol->ifile_palloc, blkoff, &what);
	err = note_group(w, cx, &what);
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

static int walk_map(struct ifilewalk *w, struct context *cx,
		    const struct lifetime *within)
{
	struct mapcheck m = {
		.vol = w->check->vol,
		.findings = w->check->findings,
		.cno = w->cno,
		.ino = NILFS_IFILE_INO,
		.within = *within,
		.visit = visit_pointer,
		.arg = w,
	};
	int ret = mapcheck_run(&m, cx, w->inode);

	w->whole = !ret;
	if (ret > 0)
		w->pointers->partial |= POINTERS_LOST;
	if (ret >= 0)
		ret = run_batch(w, cx);
	return ret;
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
	w->inode = inode;
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

/* Without its bitmaps, or if they cannot be trusted, none is in use. */
static bool is_countable(const struct ifilewalk *w)
{
	const struct findings *f = w->check->findings;

	return !findings_count(f, RULE_PALLOC_BITMAP_MISSING) &&
	       !findings_count(f, RULE_INODE_METADATA_MODE);
}

static int sum_up(struct ifilewalk *w, struct context *cx,
		  uint64_t blocks_before, struct ifilewalk_sums *sums)
{
	int ret = inodecount_count(&w->count, cx, &w->ifile, &sums->inodes);

	sums->inodes_known = ret > 0 && is_countable(w) &&
			     !w->pointers->partial;
	sums->own = w->met;
	sums->blocks = w->met + blocks_so_far(w) - blocks_before;
	sums->blocks_known = !w->pointers->walk && !w->pointers->partial &&
			     !ifilewalk_partial(w);
	return ret < 0 ? ret : 0;
}

/*
 * The block with the root's inode was scanned unless it is a hole, in which
 * case nilfs_get_root_dentry() fails.
 */
static int check_root(struct ifilewalk *w, struct context *cx)
{
	uint64_t blocknr;
	int ret = file_lookup(&w->ifile, cx,
			      palloc_entry_blkoff(w->groups.palloc,
						  NILFS_ROOT_INO), &blocknr);

	if (!ret && w->whole)
		findings_broken(w->check->findings, RULE_INODE_NO_ROOT,
				place_inode(w->cno, NILFS_ROOT_INO));
	return damage_forgive(cx, ret < 0 ? ret : 0);
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
	uint64_t blocks_before = blocks_so_far(w);
	bool ready = start_walk(w, cx, cno, inode);
	unsigned int i;
	int err;

	*sums = (struct ifilewalk_sums){ 0 };
	err = walk_map(w, cx, within);
	if (!err && ready && w->have_first)
		err = check_marked(w, cx, &w->first);
	if (!err && ready && w->have_first)
		err = check_marked(w, cx, &w->previous);
	for (i = 0; i < w->nworkers; i++)
		drop_bitmap(&w->workers[i]);
	if (err || !ready)
		return err;
	if (!w->have_first)
		w->first = w->ifile;
	w->have_first = true;
	w->previous = w->ifile;
	if (w->pointers->walk)
		err = check_due(w, cx);
	else
		err = groups_check(&w->groups, cx);
	if (!err)
		err = check_root(w, cx);
	return err ? err : sum_up(w, cx, blocks_before, sums);
}
