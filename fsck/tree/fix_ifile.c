// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which inodes are in use: bitmaps and counts of the newest ifile, and of those
 * of snapshots.
 *
 * A bitmap that is there is believed; one that is lost is made from the
 * inodes, of which those with links, and the reserved ones, are in use.  An
 * inode whose last link is gone and one that was freed look alike then, which
 * does no harm: the former cannot be open any longer.
 *
 * Which inodes of a snapshot are in use: three say so, the bitmap of a group,
 * the count of free ones in its descriptor, and the inodes themselves.
 *
 * An inode with links is in use, one whose block does not exist is not; about
 * others the bitmap is believed, unless the count in the descriptor is that of
 * the inodes with links.  Where the bitmap is as the inodes say, the count is
 * wrong; where a bitmap that is has as many as the descriptor says, the
 * bitmap; where a bitmap that cannot be one disagrees with both, it is, and the
 * count.  Otherwise something else is, as the way to a block of inodes, and
 * nothing is changed.
 */
#include "fsck/tree/fix_ifile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "fsck/past/pastblocks.h"
#include "fsck/tree/fix_inodes.h"
#include "log/repairwriter.h"
#include "vol/root.h"

#define GARBAGE 2 /* impossible bits of a bitmap that is none */

/* The group that is looked at: of the latest ifile, or of that of ROOT. */
struct group {
	struct fixer_job *job;
	const struct palloc *p;
	struct metafile *latest;	/* NULL: of a snapshot */
	struct pastblocks past;		/* of that */
	struct root root;
	uint64_t cno, number;
	char *block;			/* that was looked at last */
	uint8_t *old, *right;		/* bitmaps */
	unsigned int impossible;	/* bits that none of these ever had */
};

/* Sets up all but what G is of.  -ENOMEM. */
static int open_group(struct group *g, struct context *cx,
		      struct fixer_job *job)
{
	*g = (struct group){
		.job = job,
		.p = &job->vol->ifile_palloc,
		.past.job = job,
	};
	g->block = malloc(g->p->block_size);
	g->old = malloc(g->p->block_size);
	g->right = malloc(g->p->block_size);
	return g->block && g->old && g->right ? 0 :
		       fail(cx, -ENOMEM, "bitmaps of a group");
}

static void close_group(struct group *g)
{
	pastblocks_fini(&g->past);
	free(g->block);
	free(g->old);
	free(g->right);
}

/* Copies block BLKOFF of the ifile to G->block: 1, 0 for a hole. */
static int look(struct group *g, struct context *cx, uint64_t blkoff)
{
	const void *data;
	int ret = g->latest ? metafile_look(g->latest, cx, blkoff, &data) :
			      file_block(&g->root.ifile, cx, blkoff, &data);

	if (ret > 0)
		memcpy(g->block, data, g->p->block_size);
	if (ret > 0 && !g->latest)
		file_put(&g->root.ifile, data);
	return ret;
}

/*
 * What the block of inodes WHAT, or a hole (DATA is NULL), says of them.  STRICT:
 * no inode without links is in use, and the reserved ones are.
 */
static void mark_inodes(struct group *g, const struct palloc_block *what,
			const char *data, bool strict)
{
	struct nilfs_inode inode;
	uint64_t i;

	for (i = 0; i < what->count; i++) {
		uint64_t ino = what->first + i;
		uint32_t at = palloc_group_offset(g->p, ino);
		uint8_t bit = (uint8_t)(1 << at % 8);
		bool used = palloc_bit(g->old, at);

		/* Bits that the bitmap cannot have had. */
		g->impossible += ino < NILFS_USER_INO ? !used : !data && used;
		if (ino < NILFS_USER_INO) {
			if (strict)
				g->right[at / 8] |= bit;
			continue;
		}
		if (data)
			memcpy(&inode, data + i * g->p->entry_size,
			       sizeof(inode));
		if (data && le16_get(inode.i_links_count))
			g->right[at / 8] |= bit;
		else if (!data || strict)
			g->right[at / 8] &= (uint8_t)~bit;
	}
}

/*
 * The bitmap as it is, and as it should be, with *NFREES free entries.  A hole
 * in a snapshot means that all is free; a group with inodes has lost its bitmap
 * there, which is -EUCLEAN.
 */
static int make_bitmap(struct group *g, struct context *cx, bool strict,
		       uint32_t *nfrees)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, g->number);
	uint64_t end = blkoff + g->p->blocks_per_group;
	struct palloc_block what;
	int ret = look(g, cx, blkoff);
	bool hole = !ret;

	g->impossible = 0;
	if (hole)
		memset(g->block, 0, g->p->block_size);
	memcpy(g->old, g->block, g->p->block_size);
	memcpy(g->right, g->block, g->p->block_size);
	while (ret >= 0 && ++blkoff < end) {
		ret = look(g, cx, blkoff);
		palloc_locate(g->p, blkoff, &what);
		if (ret > 0 && hole && !g->latest)
			return fail(cx, -EUCLEAN, "a group without its bitmap");
		if (ret >= 0 && (!hole || g->latest))
			mark_inodes(g, &what, ret ? g->block : NULL, strict);
	}
	*nfrees = g->p->entries_per_group - palloc_count(g->p, g->right);
	return ret < 0 ? ret : 0;
}

