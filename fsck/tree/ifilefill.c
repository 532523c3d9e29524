// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The newest ifile from its pieces.
 *
 * Its blocks are alive until they are changed, so the logs know all of them
 * that the map has lost, and they stay where they are.  A block that cannot be
 * read is taken from the newest older checkpoint that has it.  The inodes in it
 * are those of that checkpoint: what has changed of their files since is found
 * by the next look.
 */

#include <errno.h>
#include <string.h>

#include "disk/checkpoint.h"
#include "fsck/checkpoints/latestcp.h"
#include "fsck/dat/groupfix.h"
#include "fsck/derive/liveblocks.h"
#include "fsck/tree/fix_ifile.h"
#include "log/repairwriter.h"

#define SECTOR 512

struct filling {
	struct fixer_job *job;
	struct volume *vol;
	struct metafile *ifile, *cpfile;
	struct liveblocks blocks;	/* of the newest checkpoint */
	const uint64_t *holes;		/* blocks wanted; none: all */
	size_t nholes;
	bool unknown;			/* more may be missing than is known */
	uint64_t missing;		/* blocks known to be */
	struct groupfix groups;		/* of which the allocator's are */
	le64 last[NILFS_INODE_BMAP_SIZE];	/* map looked at last */
};

static int put_block(struct filling *f, struct context *cx,
		     const struct liveblock *b)
{
	const void *from;
	void *to;
	int err;

	err = cache_get(f->vol->cache, cx, b->blocknr, &from);
	if (err)
		return err;
	err = metafile_change(f->ifile, cx, b->blkoff, &to, NULL);
	if (!err)
		memcpy(to, from, f->vol->geo.block_size);
	cache_put(f->vol->cache, from);
	return err;
}

static bool is_allocators(const struct filling *f, uint64_t blkoff)
{
	struct palloc_block what;

	palloc_locate(f->groups.p, blkoff, &what);
	return what.kind != PALLOC_ENTRIES;
}

static bool is_hole(const struct filling *f, uint64_t blkoff)
{
	size_t i;

	for (i = 0; i < f->nholes; i++)
		if (f->holes[i] == blkoff)
			return true;
	return false;
}

/* Inodes of an older state that have been freed since, in block BLKOFF. */
static int drop_freed(struct filling *f, struct context *cx, uint64_t blkoff)
{
	const struct palloc *p = f->groups.p;
	struct palloc_block what;
	const void *bitmap;
	uint64_t ino;
	void *data;
	int ret;

	palloc_locate(p, blkoff, &what);
	if (what.kind != PALLOC_ENTRIES)
		return 0;
	ret = metafile_change(f->ifile, cx, blkoff, &data, NULL);
	if (ret)
		return ret;
	ret = metafile_look(f->ifile, cx, palloc_bitmap_blkoff(p, what.group),
			    &bitmap);
	for (ino = what.first; ret > 0 && what.count--; ino++)
		if (!palloc_bit(bitmap, palloc_group_offset(p, ino)))
			memset((char *)data + palloc_entry_offset(p, ino), 0,
			       p->entry_size);
	return ret < 0 ? ret : 0;
}

