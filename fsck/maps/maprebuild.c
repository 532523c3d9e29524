// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rebuilding a map.
 *
 * The block of an older checkpoint at an offset was the file's content then.
 * If it is still live it is the current one; otherwise it is stale, which is
 * better than nothing if the file is known to have a block: at a pointer that
 * leads nowhere, in a directory, or if the logs cannot be read.
 *
 * Two streams are merged in the order of the file: sound blocks of the old map,
 * as it is walked once more, and the runs of blocks that were found.  If
 * neither has a block there is a hole, except in directories: the kernel treats
 * a hole as an error, but a block without names is valid.
 *
 * Old nodes end, those that the map led to and others that the logs list.
 * Blocks past the size end too, except those whose offset was wrong and that
 * were found at the right one.
 *
 * Blocks that are given up, or older than they were, are reported range by
 * range; those that were found as they were are counted.  The account of losses
 * does not depend on any of this.
 */
#include "fsck/maps/mapfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"
#include "vol/cptable.h"
#include "vol/root.h"

/* What is looked for in older checkpoints: blocks [BLKOFF, END) of a file. */
struct range {
	uint64_t blkoff, end;
	bool is_gap;		/* there may be none */
};

struct older {
	struct mapfiles *m;
	struct mapfile *f;
	uint64_t cno;
	struct file file;	/* F as it was then */
	struct vblocks vblocks;
	struct range *ranges;
	size_t n, room;
};

static int add_range(struct older *o, struct context *cx, uint64_t blkoff,
		     uint64_t end, bool is_gap)
{
	if (array_reserve(cx, &o->ranges, &o->room, o->n + 1))
		return -ENOMEM;
	o->ranges[o->n++] = (struct range){ blkoff, end, is_gap };
	return 0;
}

/* Uses virtual block VBLOCKNR for block BLKOFF where it is one. */
static int take_older(struct older *o, struct context *cx, uint64_t blkoff,
		      uint64_t vblocknr)
{
	const struct mapfiles *m = o->m;
	/* Of two checkpoints the later one. */
	struct liveblock b = { .blkoff = blkoff, .cno = o->cno, .seq = o->cno };
	size_t i = search_lower_bound(m->doubted, m->ndoubted, vblocknr);
	struct vblock vb;
	int state = vblocks_find(&o->vblocks, cx, vblocknr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED || vb.start > o->cno || vb.end <= o->cno ||
	    !geometry_has_block(&m->job->vol->geo, vb.blocknr) ||
	    (i < m->ndoubted && m->doubted[i] == vblocknr) ||
	    liveblocks_find(o->f->live, blkoff))
		return 0;
	b.blocknr = vb.blocknr;
	if (vb.end == NILFS_CNO_MAX)
		b.vblocknr = vblocknr;
	return liveblocks_add(o->f->live, cx, &b);
}

/*
 * What the file of that time has of R.  1 where that is all there is to know: a
 * block, or a map that is not broken there as well (a node that is broken
 * mostly is for all that share it); 0.
 */
static int take_range(struct older *o, struct context *cx,
		      const struct range *r)
{
	struct blockmap_cursor cur;
	struct blockmap_item item = { .key = 0 };
	size_t n = o->f->live->n;
	int ret = blockmap_cursor_open(&cur, cx, &o->file.map, r->blkoff,
				       false);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (item.key >= r->end)
			break;
		ret = take_older(o, cx, item.key, item.ptr);
	}
	blockmap_cursor_close(&cur);
	if (ret < 0)
		return damage_forgive(cx, ret);
	return r->is_gap || o->f->live->n > n;
}

/* What checkpoint CNO has, if the file is the same there, is looked for no
   further. */
