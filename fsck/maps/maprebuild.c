// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rebuilding the block map of a file whose map has damaged nodes or pointers.
 *
 * A missing block is searched in older checkpoints.  A block at the same offset
 * there is current if it is still live.  Otherwise it is outdated; it is used only
 * if the file must have a block there: at an invalid pointer, in a directory, or if
 * some logs cannot be read.
 *
 * Two streams are merged in the order of the file: valid blocks of the old map,
 * which is walked once more, and the runs of blocks that were found.  If
 * neither has a block, there is a hole, except in directories: the kernel
 * treats a hole as an error, but a block without names is valid.
 *
 * Old nodes end, and so do blocks after the size, except those with a wrong
 * offset that were found at the right one.  The results are reported range by
 * range; the account of losses does not depend on them.
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
#include "fsck/snapshots/snapblocks.h"
#include "log/directwriter.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "vol/cptable.h"
#include "vol/root.h"

struct older {
	struct mapfiles *m;
	struct liveblocks *l;
	struct vblocks vblocks;
	struct liveblocks_gap *ranges; /* where blocks are searched */
	size_t n, room;
};

/*
 * Adds blocks of checkpoint CNO if the file is the same there.  A range in
 * which it has a block is not searched further.  The same holds for a gap,
 * unless its map is broken too: a broken node is mostly broken for all that
 * share it.
 */
static int maprebuild_ask_checkpoint(struct older *o, struct context *cx,
				     uint64_t cno)
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
	int ret = context_cancelled(cx) ?:
		  root_open(&root, cx, o->m->job->vol, cno) ?:
		  root_file(&root, cx, l->q.ino, &file);

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
			if (ret != VBLOCKS_USED || !lifetime_has(&vb.life, cno) ||
			    !geometry_has_block(&o->m->job->vol->geo,
						vb.blocknr) ||
			    numlist_has(&o->m->shared_blocks, item.ptr) ||
			    liveblocks_find(l, item.key)) {
				ret = 0;
				continue;
			}
			/* Of two checkpoints, use the later one. */
			ret = array_push(
				cx, &l->list, &l->n, &l->room,
				(struct liveblock){
					.blkoff = item.key,
					.vblocknr = vb.life.end == NILFS_CNO_MAX ?
							    item.ptr : 0,
					.blocknr = vb.blocknr, .cno = cno,
					.seq = cno,
				});
		}
		blockmap_cursor_close(&cur);
		if (damage_forgive(cx, ret) < 0)
			return ret;
		/* The block may be missing in a gap. */
		if (ret < 0 ||
		    (l->n == n && liveblocks_is_lost(l, range.blkoff)))
			o->ranges[left++] = range;
	}
	o->n = left;
	liveblocks_settle(l);
	return 0;
}

/*
 * Adds lost blocks that are not in the logs to L, which is broken, from older
 * checkpoints, the newest first.
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
	/* If all logs can be read, a remaining gap was a hole. */
	for (i = 0; i < l->ngaps && !err && gaps; i++)
		err = array_push(cx, &o.ranges, &o.n, &o.room, l->gaps[i]);
	if (!err && o.n)
		err = damage_forgive(
			cx, cptable_list(m->job->vol, cx, false, &cnos, &n));
	while (n-- && o.n && !err)
		if (cnos[n] < m->job->vol->latest.cno)
			err = maprebuild_ask_checkpoint(&o, cx, cnos[n]);
	vblocks_fini(&o.vblocks);
	free(o.ranges);
	free(cnos);
	return err;
}

#define RANGE_MAX 64

/* Limit of consecutive blocks of a directory that are filled. */
#define FILL_MAX 4096

struct maprebuild {
	struct mapfiles *m;
	const struct liveblocks *l;
	struct nilfs_inode *inode;
	struct remap *remap;
	uint32_t block_size;
	size_t at;		/* position of the merge in the list */
	struct numlist living; /* virtual blocks of the list that are live */
	uint64_t walked;	/* after the last valid block of the old map */
	uint64_t next;		/* one past the last block of the new map */
	char *block;		/* buffer of a block */
	struct numlist beyond; /* virtual blocks after the size */
	/* Blocks [FROM, END) not reported yet: what happened to them, or NULL;
	   with CNO, the checkpoint that they are from. */
	const char *fate;
	uint64_t from, end, cno;
	/* Reported at the end. */
	uint64_t found;		/* number of blocks found */
	bool unsure;		/* more blocks may be lost than is known */
};

#define LOST "lost, now a hole"

/*
 * Records what happened to block BLKOFF, FATE, and its checkpoint CNO; reports
 * the blocks before it if these differ.  Blocks must ascend.
 */
static void maprebuild_note_block(struct maprebuild *r, const char *fate,
				  uint64_t blkoff, uint64_t cno)
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

/* Fills a directory up to END with blocks without names. */
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
			maprebuild_note_block(r, "lost, with its names",
					      r->next, 0);
	}
	return err;
}

/*
 * Adds block BLKOFF, after filling a directory up to it: virtual block
 * VBLOCKNR, or if that is 0 a copy of block BLOCKNR of the device.  1, 0 if
 * there is no room or it cannot be read.
 */
static int maprebuild_put_block(struct maprebuild *r, struct context *cx,
				uint64_t blkoff, uint64_t vblocknr,
				uint64_t blocknr)
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
		maprebuild_note_block(r, LOST, blkoff, 0);
		return 0;
	}
	r->next = blkoff + 1;
	return err ? err : 1;
}