/* Block B of checkpoint CNO, if the new ifile has none for it. */
static int take_block(struct filling *f, struct context *cx, uint64_t cno,
		      const struct liveblock *b)
{
	bool hole = is_hole(f, b->blkoff);
	uint64_t ptr;
	int ret;

	if (f->nholes && !hole)
		return 0;
	if (!f->unknown && is_allocators(f, b->blkoff))
		return 0;
	ret = metafile_lookup(f->ifile, cx, b->blkoff, &ptr);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = put_block(f, cx, b);
	if (ret == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (!ret)
		ret = drop_freed(f, cx, b->blkoff);
	if (ret)
		return ret;
	fixers_note(f->job, "block %llu of the ifile: restored from "
		    "checkpoint %llu",
		    (unsigned long long)b->blkoff, (unsigned long long)cno);
	if (hole || liveblocks_is_lost(&f->blocks, b->blkoff))
		f->missing--;
	return 0;
}

/* What checkpoint CNO, with entry CP, has of what is missing. */
static int ask_checkpoint(struct filling *f, struct context *cx, uint64_t cno,
			  const struct nilfs_checkpoint *cp)
{
	const struct liveblocks_question q = {
		.ino = NILFS_IFILE_INO,
		.inode = &cp->cp_ifile_inode,
		.cno = cno,
	};
	struct liveblocks old = { 0 };
	size_t i;
	int err;

	if (!memcmp(f->last, cp->cp_ifile_inode.i_bmap, sizeof(f->last)))
		return 0;
	memcpy(f->last, cp->cp_ifile_inode.i_bmap, sizeof(f->last));
	err = liveblocks_gather(&old, cx, f->job->check, &q);
	for (i = 0; i < old.n && !err; i++)
		err = take_block(f, cx, cno, &old.list[i]);
	if (liveblocks_is_whole(&old) && old.n)
		f->unknown = false;
	liveblocks_fini(&old);
	return err;
}

static bool is_done(const struct filling *f)
{
	return !f->unknown && !f->missing;
}

/* All checkpoints before the latest, the newest first. */
static int ask_older(struct filling *f, struct context *cx)
{
	const struct nilfs_geometry *geo = &f->vol->geo;
	uint64_t cno = f->vol->latest.cno, blkoff = UINT64_MAX;
	struct nilfs_checkpoint cp;
	const void *data;
	int ret = 0;

	while (cno-- > 1 && ret >= 0 && !is_done(f)) {
		if (blkoff != checkpoint_blkoff(geo, cno)) {
			blkoff = checkpoint_blkoff(geo, cno);
			ret = context_cancelled(cx);
		}
		if (!ret)
			ret = metafile_look(f->cpfile, cx, blkoff, &data);
		if (!ret)
			cno = checkpoint_first(geo, blkoff);
		if (ret <= 0)
			continue;
		memcpy(&cp, (const char *)data + checkpoint_offset(geo, cno),
		       sizeof(cp));
		ret = checkpoint_is_invalid(&cp) ? 0 :
						   ask_checkpoint(f, cx, cno, &cp);
	}
	if (ret >= 0 && f->missing && !f->nholes)
		fixers_note(f->job, "%llu blocks of the ifile: lost with their "
			    "inodes",
			    (unsigned long long)f->missing);
	return ret < 0 ? ret : 0;
}

/* Finds the blocks of the latest ifile, of which *K is the checkpoint. */
static int begin_filling(struct filling *f, struct context *cx,
			 struct fixer_job *job, struct latestcp *k)
{
	const struct liveblocks_question q = {
		.ino = NILFS_IFILE_INO,
		.inode = &k->cp.cp_ifile_inode,
		.cno = job->vol->latest.cno,
		.read = true,
		.logs = true,
	};
	int err;

	*f = (struct filling){
		.groups = {
			.m = repairwriter_file(job->writer, NILFS_IFILE_INO),
			.p = &job->vol->ifile_palloc,
		},
		.job = job,
		.vol = job->vol,
		.ifile = repairwriter_file(job->writer, NILFS_IFILE_INO),
		.cpfile = repairwriter_file(job->writer, NILFS_CPFILE_INO),
	};
	err = latestcp_find(k, cx, job->check, 0);
	return err ? err : liveblocks_gather(&f->blocks, cx, job->check, &q);
}

static void end_filling(struct filling *f)
{
	groupfix_fini(&f->groups);
	liveblocks_fini(&f->blocks);
}

/* All that was found; what is lost counts as missing, or is of groups that are
   made again. */
static int put_blocks(struct filling *f, struct context *cx)
{
	const struct liveblocks *l = &f->blocks;
	size_t i;
	int err = 0;

	for (i = 0; i < l->n && !err; i++) {
		const struct liveblock *b = &l->list[i];

		if (b->vblocknr)
			err = metafile_keep(f->ifile, cx, b->blkoff,
					    b->vblocknr);
		else
			err = put_block(f, cx, b);
	}
	for (i = 0; i < l->nlost && !err; i++) {
		if (liveblocks_find(l, l->lost[i].blkoff))
			continue;
		if (is_allocators(f, l->lost[i].blkoff))
			err = groupfix_add_block(&f->groups, cx,
						 l->lost[i].blkoff);
		else
			f->missing++;
	}
	return err;
}

int ifilefill_run(struct fixer_job *job, struct context *cx)
{
	struct filling f;
	struct latestcp k;
	uint64_t blocks, old;
	int err;

	if (!metafile_is_empty(repairwriter_file(job->writer, NILFS_IFILE_INO)))
		return 0;
	err = begin_filling(&f, cx, job, &k);
	if (err)
		goto out;
	old = le64_get(k.cp.cp_ifile_inode.i_blocks) /
	      (job->vol->geo.block_size / SECTOR);
	blocks = le64_get(k.cp.cp_blocks_count);
	f.unknown = f.blocks.partial || !old;
	repairwriter_counts(job->writer, le64_get(k.cp.cp_inodes_count),
			    blocks - (old < blocks ? old : blocks));
	fixers_note(job, "ifile: %zu blocks found by its map and the logs",
		    f.blocks.n);
	err = put_blocks(&f, cx);
	if (!err && !is_done(&f))
		err = ask_older(&f, cx);
	if (!err)
		err = fix_ifile_groups(job, cx, &f.groups);
out:
	end_filling(&f);
	return err;
}

int ifilefill_holes(struct fixer_job *job, struct context *cx,
		    const uint64_t *blkoffs, size_t n)
{
	const struct liveblock *b;
	struct filling f;
	struct latestcp k;
	uint64_t ptr;
	size_t i;
	int ret;

	if (!n)
		return 0;
	ret = begin_filling(&f, cx, job, &k);
	f.holes = blkoffs;
	f.nholes = n;
	for (i = 0; i < n && ret >= 0; i++) {
		ret = metafile_lookup(f.ifile, cx, blkoffs[i], &ptr);
		if (ret)
			continue;
		b = liveblocks_find(&f.blocks, blkoffs[i]);
		if (!b || !b->vblocknr) {
			f.missing++;
			continue;
		}
		fixers_note(job, "block %llu of the ifile: found in the logs",
			    (unsigned long long)blkoffs[i]);
		ret = metafile_keep(f.ifile, cx, blkoffs[i], b->vblocknr);
	}
	if (ret >= 0)
		ret = f.missing ? ask_older(&f, cx) : 0;
	end_filling(&f);
	return ret;
}