static int ask_checkpoint(struct older *o, struct context *cx, uint64_t cno)
{
	const struct nilfs_inode *is = &o->f->inode, *was = &o->file.inode;
	struct root root;
	size_t i, left = 0;
	int ret = context_cancelled(cx);

	o->cno = cno;
	if (!ret)
		ret = root_open(&root, cx, o->m->job->vol, cno);
	if (!ret)
		ret = root_file(&root, cx, o->f->live->q.ino, &o->file);
	if (ret)
		return damage_forgive(cx, ret);
	if (!inode_has_bmap(was) ||
	    inode_dirent_type(le16_get(was->i_mode)) !=
		    inode_dirent_type(le16_get(is->i_mode)) ||
	    le32_get(was->i_generation) != le32_get(is->i_generation))
		return 0;
	for (i = 0; i < o->n && ret >= 0; i++) {
		ret = take_range(o, cx, &o->ranges[i]);
		if (!ret)
			o->ranges[left++] = o->ranges[i];
	}
	if (ret >= 0)
		o->n = left;
	liveblocks_settle(o->f->live);
	return ret < 0 ? ret : 0;
}

/*
 * Adds to F, which is broken, what older checkpoints have, the newest first, of
 * what is lost and the logs have not.
 */
static int search_older(struct mapfiles *m, struct context *cx,
			struct mapfile *f)
{
	const struct liveblocks *l = f->live;
	struct older o = { .m = m, .f = f };
	bool dense = f->is_dir || f->is_link;
	uint64_t *cnos = NULL;
	size_t i, n = 0;
	int err = 0;

	vblocks_init(&o.vblocks, m->job->vol, NULL);
	for (i = 0; i < l->nlost && !err; i++)
		if (!liveblocks_find(l, l->lost[i].blkoff))
			err = add_range(&o, cx, l->lost[i].blkoff,
					l->lost[i].blkoff + 1, false);
	/* Where all logs can be read a gap that they leave was a hole. */
	for (i = 0; i < l->ngaps && !err && (dense || !m->logs_whole); i++)
		err = add_range(&o, cx, l->gaps[i].blkoff, l->gaps[i].end,
				true);
	if (!err && o.n)
		err = damage_forgive(cx, cptable_list(m->job->vol, cx, false,
						      &cnos, &n));
	while (n-- && o.n && !err)
		if (cnos[n] < m->job->vol->latest.cno)
			err = ask_checkpoint(&o, cx, cnos[n]);
	vblocks_fini(&o.vblocks);
	free(o.ranges);
	free(cnos);
	return err;
}

/* What became of a block. */
enum fate {
	FATE_NOTHING,
	FATE_LOST,
	FATE_FILLED,	/* of a directory: lost, with the names in it */
	FATE_OLD,	/* content of an older checkpoint */
};

static const char *const fates[] = {
	[FATE_LOST] = "lost, a hole now",
	[FATE_FILLED] = "lost, with the names in it",
};

#define RANGE_MAX 64

/* The most blocks of a directory that are filled in a row. */
#define FILL_MAX 4096

struct maprebuild {
	struct mapfiles *m;
	struct mapfile *f;
	struct remap *remap;
	size_t at;		/* of the list, where the merging is */
	uint64_t *living;	/* numbers there, ascending */
	size_t nliving;
	uint64_t walked;	/* after the last sound block of the old map */
	uint64_t next;		/* one past the last block of the new one */
	char *block;		/* a buffer */
	uint64_t *past;		/* virtual blocks past the size */
	size_t npast, past_room;
	/* Blocks [FROM, END) that are not reported yet. */
	enum fate fate;
	uint64_t from, end, cno;
	/* The rest is reported in the end. */
	uint64_t found;		/* how many */
	bool unsure;		/* more may be lost than is known */
};

static uint32_t block_size(const struct maprebuild *r)
{
	return r->m->job->vol->geo.block_size;
}

static void flush_note(struct maprebuild *r)
{
	uint64_t ino = r->f->live->q.ino;
	char range[RANGE_MAX];

	if (r->fate == FATE_NOTHING)
		return;
	if (r->end - r->from == 1)
		snprintf(range, sizeof(range), "block %" PRIu64, r->from);
	else
		snprintf(range, sizeof(range), "blocks %" PRIu64 " to %" PRIu64,
			 r->from, r->end - 1);
	if (r->fate == FATE_OLD)
		fixers_note(r->m->job, "inode %" PRIu64 ": %s: the content of "
			    "checkpoint %" PRIu64, ino, range, r->cno);
	else
		fixers_note(r->m->job, "inode %" PRIu64 ": %s: %s", ino, range,
			    fates[r->fate]);
	r->fate = FATE_NOTHING;
}

