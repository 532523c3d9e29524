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
 * Old nodes end, and so do blocks past the size, except those whose offset was
 * wrong and that were found at the right one.  What became of blocks is
 * reported range by range; the account of losses does not depend on it.
 */
#include "fsck/maps/mapfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numlist.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "log/directwriter.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "vol/cptable.h"
#include "vol/root.h"

struct older {
	struct mapfiles *m;
	struct liveblocks *l;
	struct vblocks vblocks;
	struct liveblocks_gap *ranges; /* where blocks are looked for */
	size_t n, room;
};

/*
 * Takes what checkpoint CNO has, if the file is the same there.  A range in
 * which it has a block is looked for no further, nor is a gap where its map is
 * not broken as well (a node that is broken mostly is for all that share it).
 */
static int ask_checkpoint(struct older *o, struct context *cx, uint64_t cno)
{
	struct liveblocks *l = o->l;
	const struct nilfs_inode *is = l->q.inode;
	struct liveblocks_gap range;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct file file;
	struct vblock vb;
	struct root root;
	size_t i, n, left = 0;
	int ret = context_cancelled(cx);

	if (!ret)
		ret = root_open(&root, cx, o->m->job->vol, cno);
	if (!ret)
		ret = root_file(&root, cx, l->q.ino, &file);
	if (ret)
		return damage_forgive(cx, ret);
	if (!inode_has_bmap(&file.inode) ||
	    inode_dirent_type(le16_get(file.inode.i_mode)) !=
		    inode_dirent_type(le16_get(is->i_mode)) ||
	    le32_get(file.inode.i_generation) != le32_get(is->i_generation))
		return 0;
	for (i = 0; i < o->n; i++) {
		range = o->ranges[i];
		n = l->n;
		ret = blockmap_cursor_open(&cur, cx, &file.map, range.blkoff,
					   false);
		while (!ret &&
		       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0 &&
		       item.key < range.end) {
			ret = vblocks_find(&o->vblocks, cx, item.ptr, &vb);
			if (ret < 0)
				break;
			if (ret != VBLOCKS_USED || vb.start > cno ||
			    vb.end <= cno ||
			    !geometry_has_block(&o->m->job->vol->geo,
						vb.blocknr) ||
			    numlist_has(&o->m->doubted, item.ptr) ||
			    liveblocks_find(l, item.key)) {
				ret = 0;
				continue;
			}
			/* Of two checkpoints the later one. */
			ret = array_push(
				cx, &l->list, &l->n, &l->room,
				(struct liveblock){
					.blkoff = item.key,
					.vblocknr = vb.end == NILFS_CNO_MAX ?
							    item.ptr : 0,
					.blocknr = vb.blocknr, .cno = cno,
					.seq = cno,
				});
		}
		blockmap_cursor_close(&cur);
		if (damage_forgive(cx, ret) < 0)
			return ret;
		/* There may be none in a gap. */
		if (ret < 0 ||
		    (l->n == n && liveblocks_is_lost(l, range.blkoff)))
			o->ranges[left++] = range;
	}
	o->n = left;
	liveblocks_settle(l);
	return 0;
}

/*
 * Adds to L, which is broken, what older checkpoints have, the newest first, of
 * what is lost and the logs have not.
 */
static int search_older(struct mapfiles *m, struct context *cx,
			struct liveblocks *l)
{
	struct older o = { .m = m, .l = l };
	bool gaps = l->q.is_dir || l->q.is_link ||
		    !listings_are_whole(m->job->check);
	uint64_t *cnos = NULL;
	size_t i, n = 0;
	int err = 0;

	vblocks_init(&o.vblocks, m->job->vol, NULL);
	for (i = 0; i < l->nlost && !err; i++)
		if (!liveblocks_find(l, l->lost[i].blkoff))
			err = array_push(cx, &o.ranges, &o.n, &o.room,
					 (struct liveblocks_gap){
						 l->lost[i].blkoff,
						 l->lost[i].blkoff + 1 });
	/* Where all logs can be read a gap that they leave was a hole. */
	for (i = 0; i < l->ngaps && !err && gaps; i++)
		err = array_push(cx, &o.ranges, &o.n, &o.room, l->gaps[i]);
	if (!err && o.n)
		err = damage_forgive(
			cx, cptable_list(m->job->vol, cx, false, &cnos, &n));
	while (n-- && o.n && !err)
		if (cnos[n] < m->job->vol->latest.cno)
			err = ask_checkpoint(&o, cx, cnos[n]);
	vblocks_fini(&o.vblocks);
	free(o.ranges);
	free(cnos);
	return err;
}

#define RANGE_MAX 64

/* The most blocks of a directory that are filled in a row. */
#define FILL_MAX 4096

