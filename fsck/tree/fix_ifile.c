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
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check/damage.h"
#include "fsck/dat/groupfix.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/fix_inodes.h"
#include "log/repairwriter.h"
#include "vol/root.h"

#define GARBAGE 2 /* impossible bits of a bitmap that is none */

struct group {
	struct fixer_job *job;
	struct pastblocks *past;
	const struct palloc *p;
	struct root root;
	uint64_t cno, number;
	uint8_t *old, *right;		/* bitmaps */
	bool strict;			/* no inode without links is in use */
	unsigned int impossible;	/* bits that none of these ever had */
};

static void mark_inode(struct group *g, uint64_t ino, bool used)
{
	uint32_t at = palloc_group_offset(g->p, ino);

	if (used)
		g->right[at / 8] |= (uint8_t)(1 << at % 8);
	else
		g->right[at / 8] &= (uint8_t)~(1 << at % 8);
}

/* Whether the bitmap cannot have said that of inode INO; HOLE: it has no block. */
static bool is_impossible(const struct group *g, uint64_t ino, bool hole)
{
	bool used = palloc_bit(g->old, palloc_group_offset(g->p, ino));

	return ino < NILFS_USER_INO ? !used : hole && used;
}

/* What the block of inodes WHAT, or a hole (DATA is NULL), says of them. */
static void mark_past_inodes(struct group *g, const struct palloc_block *what,
			     const char *data)
{
	struct nilfs_inode inode;
	uint64_t i;

	for (i = 0; i < what->count; i++) {
		g->impossible += is_impossible(g, what->first + i, !data);
		if (what->first + i < NILFS_USER_INO) {
			if (g->strict)
				mark_inode(g, what->first + i, true);
			continue;
		}
		if (data)
			memcpy(&inode, data + i * g->p->entry_size,
			       sizeof(inode));
		if (!data || g->strict || le16_get(inode.i_links_count))
			mark_inode(g, what->first + i,
				   data && le16_get(inode.i_links_count));
	}
}

/*
 * The bitmap as it is, and as it should be.  A hole means that all is free; a
 * group with inodes has lost its bitmap, which is -EUCLEAN.
 */
static int make_past_bitmap(struct group *g, struct context *cx)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, g->number);
	uint64_t end = blkoff + g->p->blocks_per_group;
	struct palloc_block what;
	bool hole = true;
	const void *data;
	int ret = file_block(&g->root.ifile, cx, blkoff, &data);

	g->impossible = 0;
	memset(g->old, 0, g->p->block_size);
	memset(g->right, 0, g->p->block_size);
	if (ret > 0) {
		hole = false;
		memcpy(g->old, data, g->p->block_size);
		memcpy(g->right, data, g->p->block_size);
		file_put(&g->root.ifile, data);
	}
	while (++blkoff < end && ret >= 0) {
		ret = file_block(&g->root.ifile, cx, blkoff, &data);
		if (ret < 0)
			break;
		palloc_locate(g->p, blkoff, &what);
		if (!hole)
			mark_past_inodes(g, &what, ret ? data : NULL);
		if (ret)
			file_put(&g->root.ifile, data);
		if (ret && hole)
			ret = fail(cx, -EUCLEAN, "a group without its bitmap");
	}
	return ret < 0 ? ret : 0;
}

/* Free entries by the descriptor: 1 and *NFREES, 0 where there is none. */
static int read_count(struct group *g, struct context *cx, uint32_t *nfrees)
{
	struct nilfs_palloc_group_desc desc;
	const void *data;
	int ret = file_block(&g->root.ifile, cx,
			     palloc_desc_blkoff(g->p, g->number), &data);

	if (ret <= 0)
		return ret;
	memcpy(&desc, (const char *)data +
	       palloc_desc_offset(g->p, g->number), sizeof(desc));
	*nfrees = le32_get(desc.pg_nfrees);
	file_put(&g->root.ifile, data);
	return 1;
}