/* Blocks ascend; CNO is that of content that is older. */
static void note_block(struct maprebuild *r, enum fate fate, uint64_t blkoff,
		       uint64_t cno)
{
	if (r->fate == fate && r->cno == cno && r->end == blkoff) {
		r->end++;
		return;
	}
	flush_note(r);
	r->fate = fate;
	r->cno = cno;
	r->from = blkoff;
	r->end = blkoff + 1;
}

/* Blocks of a directory up to END that have no names. */
static int fill_gap(struct maprebuild *r, struct context *cx, uint64_t end)
{
	const struct nilfs_dir_entry unused = {
		.rec_len = dirent_rec_len_encode(block_size(r)),
	};
	int err = 0;

	memset(r->block, 0, block_size(r));
	memcpy(r->block, &unused, offsetof(struct nilfs_dir_entry, name));
	for (; r->next < end && !err; r->next++) {
		err = remap_put(r->remap, cx, r->next, r->block);
		if (!err)
			note_block(r, FATE_FILLED, r->next, 0);
	}
	return err;
}

/* Copies the block at BLOCKNR of the device: 1, 0 where it cannot be read. */
static int copy_block(struct maprebuild *r, struct context *cx, uint64_t blkoff,
		      uint64_t blocknr)
{
	int err = volume_read_blocks(r->m->job->vol, cx, blocknr, 1, r->block);

	if (err == -EIO || err == -EUCLEAN) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = remap_put(r->remap, cx, blkoff, r->block);
	return err ? err : 1;
}

/* Whether block BLKOFF can come next; a directory is filled up to it. */
static int make_way(struct maprebuild *r, struct context *cx, uint64_t blkoff)
{
	int err;

	if (!r->f->is_dir)
		return 1;
	if (blkoff - r->next > FILL_MAX) {
		note_block(r, FATE_LOST, blkoff, 0);
		return 0;
	}
	err = fill_gap(r, cx, blkoff);
	return err ? err : 1;
}