/* Adds the blocks found before block END. */
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
		ret = maprebuild_put_block(r, cx, b->blkoff, b->vblocknr,
					   b->blocknr);
		if (ret > 0 && !b->vblocknr && b->cno)
			maprebuild_note_block(r, "restored from checkpoint",
					      b->blkoff, b->cno);
		else
			r->found += ret > 0;
	}
	return ret < 0 ? ret : 0;
}

/* Handles B, a block of the old map. */
static int maprebuild_take_block(void *arg, struct context *cx,
				 const struct liveblock *b,
				 enum liveblocks_verdict verdict)
{
	struct maprebuild *r = arg;
	int ret;

	if (verdict == LIVEBLOCKS_SKIPPED)
		r->unsure = !listings_are_whole(r->m->job->check);
	if (verdict == LIVEBLOCKS_SKIPPED || b->is_node)
		return 0;
	if (!liveblocks_can_contain(&r->l->q, b->blkoff, r->walked))
		return verdict != LIVEBLOCKS_SOUND ?
			       0 : numlist_add(&r->beyond, cx, b->vblocknr);
	ret = merge_found(r, cx, b->blkoff);
	if (verdict == LIVEBLOCKS_LOST) {
		/* In a directory it is reported when it is filled. */
		if (!ret && !r->l->q.is_dir &&
		    !liveblocks_find(r->l, b->blkoff))
			maprebuild_note_block(r, LOST, b->blkoff, 0);
		return ret;
	}
	r->walked = b->blkoff + 1;
	if (!ret)
		ret = maprebuild_put_block(
			r, cx, b->blkoff,
			verdict == LIVEBLOCKS_SHARED ? 0 : b->vblocknr,
			b->blocknr);
	return ret < 0 ? ret : 0;
}

/* Ends the virtual blocks in LIST, unless they have ended or were found: a
   wrong pointer may lead to a block of another place. */
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
		ret = liveblocks_walk(r->m->job->check, cx, &l->q,
				      maprebuild_take_block, r);
	if (ret >= 0)
		ret = merge_found(r, cx, UINT64_MAX);
	/* A directory has at least one block. */
	if (!ret && r->l->q.is_dir && !r->next)
		ret = fill_gap(r, cx, 1);
	if (!ret && r->l->q.is_dir)
		inode->i_size = le64_make(r->next * r->block_size);
	if (!ret)
		ret = remap_finish(r->remap, cx, inode) ?:
		      end_blocks(r, cx, &l->nodes) ?:
		      end_blocks(r, cx, &r->beyond);
	if (ret)
		return ret;
	if (r->l->q.is_link && !r->next)
		return inodes_free(r->m->job->writer, cx, l->q.ino);
	return inodes_write(r->m->job->writer, cx, l->q.ino, inode);
}

int maprebuild_extend(struct fixer_job *job, struct context *cx, uint64_t ino,
		      struct lifetime life, uint64_t last,
		      struct nilfs_inode *is)
{
	struct volume *vol = job->vol;
	uint64_t size, was, blocknr;
	struct segsum_block b = { .ino = 0 };
	struct nearcps nearby = { 0 };
	struct nilfs_inode inode;
	struct file file;
	bool found = false;
	int ret;

	if (last >= (uint64_t)INT64_MAX >> vol->geo.block_bits)
		return 0;
	ret = file_init(&file, cx, vol, ino, is) ?:
	      file_lookup(&file, cx, last, &blocknr);
	if (ret > 0)
		ret = listings_find_block(cx, job->check, blocknr, &b);
	if (ret <= 0 || b.ino != ino || b.is_node || b.blkoff != last)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	size = (last + 1) << vol->geo.block_bits;
	ret = nearcps_open(&nearby, cx, vol);
	nearcps_begin(&nearby, life);
	while (ret >= 0 && !found &&
	       (ret = nearcps_find_same_map(&nearby, cx, vol, ino, is, &inode)) > 0) {
		was = le64_get(inode.i_size);
		found = inode_is_same_file(&inode, is) && was <= size &&
			was > last << vol->geo.block_bits;
	}
	nearcps_close(&nearby);
	if (ret < 0)
		return ret;
	is->i_size = le64_make(found ? was : size);
	return 1;
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
	err = remap_open(&r.remap, cx, m->job->writer, ino) ?:
	      rebuild_map(&r, cx);
	remap_close(r.remap);
	free(r.block);
	free(r.beyond.list);
	free(r.living.list);
	if (err)
		return err;
	maprebuild_note_block(&r, NULL, 0, 0);
	fixers_note(m->job,
		    "inode %" PRIu64 ": map rebuilt, %" PRIu64
		    " block%s restored from the logs",
		    ino, r.found, r.found == 1 ? "" : "s");
	if (r.beyond.n)
		fixers_note(m->job,
			    "inode %" PRIu64 ": %zu block%s after its "
			    "size removed",
			    ino, r.beyond.n, r.beyond.n == 1 ? "" : "s");
	if (r.l->q.is_dir && le64_get(r.inode->i_size) != size)
		fixers_note(m->job,
			    "inode %" PRIu64 ": size set to %" PRIu64,
			    ino, le64_get(r.inode->i_size));
	if (r.l->q.is_link && !r.next)
		fixers_note(m->job,
			    "inode %" PRIu64 ": the target of this "
			    "symbolic link is lost; the link is removed",
			    ino);
	if (r.unsure)
		fixers_note(m->job, "inode %" PRIu64 ": there may be holes "
			    "where it had blocks, because some logs cannot "
			    "be read",
			    ino);
	return 0;
}
