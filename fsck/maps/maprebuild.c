// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rebuilding a map.
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
 * What the repair of a map reports.
 *
 * Blocks that are given up, or older than they were, are reported range by
 * range; those that were found as they were are counted.  The account of losses
 * does not depend on any of this.
 */
#include "fsck/maps/mapfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "disk/dirent.h"
#include "fsck/plan/fixers.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"

enum mapreport_fate {
	MAPREPORT_NOTHING,
	MAPREPORT_LOST,
	MAPREPORT_FILLED,	/* of a directory: lost, with the names in it */
	MAPREPORT_OLD,		/* content of an older checkpoint */
};

struct mapreport {
	struct fixer_job *job;
	uint64_t ino;
	/* Blocks [FROM, END) that are not reported yet. */
	enum mapreport_fate fate;
	uint64_t from, end, cno;
	/* The rest is reported in the end. */
	uint64_t found;			/* how many */
	uint64_t past;		/* dropped, past the size */
	bool unsure;		/* more may be lost than is known */
	bool removed, resized;
	uint64_t size;
};

#define RANGE_MAX 64

static const char *const fates[] = {
	[MAPREPORT_LOST] = "lost, a hole now",
	[MAPREPORT_FILLED] = "lost, with the names in it",
};

static void range_text(uint64_t from, uint64_t end, char text[RANGE_MAX])
{
	if (end - from == 1)
		snprintf(text, RANGE_MAX, "block %" PRIu64, from);
	else
		snprintf(text, RANGE_MAX, "blocks %" PRIu64 " to %" PRIu64,
			 from, end - 1);
}

static void flush_note(struct mapreport *s)
{
	char range[RANGE_MAX];

	if (s->fate == MAPREPORT_NOTHING)
		return;
	range_text(s->from, s->end, range);
	if (s->fate == MAPREPORT_OLD)
		fixers_note(s->job, "inode %" PRIu64 ": %s: the content of "
			    "checkpoint %" PRIu64, s->ino, range, s->cno);
	else
		fixers_note(s->job, "inode %" PRIu64 ": %s: %s", s->ino, range,
			    fates[s->fate]);
	s->fate = MAPREPORT_NOTHING;
}

static void note_block(struct mapreport *s, enum mapreport_fate fate,
		       uint64_t blkoff, uint64_t cno)
{
	if (s->fate == fate && s->cno == cno && s->end == blkoff) {
		s->end++;
		return;
	}
	flush_note(s);
	s->fate = fate;
	s->cno = cno;
	s->from = blkoff;
	s->end = blkoff + 1;
}

/* What became of block BLKOFF; they ascend. */
static void mapreport_lost(struct mapreport *s, uint64_t blkoff)
{
	note_block(s, MAPREPORT_LOST, blkoff, 0);
}

static void mapreport_filled(struct mapreport *s, uint64_t blkoff)
{
	note_block(s, MAPREPORT_FILLED, blkoff, 0);
}

static void mapreport_found(struct mapreport *s,
			    const struct liveblock *found)
{
	if (found->vblocknr || !found->cno)
		s->found++;
	else
		note_block(s, MAPREPORT_OLD, found->blkoff, found->cno);
}

/* Reports what was not reported yet. */
static void mapreport_end(struct mapreport *s)
{
	flush_note(s);
	fixers_note(s->job, "inode %" PRIu64 ": map rebuilt, %" PRIu64
		    " block%s restored from the logs", s->ino, s->found,
		    s->found == 1 ? "" : "s");
	if (s->past)
		fixers_note(s->job, "inode %" PRIu64 ": %" PRIu64 " block%s "
			    "past its size dropped", s->ino, s->past,
			    s->past == 1 ? "" : "s");
	if (s->resized)
		fixers_note(s->job, "inode %" PRIu64 ": its size is %" PRIu64
			    " now", s->ino, s->size);
	if (s->removed)
		fixers_note(s->job, "inode %" PRIu64 ": the target of this "
			    "symbolic link is lost; the link is removed",
			    s->ino);
	if (s->unsure)
		fixers_note(s->job, "inode %" PRIu64 ": there may be holes "
			    "where it had blocks, as not all logs can be read",
			    s->ino);
}

/* The most blocks of a directory that are filled in a row. */
#define FILL_MAX 4096

struct maprebuild {
	struct mapfiles *m;
	struct mapfile *f;
	struct remap *remap;
	struct mapreport report;
	size_t at;		/* of the list, where the merging is */
	uint64_t *living;	/* numbers there, ascending */
	size_t nliving;
	uint64_t walked;	/* after the last sound block of the old map */
	uint64_t next;		/* one past the last block of the new one */
	char *block;		/* a buffer */
	uint64_t *past;		/* virtual blocks past the size */
	size_t npast, past_room;
};

static uint32_t block_size(const struct maprebuild *r)
{
	return r->m->job->vol->geo.block_size;
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
			mapreport_filled(&r->report, r->next);
	}
	return err;
}