/* Block BLKOFF of the ifile of the snapshot gets SIZE bytes at OFFSET: 1, 0. */
static int change(struct group *g, struct context *cx, uint64_t blkoff,
		  uint32_t offset, const void *from, size_t size)
{
	struct pastblocks_block *b;
	int ret = pastblocks_change_in(&g->past, cx, &g->root.ifile, blkoff,
				       false, &b);

	if (ret > 0)
		memcpy((char *)b->content + offset, from, size);
	return ret;
}

/* A group of a snapshot: 1 where it is changed, 0 where it stays as it is. */
static int repair_group(struct group *g, struct context *cx)
{
	uint64_t blkoff = palloc_desc_blkoff(g->p, g->number);
	uint32_t offset = palloc_desc_offset(g->p, g->number);
	uint32_t all = g->p->entries_per_group, nfrees = 0, want = 0;
	struct nilfs_palloc_group_desc desc;
	bool right;
	int ret = root_open(&g->root, cx, g->job->vol, g->cno);

	if (!ret)
		ret = make_bitmap(g, cx, false, &want);
	if (!ret)
		ret = look(g, cx, blkoff);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	right = !memcmp(g->old, g->right, g->p->block_size);
	memcpy(&desc, g->block + offset, sizeof(desc));
	nfrees = le32_get(desc.pg_nfrees);
	if (want != nfrees) {
		ret = make_bitmap(g, cx, true, &want);
		if (!ret && right && want != nfrees)
			ret = make_bitmap(g, cx, false, &want);
		if (ret)
			return damage_forgive(cx, ret);
		right = !memcmp(g->old, g->right, g->p->block_size);
	}
	/* A bitmap that is none, and not even the count is of it. */
	if (!right && want != nfrees &&
	    (g->impossible < GARBAGE ||
	     nfrees == all - palloc_count(g->p, g->old)))
		return 0;
	if (right && want == nfrees)
		return 0;
	desc.pg_nfrees = le32_make(want);
	ret = want == nfrees ? 1 : change(g, cx, blkoff, offset, &desc,
					  sizeof(desc));
	if (ret > 0 && !right)
		ret = change(g, cx, palloc_bitmap_blkoff(g->p, g->number), 0,
			     g->right, g->p->block_size);
	return ret;
}

static void note_counts(struct group *g, uint64_t n)
{
	if (n)
		fixers_note(g->job, "checkpoint %" PRIu64 ": ifile: %" PRIu64
			    " %s of inodes corrected", g->cno, n,
			    n == 1 ? "group" : "groups");
}

/*
 * Repairs bitmaps and counts of the groups that FIXES name in checkpoints other
 * than the latest.  -ENOMEM, -EINTR, or as pastblocks_write().
 */
static int repair_past(struct fixer_job *job, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	struct group g;
	uint64_t changed = 0;
	size_t i;
	int ret = open_group(&g, cx, job);

	for (i = 0; i < n && ret >= 0; i++) {
		const struct place *place = &fixes[i].place;

		if (place->kind != PLACE_GROUP || !place->cno ||
		    place->cno == job->vol->latest.cno)
			continue;
		if (place->cno != g.cno) {
			note_counts(&g, changed);
			changed = 0;
		}
		g.cno = place->cno;
		g.number = place->number;
		ret = repair_group(&g, cx);
		changed += ret > 0;
		if (ret >= 0)
			ret = context_cancelled(cx);
	}
	note_counts(&g, changed);
	if (ret >= 0)
		ret = pastblocks_write(&g.past, cx);
	close_group(&g);
	return ret;
}

int fix_ifile_groups(struct fixer_job *job, struct context *cx,
		     struct groupfix *groups)
{
	struct group g;
	uint64_t blkoff;
	uint32_t nfrees;
	void *data;
	size_t i;
	int ret = open_group(&g, cx, job);

	groupfix_sort(groups);
	g.latest = groups->m;
	for (i = 0; i < groups->n && ret >= 0; i++) {
		g.number = groups->groups[i];
		blkoff = palloc_bitmap_blkoff(g.p, g.number);
		ret = look(&g, cx, blkoff);
		if (ret)
			continue;
		ret = make_bitmap(&g, cx, true, &nfrees);
		if (ret || nfrees == g.p->entries_per_group)
			continue;
		ret = metafile_replace(g.latest, cx, blkoff, &data);
		if (!ret)
			memcpy(data, g.right, g.p->block_size);
	}
	close_group(&g);
	return ret < 0 ? ret : groupfix_count(groups, cx);
}

int fix_ifile(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	struct groupfix g = {
		.m = repairwriter_file(job->writer, NILFS_IFILE_INO),
		.p = &job->vol->ifile_palloc,
	};
	size_t i;
	int err = 0;

	/* It is filled with what it had, and counted then. */
	if (repairwriter_is_rebuilt(job->writer, NILFS_IFILE_INO))
		return 0;
	for (i = 0; i < n && !err; i++)
		if (fixes[i].place.kind == PLACE_GROUP &&
		    (!fixes[i].place.cno ||
		     fixes[i].place.cno == job->vol->latest.cno))
			err = groupfix_add(&g, cx, fixes[i].place.number);
	if (!err)
		err = fix_ifile_groups(job, cx, &g);
	if (!err && g.n) {
		fixers_note(job, "inode file: bitmaps and counts of %zu %s "
			    "recomputed", g.n, g.n == 1 ? "group" : "groups");
		err = repairwriter_changed(job->writer, cx);
		if (!err)
			err = revive_leaked(job, cx);
	}
	groupfix_fini(&g);
	return err ? err : repair_past(job, cx, fixes, n);
}