struct maprebuild {
	struct mapfiles *m;
	const struct liveblocks *l;
	struct nilfs_inode *inode;
	struct remap *remap;
	uint32_t block_size;
	size_t at;		/* of the list, where the merging is */
	struct numlist living; /* numbers there */
	uint64_t walked;	/* after the last sound block of the old map */
	uint64_t next;		/* one past the last block of the new one */
	char *block;		/* a buffer */
	struct numlist past;   /* virtual blocks past the size */
	/* Blocks [FROM, END) that are not reported yet: what became of them,
	   or NULL; with CNO, of which checkpoint they are now. */
	const char *fate;
	uint64_t from, end, cno;
	/* The rest is reported in the end. */
	uint64_t found;		/* how many */
	bool unsure;		/* more may be lost than is known */
};

#define LOST "lost, a hole now"

/*
 * Notes what became of block BLKOFF, FATE, and of which checkpoint it is now,
 * CNO; reports the blocks before it if that is something else.  Blocks ascend.
 */
static void note_block(struct maprebuild *r, const char *fate, uint64_t blkoff,
		       uint64_t cno)
{
	char range[RANGE_MAX], of[RANGE_MAX] = "";

	if (r->fate && fate && !strcmp(r->fate, fate) && r->cno == cno &&
	    r->end == blkoff) {
		r->end++;
		return;
	}
	if (r->end - r->from == 1)
		snprintf(range, sizeof(range), "block %" PRIu64, r->from);
	else
		snprintf(range, sizeof(range), "blocks %" PRIu64 " to %" PRIu64,
			 r->from, r->end - 1);
	if (r->cno)
		snprintf(of, sizeof(of), " %" PRIu64, r->cno);
	if (r->fate)
		fixers_note(r->m->job, "inode %" PRIu64 ": %s: %s%s",
			    r->l->q.ino, range, r->fate, of);
	r->fate = fate;
	r->cno = cno;
	r->from = blkoff;
	r->end = blkoff + 1;
}

/* Blocks of a directory up to END that have no names. */
static int fill_gap(struct maprebuild *r, struct context *cx, uint64_t end)
{
	const struct nilfs_dir_entry unused = {
		.rec_len = dirent_rec_len_encode(r->block_size),
	};
	int err = 0;

	memset(r->block, 0, r->block_size);
	memcpy(r->block, &unused, offsetof(struct nilfs_dir_entry, name));
	for (; r->next < end && !err; r->next++) {
		err = remap_put(r->remap, cx, r->next, r->block);
		if (!err)
			note_block(r, "lost, with the names in it", r->next, 0);
	}
	return err;
}

/*
 * Puts block BLKOFF, for which a directory is filled up to it: virtual block
 * VBLOCKNR, or if that is 0 a copy of what is at BLOCKNR of the device.  1, 0
 * where there is no room, or it cannot be read.
 */
static int put_block(struct maprebuild *r, struct context *cx, uint64_t blkoff,
		     uint64_t vblocknr, uint64_t blocknr)
{
	bool lost = r->l->q.is_dir && blkoff - r->next > FILL_MAX;
	int err = 0;

	if (r->l->q.is_dir && !lost)
		err = fill_gap(r, cx, blkoff);
	if (!err && !lost && vblocknr) {
		err = remap_keep(r->remap, cx, blkoff, vblocknr);
	} else if (!err && !lost) {
		err = volume_read_blocks(r->m->job->vol, cx, blocknr, 1,
					 r->block);
		lost = err == -EIO || err == -EUCLEAN;
		if (lost)
			fail_clear(cx);
		else if (!err)
			err = remap_put(r->remap, cx, blkoff, r->block);
	}
	if (lost) {
		note_block(r, LOST, blkoff, 0);
		return 0;
	}
	r->next = blkoff + 1;
	return err ? err : 1;
}

/* Adds what was found before block END. */
static int merge_found(struct maprebuild *r, struct context *cx, uint64_t end)
{
	const struct liveblocks *l = r->l;
	const struct liveblock *b;
	int ret = 0;

	for (; r->at < l->n && l->list[r->at].blkoff < end && ret >= 0;
	     r->at++) {
		b = &l->list[r->at];
		if (b->blkoff >= l->q.limit && !r->l->q.is_dir)
			continue;
		ret = put_block(r, cx, b->blkoff, b->vblocknr, b->blocknr);
		if (ret > 0 && !b->vblocknr && b->cno)
			note_block(r, "the content of checkpoint", b->blkoff,
				   b->cno);
		else
			r->found += ret > 0;
	}
	return ret < 0 ? ret : 0;
}

/* B, to which the old map leads. */
static int take_block(void *arg, struct context *cx, const struct liveblock *b,
		      enum liveblocks_worth worth)
{
	struct maprebuild *r = arg;
	int ret;