/* Ends VBLOCKNR, unless it has already ended. */
static int end_block(struct maprebuild *r, struct context *cx,
		     uint64_t vblocknr)
{
	int err = repairwriter_end(r->m->job->writer, cx, vblocknr,
				   METAFILE_MULTI);

	if (err != -EUCLEAN)
		return err;
	fail_clear(cx);
	return 0;
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
		mapreport_lost(&r->report, blkoff);
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
	if (found->vblocknr)
		ret = remap_keep(r->remap, cx, found->blkoff, found->vblocknr);
	else
		ret = copy_block(r, cx, found->blkoff, found->blocknr);
	if (ret < 0)
		return ret;
	if (!found->vblocknr && !ret) {
		mapreport_lost(&r->report, found->blkoff);
		return 0;
	}
	mapreport_found(&r->report, found);
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

static int drop_block(struct maprebuild *r, struct context *cx,
		      uint64_t vblocknr)
{
	if (array_reserve(cx, &r->past, &r->past_room, r->npast + 1))
		return -ENOMEM;
	r->past[r->npast++] = vblocknr;
	r->report.past++;
	return 0;
}

/* A pointer to nowhere; for a directory it is reported when it is filled. */
static int lose_blocks(struct maprebuild *r, struct context *cx,
		       uint64_t blkoff)
{
	int err = merge_found(r, cx, blkoff);

	if (!err && !r->f->is_dir && !liveblocks_find(r->f->live, blkoff))
		mapreport_lost(&r->report, blkoff);
	return err;
}

static int take_block(void *arg, struct context *cx, const struct liveblock *b,
		      enum liveblocks_worth worth)
{
	struct maprebuild *r = arg;
	int ret;

	if (!liveblocks_takes(&r->f->live->q, b->blkoff, r->walked))
		return worth == LIVEBLOCKS_SOUND ?
			       drop_block(r, cx, b->vblocknr) : 0;
	if (worth == LIVEBLOCKS_LOST)
		return lose_blocks(r, cx, b->blkoff);
	r->walked = b->blkoff + 1;
	ret = merge_found(r, cx, b->blkoff);
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

/* Nodes are listed already. */
static int pass_node(void *arg, struct context *cx, uint64_t vblocknr,
		     bool lives)
{
	(void)arg;
	(void)cx;
	(void)vblocknr;
	(void)lives;
	return 0;
}

static void note_gap(void *arg)
{
	struct maprebuild *r = arg;

	r->report.unsure = !r->m->logs_whole;
}

static int list_living(struct maprebuild *r, struct context *cx)
{
	const struct liveblocks *l = r->f->live;
	size_t i, room = 0;

	if (array_reserve(cx, &r->living, &room, l->n + 1))
		return -ENOMEM;
	for (i = 0; i < l->n; i++)
		if (l->list[i].vblocknr)
			r->living[r->nliving++] = l->list[i].vblocknr;
	sort_numbers(r->living, r->nliving);
	return 0;
}

/* Whether virtual block VBLOCKNR was found. */
static bool is_found(const struct maprebuild *r, uint64_t vblocknr)
{
	size_t i = search_lower_bound(r->living, r->nliving, vblocknr);

	return i < r->nliving && r->living[i] == vblocknr;
}

static int walk_old(struct maprebuild *r, struct context *cx)
{
	struct liveblocks_walk w = {
		.check = r->m->job->check,
		.q = &r->f->live->q,
		.block = take_block,
		.skip = note_gap,
		.node = pass_node,
		.arg = r,
	};
	int ret = liveblocks_walk(&w, cx);

	return ret < 0 ? ret : 0;
}

/* A wrong pointer may lead to a block that belongs elsewhere in the file. */
static int end_blocks(struct maprebuild *r, struct context *cx,
		      const uint64_t *list, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (!is_found(r, list[i]))
			err = end_block(r, cx, list[i]);
	return err;
}

/* A directory has as many blocks as its size says, and one at least. */
static int settle_dir(struct maprebuild *r, struct context *cx)
{
	uint64_t size;
	int err = r->next ? 0 : fill_gap(r, cx, 1);

	size = r->next * block_size(r);
	r->report.resized = size != le64_get(r->f->inode.i_size);
	r->report.size = size;
	r->f->inode.i_size = le64_make(size);
	return err;
}

static int write_inode(struct maprebuild *r, struct context *cx)
{
	struct mapfile *f = r->f;

	if (!f->is_link || r->next)
		return inodes_write(r->m->job->writer, cx, f->live->q.ino,
				    &f->inode);
	r->report.removed = true;
	return inodes_free(r->m->job->writer, cx, f->live->q.ino);
}

static int rebuild_map(struct maprebuild *r, struct context *cx)
{
	const struct liveblocks *l = r->f->live;
	int err = walk_old(r, cx);

	if (!err)
		err = merge_found(r, cx, UINT64_MAX);
	if (!err && r->f->is_dir)
		err = settle_dir(r, cx);
	if (!err)
		err = remap_finish(r->remap, cx, &r->f->inode);
	if (!err)
		err = end_blocks(r, cx, l->nodes, l->nnodes);
	if (!err)
		err = end_blocks(r, cx, r->past, r->npast);
	return err ? err : write_inode(r, cx);
}

int maprebuild_run(struct mapfiles *m, struct context *cx, struct mapfile *f)
{
	struct maprebuild r = {
		.m = m,
		.f = f,
		.report = { .job = m->job, .ino = f->live->q.ino },
	};
	int err = 0;

	r.block = malloc(block_size(&r));
	if (!r.block)
		err = fail(cx, -ENOMEM, "block of inode %llu",
			   (unsigned long long)r.report.ino);
	if (!err)
		err = list_living(&r, cx);
	if (!err)
		err = remap_open(&r.remap, cx, m->job->writer,
				 r.report.ino);
	if (!err)
		err = rebuild_map(&r, cx);
	if (!err)
		mapreport_end(&r.report);
	remap_close(r.remap);
	free(r.block);
	free(r.past);
	free(r.living);
	return err;
}