/* Block BLKOFF of the ifile, to be changed: 1 and *CONTENT, 0. */
static int change_block(struct group *g, struct context *cx, uint64_t blkoff,
			char **content)
{
	struct pastblocks_block *b;
	int ret = pastblocks_change_in(g->past, cx, &g->root.ifile, blkoff,
				       false, &b);

	if (ret > 0)
		*content = b->content;
	return ret;
}

static int set_count(struct group *g, struct context *cx, uint32_t nfrees)
{
	const struct nilfs_palloc_group_desc desc = {
		.pg_nfrees = le32_make(nfrees),
	};
	char *content;
	int ret = change_block(g, cx, palloc_desc_blkoff(g->p, g->number),
			       &content);

	if (ret > 0)
		memcpy(content + palloc_desc_offset(g->p, g->number), &desc,
		       sizeof(desc));
	return ret;
}

static int set_bitmap(struct group *g, struct context *cx)
{
	char *content;
	int ret = change_block(g, cx, palloc_bitmap_blkoff(g->p, g->number),
			       &content);

	if (ret > 0)
		memcpy(content, g->right, g->p->block_size);
	return ret;
}

/* Free entries of the bitmap as it should be. */
static int count_free(struct group *g, struct context *cx, bool strict,
		      uint32_t *free)
{
	int err;

	g->strict = strict;
	err = make_past_bitmap(g, cx);
	*free = g->p->entries_per_group - palloc_count(g->p, g->right);
	return err;
}

static bool is_bitmap_right(const struct group *g)
{
	return !memcmp(g->old, g->right, g->p->block_size);
}

/*
 * The same if no inode without links is in use, where the descriptor has NFREES
 * then, or the bitmap is wrong in any case.
 */
static int count_strictly(struct group *g, struct context *cx,
			  uint32_t nfrees, uint32_t *free)
{
	bool was_right = is_bitmap_right(g);
	int err = count_free(g, cx, true, free);

	return err || !was_right || *free == nfrees ?
		       err : count_free(g, cx, false, free);
}

/* Whether the bitmap is none, and not even NFREES in the descriptor is of it. */
static bool is_garbage(const struct group *g, uint32_t nfrees)
{
	return g->impossible >= GARBAGE &&
	       nfrees != g->p->entries_per_group - palloc_count(g->p, g->old);
}

/* 1 where the group is changed, 0 where it stays as it is. */
static int repair_group(struct group *g, struct context *cx)
{
	uint32_t nfrees = 0, want = 0;
	int ret = root_open(&g->root, cx, g->job->vol, g->cno);

	if (!ret)
		ret = count_free(g, cx, false, &want);
	if (!ret)
		ret = read_count(g, cx, &nfrees);
	if (ret > 0 && want != nfrees) {
		ret = count_strictly(g, cx, nfrees, &want);
		ret = ret ? ret : 1;
	}
	if (ret <= 0)
		return damage_forgive(cx, ret);
	if (is_bitmap_right(g))
		return want == nfrees ? 0 : set_count(g, cx, want);
	if (want != nfrees && !is_garbage(g, nfrees))
		return 0;
	ret = want == nfrees ? 1 : set_count(g, cx, want);
	return ret > 0 ? set_bitmap(g, cx) : ret;
}

static bool is_past(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_GROUP && fix->place.cno &&
	       fix->place.cno != job->vol->latest.cno;
}

static void note_counts(struct group *g, uint64_t cno, uint64_t n)
{
	if (n)
		fixers_note(g->job, "checkpoint %" PRIu64 ": ifile: %" PRIu64
			    " %s of inodes corrected", cno, n,
			    n == 1 ? "group" : "groups");
}

static int repair_all(struct group *g, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	uint64_t changed = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		if (!is_past(g->job, &fixes[i]))
			continue;
		if (fixes[i].place.cno != g->cno) {
			note_counts(g, g->cno, changed);
			changed = 0;
		}
		g->cno = fixes[i].place.cno;
		g->number = fixes[i].place.number;
		ret = repair_group(g, cx);
		changed += ret > 0;
		if (ret >= 0)
			ret = context_cancelled(cx);
	}
	note_counts(g, g->cno, changed);
	return ret < 0 ? ret : 0;
}