static int add_found(struct maprebuild *r, struct context *cx,
		     const struct liveblock *found)
{
	int ret = make_way(r, cx, found->blkoff);

	if (ret <= 0)
		return ret;
	if (found->vblocknr) {
		ret = remap_keep(r->remap, cx, found->blkoff, found->vblocknr);
	} else {
		ret = copy_block(r, cx, found->blkoff, found->blocknr);
		if (!ret)
			note_block(r, FATE_LOST, found->blkoff, 0);
		if (ret <= 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	if (found->vblocknr || !found->cno)
		r->found++;
	else
		note_block(r, FATE_OLD, found->blkoff, found->cno);
	r->next = found->blkoff + 1;
	return 0;
}

/* Adds what was found before block END. */
static int merge_found(struct maprebuild *r, struct context *cx, uint64_t end)
{
	const struct liveblocks *l = r->f->live;
	int err = 0;

	for (; r->at < l->n && l->list[r->at].blkoff < end && !err; r->at++)
		if (l->list[r->at].blkoff < l->q.limit || r->f->is_dir)
			err = add_found(r, cx, &l->list[r->at]);
	return err;
}

/* B, to which the old map leads. */
static int take_block(void *arg, struct context *cx, const struct liveblock *b,
		      enum liveblocks_worth worth)
{
	struct maprebuild *r = arg;
	int ret;

	if (!liveblocks_takes(&r->f->live->q, b->blkoff, r->walked)) {
		if (worth != LIVEBLOCKS_SOUND)
			return 0;
		if (array_reserve(cx, &r->past, &r->past_room, r->npast + 1))
			return -ENOMEM;
		r->past[r->npast++] = b->vblocknr;
		return 0;
	}
	ret = merge_found(r, cx, b->blkoff);
	if (worth == LIVEBLOCKS_LOST) {
		/* Of a directory it is reported when it is filled. */
		if (!ret && !r->f->is_dir &&
		    !liveblocks_find(r->f->live, b->blkoff))
			note_block(r, FATE_LOST, b->blkoff, 0);
		return ret;
	}
	r->walked = b->blkoff + 1;
	if (!ret)
		ret = make_way(r, cx, b->blkoff);
	if (ret <= 0)
		return ret;
	if (worth == LIVEBLOCKS_SHARED)
		ret = copy_block(r, cx, b->blkoff, b->blocknr);
	else
		ret = remap_keep(r->remap, cx, b->blkoff, b->vblocknr);
	r->next = b->blkoff + 1;
	return ret < 0 ? ret : 0;
}

static void note_gap(void *arg)
{
	struct maprebuild *r = arg;

	r->unsure = !r->m->logs_whole;
}

/* Ends those of the N virtual blocks LIST that have not already, and were not
   found: a wrong pointer may lead to a block that belongs elsewhere. */
static int end_blocks(struct maprebuild *r, struct context *cx,
		      const uint64_t *list, size_t n)
{
	size_t i, at;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		at = search_lower_bound(r->living, r->nliving, list[i]);
		if (at < r->nliving && r->living[at] == list[i])
			continue;
		err = repairwriter_end(r->m->job->writer, cx, list[i],
				       METAFILE_MULTI);
		if (err == -EUCLEAN) {
			fail_clear(cx);
			err = 0;
		}
	}
	return err;
}

static int rebuild_map(struct maprebuild *r, struct context *cx)
{
	const struct liveblocks *l = r->f->live;
	struct nilfs_inode *inode = &r->f->inode;
	struct liveblocks_walk w = {
		.check = r->m->job->check,
		.q = &l->q,
		.block = take_block,
		.skip = note_gap,
		.arg = r,
	};
	size_t i, room = 0;
	int ret;

	if (array_reserve(cx, &r->living, &room, l->n + 1))
		return -ENOMEM;
	for (i = 0; i < l->n; i++)
		if (l->list[i].vblocknr)
			r->living[r->nliving++] = l->list[i].vblocknr;
	sort_numbers(r->living, r->nliving);
	ret = liveblocks_walk(&w, cx);
	if (ret >= 0)
		ret = merge_found(r, cx, UINT64_MAX);
	/* A directory has one block at least. */
	if (!ret && r->f->is_dir && !r->next)
		ret = fill_gap(r, cx, 1);
	if (!ret && r->f->is_dir)
		inode->i_size = le64_make(r->next * block_size(r));
	if (!ret)
		ret = remap_finish(r->remap, cx, inode);
	if (!ret)
		ret = end_blocks(r, cx, l->nodes, l->nnodes);
	if (!ret)
		ret = end_blocks(r, cx, r->past, r->npast);
	if (ret)
		return ret;
	if (r->f->is_link && !r->next)
		return inodes_free(r->m->job->writer, cx, l->q.ino);
	return inodes_write(r->m->job->writer, cx, l->q.ino, inode);
}

int maprebuild_run(struct mapfiles *m, struct context *cx, struct mapfile *f)
{
	struct maprebuild r = { .m = m, .f = f };
	uint64_t ino = f->live->q.ino, size = le64_get(f->inode.i_size);
	int err = search_older(m, cx, f);

	if (err)
		return err;
	r.block = malloc(block_size(&r));
	if (!r.block)
		return fail(cx, -ENOMEM, "block of inode %" PRIu64, ino);
	err = remap_open(&r.remap, cx, m->job->writer, ino);
	if (!err)
		err = rebuild_map(&r, cx);
	remap_close(r.remap);
	free(r.block);
	free(r.past);
	free(r.living);
	if (err)
		return err;
	flush_note(&r);
	fixers_note(m->job, "inode %" PRIu64 ": map rebuilt, %" PRIu64
		    " block%s restored from the logs", ino, r.found,
		    r.found == 1 ? "" : "s");
	if (r.npast)
		fixers_note(m->job, "inode %" PRIu64 ": %zu block%s past its "
			    "size dropped", ino, r.npast,
			    r.npast == 1 ? "" : "s");
	if (f->is_dir && le64_get(f->inode.i_size) != size)
		fixers_note(m->job, "inode %" PRIu64 ": its size is %" PRIu64
			    " now", ino, le64_get(f->inode.i_size));
	if (f->is_link && !r.next)
		fixers_note(m->job, "inode %" PRIu64 ": the target of this "
			    "symbolic link is lost; the link is removed", ino);
	if (r.unsure)
		fixers_note(m->job, "inode %" PRIu64 ": there may be holes "
			    "where it had blocks, as not all logs can be read",
			    ino);
	return 0;
}