	if (worth == LIVEBLOCKS_SKIPPED)
		r->unsure = !listings_are_whole(r->m->job->check);
	if (worth == LIVEBLOCKS_SKIPPED || b->is_node)
		return 0;
	if (!liveblocks_takes(&r->l->q, b->blkoff, r->walked))
		return worth != LIVEBLOCKS_SOUND ?
			       0 : numlist_add(&r->past, cx, b->vblocknr);
	ret = merge_found(r, cx, b->blkoff);
	if (worth == LIVEBLOCKS_LOST) {
		/* Of a directory it is reported when it is filled. */
		if (!ret && !r->l->q.is_dir &&
		    !liveblocks_find(r->l, b->blkoff))
			note_block(r, LOST, b->blkoff, 0);
		return ret;
	}
	r->walked = b->blkoff + 1;
	if (!ret)
		ret = put_block(r, cx, b->blkoff,
				worth == LIVEBLOCKS_SHARED ? 0 : b->vblocknr,
				b->blocknr);
	return ret < 0 ? ret : 0;
}

/* Ends those of the virtual blocks LIST that have not already, and were not
   found: a wrong pointer may lead to a block that belongs elsewhere. */
static int end_blocks(struct maprebuild *r, struct context *cx,
		      const struct numlist *list)
{
	size_t i;
	int err = 0;

	for (i = 0; i < list->n && !err; i++) {
		if (numlist_has(&r->living, list->list[i]))
			continue;
		err = directwriter_end(r->m->job->writer, cx, list->list[i],
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
	const struct liveblocks *l = r->l;
	struct nilfs_inode *inode = r->inode;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->n && !ret; i++)
		if (l->list[i].vblocknr)
			ret = numlist_add(&r->living, cx, l->list[i].vblocknr);
	numlist_settle(&r->living);
	if (!ret)
		ret = liveblocks_walk(r->m->job->check, cx, &l->q, take_block,
				      r);
	if (ret >= 0)
		ret = merge_found(r, cx, UINT64_MAX);
	/* A directory has one block at least. */
	if (!ret && r->l->q.is_dir && !r->next)
		ret = fill_gap(r, cx, 1);
	if (!ret && r->l->q.is_dir)
		inode->i_size = le64_make(r->next * r->block_size);
	if (!ret)
		ret = remap_finish(r->remap, cx, inode);
	if (!ret)
		ret = end_blocks(r, cx, &l->nodes);
	if (!ret)
		ret = end_blocks(r, cx, &r->past);
	if (ret)
		return ret;
	if (r->l->q.is_link && !r->next)
		return inodes_free(r->m->job->writer, cx, l->q.ino);
	return inodes_write(r->m->job->writer, cx, l->q.ino, inode);
}

int maprebuild_run(struct mapfiles *m, struct context *cx, size_t i)
{
	struct maprebuild r = {
		.m = m, .l = &m->live[i], .inode = &m->inodes[i],
		.block_size = m->job->vol->geo.block_size,
	};
	uint64_t ino = m->inos.list[i], size = le64_get(r.inode->i_size);
	int err = search_older(m, cx, &m->live[i]);

	if (err)
		return err;
	r.block = malloc(r.block_size);
	if (!r.block)
		return fail(cx, -ENOMEM, "block of inode %" PRIu64, ino);
	err = remap_open(&r.remap, cx, m->job->writer, ino);
	if (!err)
		err = rebuild_map(&r, cx);
	remap_close(r.remap);
	free(r.block);
	free(r.past.list);
	free(r.living.list);
	if (err)
		return err;
	note_block(&r, NULL, 0, 0);
	fixers_note(m->job,
		    "inode %" PRIu64 ": map rebuilt, %" PRIu64
		    " block%s restored from the logs",
		    ino, r.found, r.found == 1 ? "" : "s");
	if (r.past.n)
		fixers_note(m->job,
			    "inode %" PRIu64 ": %zu block%s past its "
			    "size dropped",
			    ino, r.past.n, r.past.n == 1 ? "" : "s");
	if (r.l->q.is_dir && le64_get(r.inode->i_size) != size)
		fixers_note(m->job,
			    "inode %" PRIu64 ": its size is %" PRIu64 " now",
			    ino, le64_get(r.inode->i_size));
	if (r.l->q.is_link && !r.next)
		fixers_note(m->job,
			    "inode %" PRIu64 ": the target of this "
			    "symbolic link is lost; the link is removed",
			    ino);
	if (r.unsure)
		fixers_note(m->job, "inode %" PRIu64 ": there may be holes "
			    "where it had blocks, as not all logs can be read",
			    ino);
	return 0;
}