/*
 * Repairs bitmaps and counts of the groups that FIXES name in checkpoints other
 * than the latest.  -ENOMEM, -EINTR, or as pastblocks_write().
 */
static int pastgroups_repair(struct fixer_job *job, struct context *cx,
			     const struct fix *fixes, size_t n)
{
	struct pastblocks past = { .job = job };
	struct group g = {
		.job = job,
		.past = &past,
		.p = &job->vol->ifile_palloc,
	};
	int err = 0;

	g.old = malloc(g.p->block_size);
	g.right = malloc(g.p->block_size);
	if (!g.old || !g.right)
		err = fail(cx, -ENOMEM, "bitmaps of a group");
	if (!err)
		err = repair_all(&g, cx, fixes, n);
	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	free(g.old);
	free(g.right);
	return err;
}

/* Marks those of the COUNT inodes from INO on, in DATA, that are in use. */
static void mark_inodes(const struct fixer_job *job, uint64_t ino,
			uint64_t count, const char *data, uint8_t *bitmap)
{
	const struct palloc *p = &job->vol->ifile_palloc;
	uint32_t at = palloc_group_offset(p, ino);
	struct nilfs_inode inode;
	uint64_t i;

	for (i = 0; i < count; i++, at++) {
		memcpy(&inode, data + i * p->entry_size, sizeof(inode));
		if (le16_get(inode.i_links_count))
			bitmap[at / 8] |= (uint8_t)(1 << at % 8);
	}
}

static int mark_group(struct fixer_job *job, struct context *cx,
		      struct groupfix *g, uint64_t group, uint8_t *bitmap)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, group), end, ino;
	struct palloc_block what;
	const void *data;
	int ret = 0;

	for (end = blkoff + g->p->blocks_per_group;
	     ret >= 0 && ++blkoff < end;) {
		ret = metafile_look(g->m, cx, blkoff, &data);
		palloc_locate(g->p, blkoff, &what);
		if (ret > 0)
			mark_inodes(job, what.first, what.count, data, bitmap);
	}
	for (ino = 0; !group && ino < NILFS_USER_INO; ino++)
		bitmap[ino / 8] |= (uint8_t)(1 << ino % 8);
	return ret < 0 ? ret : 0;
}

/* Makes the bitmap of GROUP where it is lost. */
static int make_bitmap(struct fixer_job *job, struct context *cx,
		       struct groupfix *g, uint64_t group)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, group);
	uint8_t *bitmap;
	const void *old;
	void *data;
	int ret = metafile_look(g->m, cx, blkoff, &old);

	if (ret)
		return ret < 0 ? ret : 0;
	bitmap = calloc(1, g->p->block_size);
	if (!bitmap)
		return fail(cx, -ENOMEM, "bitmap of a group");
	ret = mark_group(job, cx, g, group, bitmap);
	if (!ret && palloc_count(g->p, bitmap)) {
		ret = metafile_replace(g->m, cx, blkoff, &data);
		if (!ret)
			memcpy(data, bitmap, g->p->block_size);
	}
	free(bitmap);
	return ret;
}

int fix_ifile_groups(struct fixer_job *job, struct context *cx,
		     struct groupfix *g)
{
	size_t i;
	int err = 0;

	groupfix_sort(g);
	for (i = 0; i < g->n && !err; i++)
		err = make_bitmap(job, cx, g, g->groups[i]);
	return err ? err : groupfix_count(g, cx);
}

static bool is_of_latest(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_GROUP &&
	       (!fix->place.cno || fix->place.cno == job->vol->latest.cno);
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
		if (is_of_latest(job, &fixes[i]))
			err = groupfix_add(&g, cx, fixes[i].place.number);
	if (!err)
		err = fix_ifile_groups(job, cx, &g);
	if (!err && g.n) {
		fixers_note(job, "inode file: bitmaps and counts of %zu %s "
			    "recomputed", g.n, g.n == 1 ? "group" : "groups");
		err = repairwriter_changed(job->writer, cx);
		if (!err)
			err = fix_inodes_leaked(job, cx);
	}
	groupfix_fini(&g);
	return err ? err : pastgroups_repair(job, cx, fixes, n);
}
