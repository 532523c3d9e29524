// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of the ifile, and the allocation of inodes: bitmaps and counts of
 * the newest ifile, and of those of snapshots.
 *
 * The blocks of the newest ifile are live until they change, so the logs list
 * all blocks that its map has lost, and these stay in place.  A block that
 * cannot be read is taken from the newest older checkpoint that has it, with
 * its inodes; the next check finds what has changed of their files since.  If
 * no checkpoint has it, its inodes are lost, or the bitmap is wrong.
 *
 * An existing bitmap is trusted.  A lost one is rebuilt from the inodes: those
 * with links, and the reserved ones, are in use.  An inode without links may
 * have been open or freed; it is freed, because it cannot be open any longer.
 *
 * For the inodes of a snapshot there are three sources: the bitmap of a group,
 * the count of free inodes in its descriptor, and the inodes themselves.  An
 * inode with links is in use, one whose block does not exist is not.  For
 * others the bitmap is trusted, unless the count is that of the inodes with
 * links.  If the bitmap matches the inodes, the count is wrong.  If the bitmap
 * that follows from the inodes matches the count, the bitmap is wrong.  If an
 * impossible bitmap disagrees with both, bitmap and count are wrong.  Otherwise
 * the damage is elsewhere, for example in the map, and nothing is changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/derive/liveblocks.h"
#include "fsck/snapshots/snapblocks.h"
#include "fsck/tree/inodeedit.h"
#include "log/directwriter.h"
#include "vol/root.h"

#define SECTOR 512
#define GARBAGE 2 /* impossible bits that make a bitmap garbage */

/* The current group, of the latest ifile or of that of ROOT. */
struct group {
	struct fixer_job *job;
	const struct palloc *p;
	struct metafile *latest;	/* NULL: a snapshot */
	struct snapblocks snap;		/* blocks of the snapshot */
	struct root root;
	uint64_t cno, number;
	char *block;			/* the block read last */
	uint8_t *old, *right;		/* bitmaps, allocated with BLOCK */
	unsigned int impossible;	/* number of impossible bits */
};

/* Initializes G for any ifile; the caller frees G->block.  -ENOMEM. */
static int open_group(struct group *g, struct context *cx,
		      struct fixer_job *job)
{
	const struct palloc *p = &job->vol->ifile_palloc;

	*g = (struct group){ .job = job, .p = p, .snap.job = job };
	g->block = malloc(3 * (size_t)p->block_size);
	if (!g->block)
		return fail(cx, -ENOMEM, "bitmaps of a group");
	g->old = (uint8_t *)g->block + p->block_size;
	g->right = g->old + p->block_size;
	return 0;
}

/* Copies block BLKOFF of the ifile to G->block: 1, 0 for a hole. */
static int group_read_block(struct group *g, struct context *cx,
			    uint64_t blkoff)
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
 * Reads the bitmap to G->old and computes G->right from the inodes, with
 * *NFREES free entries: those with links are in use, those without a block are
 * free.  STRICT: all others are free, and the reserved ones are in use.  A hole
 * in a snapshot means that all inodes are free; if there are inodes, the bitmap
 * is lost, which is -EUCLEAN.
 */
static int make_bitmap(struct group *g, struct context *cx, bool strict,
		       uint32_t *nfrees)
{
	const struct palloc *p = g->p;
	uint64_t blkoff = palloc_bitmap_blkoff(p, g->number), i;
	uint64_t end = blkoff + p->blocks_per_group;
	struct palloc_block what;
	struct nilfs_inode inode;
	int ret = group_read_block(g, cx, blkoff);
	bool hole = !ret, reserved, used;

	g->impossible = 0;
	if (hole)
		memset(g->block, 0, p->block_size);
	memcpy(g->old, g->block, p->block_size);
	memcpy(g->right, g->block, p->block_size);
	while (ret >= 0 && ++blkoff < end) {
		ret = group_read_block(g, cx, blkoff);
		palloc_locate(p, blkoff, &what);
		if (ret > 0 && hole && !g->latest)
			return fail(cx, -EUCLEAN, "a group without its bitmap");
		for (i = 0; i < what.count && ret >= 0; i++) {
			uint32_t at = palloc_group_offset(p, what.first + i);
			uint8_t bit = (uint8_t)(1 << at % 8);

			reserved = what.first + i < NILFS_USER_INO;
			used = palloc_bit(g->old, at);
			/* Bits that a valid bitmap cannot have. */
			g->impossible += reserved ? !used : !ret && used;
			memcpy(&inode, g->block + i * p->entry_size,
			       sizeof(inode));
			if (reserved ? strict :
				       ret && le16_get(inode.i_links_count))
				g->right[at / 8] |= bit;
			else if (!reserved && (!ret || strict))
				g->right[at / 8] &= (uint8_t)~bit;
		}
	}
	*nfrees = p->entries_per_group - palloc_count(p, g->right);
	return ret < 0 ? ret : 0;
}

/* Writes SIZE bytes at OFFSET of block BLKOFF of the snapshot's ifile: 1, 0. */
static int group_write_block(struct group *g, struct context *cx,
			     uint64_t blkoff, uint32_t offset, const void *from,
			     size_t size)
{
	struct snapblocks_block *b;
	int ret = snapblocks_change_in(&g->snap, cx, &g->root.ifile, blkoff,
				       &b);

	if (ret > 0)
		memcpy((char *)b->content + offset, from, size);
	return ret;
}

/* Repairs a group of a snapshot: 1, 0 if it stays unchanged because the error
   is elsewhere. */
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
		ret = group_read_block(g, cx, blkoff);
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
	/* If neither bitmap nor count matches, the group is repaired only if
	   the bitmap is garbage and the count is not that of the bitmap. */
	if (!right && want != nfrees &&
	    (g->impossible < GARBAGE ||
	     nfrees == all - palloc_count(g->p, g->old)))
		return 0;
	if (right && want == nfrees)
		return 0;
	desc.pg_nfrees = le32_make(want);
	ret = want == nfrees ? 1
			     : group_write_block(g, cx, blkoff, offset, &desc,
						 sizeof(desc));
	if (ret > 0 && !right)
		ret = group_write_block(g, cx,
					palloc_bitmap_blkoff(g->p, g->number),
					0, g->right, g->p->block_size);
	return ret;
}

/* Rebuilds missing bitmaps, and the counts, of the groups in GROUPS, which are
   sorted.  Their file is the ifile of JOB's writer. */
static int repair_groups(struct fixer_job *job, struct context *cx,
			 struct numlist *groups)
{
	struct group g;
	uint64_t blkoff;
	uint32_t nfrees;
	void *data;
	size_t i;
	int ret = open_group(&g, cx, job);

	numlist_settle(groups);
	g.latest = directwriter_file(job->writer, NILFS_IFILE_INO);
	for (i = 0; i < groups->n && ret >= 0; i++) {
		g.number = groups->list[i];
		blkoff = palloc_bitmap_blkoff(g.p, g.number);
		ret = group_read_block(&g, cx, blkoff);
		if (ret)
			continue;
		ret = make_bitmap(&g, cx, true, &nfrees);
		if (ret || nfrees == g.p->entries_per_group)
			continue;
		ret = metafile_replace(g.latest, cx, blkoff, &data);
		if (!ret)
			memcpy(data, g.right, g.p->block_size);
	}
	free(g.block);
	return ret < 0 ? ret : fix_dat_count_groups(g.latest, cx, g.p, groups);
}

int fix_ifile(struct fixer_job *job, struct context *cx,
	      const struct finding *fixes, size_t n)
{
	struct numlist groups = { .n = 0 };
	uint64_t changed = 0;
	struct group g;
	size_t i;
	int err;

	/* The bitmaps are rebuilt when the file is filled. */
	if (directwriter_is_rebuilt(job->writer, NILFS_IFILE_INO))
		return 0;
	err = open_group(&g, cx, job);
	for (i = 0; i <= n && !err; i++) {
		if (i < n && fixes[i].place.kind != PLACE_GROUP)
			continue;
		if (changed && (i == n || fixes[i].place.cno != g.cno)) {
			fixers_note(job, "checkpoint %" PRIu64 ": ifile: %"
				    PRIu64 " %s of inodes corrected", g.cno,
				    changed, changed == 1 ? "group" : "groups");
			changed = 0;
		}
		if (i == n)
			break;
		g.cno = fixes[i].place.cno;
		g.number = fixes[i].place.number;
		err = context_cancelled(cx);
		if (!err && (!g.cno || g.cno == job->vol->latest.cno))
			err = numlist_add(&groups, cx, g.number);
		else if (!err)
			err = repair_group(&g, cx);
		changed += err > 0;
		err = err < 0 ? err : 0;
	}
	if (!err)
		err = repair_groups(job, cx, &groups);
	if (!err && groups.n) {
		fixers_note(job, "inode file: bitmaps and counts of %zu %s "
			    "recomputed", groups.n,
			    groups.n == 1 ? "group" : "groups");
		err = directwriter_changed(job->writer, cx);
		if (!err)
			err = freedinodes_leaked(job, cx);
	}
	if (!err)
		err = snapblocks_write(&g.snap, cx);
	snapblocks_fini(&g.snap);
	free(groups.list);
	free(g.block);
	return err;
}

/* The newest ifile, to be filled. */
struct filling {
	struct fixer_job *job;
	const struct palloc *p;
	struct metafile *ifile;
	bool all;			/* the file began without blocks */
	uint64_t *wanted;		/* blocks known to be missing, ascending */
	size_t nwanted, room;
	uint64_t missing;		/* of these, not filled yet */
	bool unknown;			/* unknown blocks may be missing */
	struct numlist groups;		/* groups with blocks of the
					   allocator among WANTED */
};

static bool is_wanted_block(const struct filling *f, uint64_t blkoff)
{
	size_t at = search_lower_bound(f->wanted, f->nwanted, blkoff);

	return at < f->nwanted && f->wanted[at] == blkoff;
}

/* Whether the block of the ifile is missing and has no reserved inodes: 1, 0. */
static int is_ifile_hole(const struct filling *f, struct context *cx,
			 uint64_t blkoff, struct palloc_block *what)
{
	uint64_t ptr;
	int ret = metafile_lookup(f->ifile, cx, blkoff, &ptr);

	palloc_locate(f->p, blkoff, what);
	return ret < 0 ? ret : !ret && what->first >= NILFS_USER_INO;
}

/* Copies block B to the ifile. */
static int ifile_put_block(struct filling *f, struct context *cx,
			   const struct liveblock *b)
{
	struct cache *cache = f->job->vol->cache;
	const void *from;
	void *to;
	int err = cache_get(cache, cx, b->blocknr, &from);

	if (err)
		return err;
	err = metafile_change(f->ifile, cx, b->blkoff, &to, NULL);
	if (!err)
		memcpy(to, from, f->p->block_size);
	cache_put(cache, from);
	return err;
}

/* Adds the blocks L of the newest checkpoint.  Lost blocks count as missing;
   lost bitmaps and descriptors are rebuilt. */
static int put_living(struct filling *f, struct context *cx,
		      const struct liveblocks *l)
{
	struct palloc_block what;
	uint64_t blkoff, ptr;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->nlost && f->all && !ret; i++) {
		blkoff = l->lost[i].blkoff;
		palloc_locate(f->p, blkoff, &what);
		if (liveblocks_find(l, blkoff))
			continue;
		ret = what.kind == PALLOC_ENTRIES ?
			      array_push(cx, &f->wanted, &f->nwanted, &f->room,
					 blkoff) :
			      numlist_add(&f->groups, cx, what.group);
	}
	for (i = 0; i < l->n && !ret; i++) {
		const struct liveblock *b = &l->list[i];

		if (!f->all && !is_wanted_block(f, b->blkoff))
			continue;
		ret = metafile_lookup(f->ifile, cx, b->blkoff, &ptr);
		if (ret)
			continue;
		if (!f->all)
			fixers_note(f->job, "block %" PRIu64 " of the ifile: "
				    "found in the logs", b->blkoff);
		ret = b->vblocknr ? metafile_adopt(f->ifile, cx, b->blkoff,
						   b->vblocknr)
				  : ifile_put_block(f, cx, b);
	}
	for (i = 0; i < f->nwanted && ret >= 0; i++) {
		ret = metafile_lookup(f->ifile, cx, f->wanted[i], &ptr);
		f->missing += !ret;
	}
	return ret < 0 ? ret : 0;
}

/* Adds block B of checkpoint CNO if the ifile has none there, without inodes
   that have been freed since. */
static int ifile_take_block(struct filling *f, struct context *cx, uint64_t cno,
			    const struct liveblock *b)
{
	bool wanted = is_wanted_block(f, b->blkoff);
	const struct palloc *p = f->p;
	struct palloc_block what;
	uint64_t ptr, ino;
	const void *bitmap;
	void *data;
	int ret;

	if (!f->unknown && !wanted)
		return 0;
	ret = metafile_lookup(f->ifile, cx, b->blkoff, &ptr);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = ifile_put_block(f, cx, b);
	if (ret == -EIO)
		return damage_forgive(cx, ret);
	palloc_locate(p, b->blkoff, &what);
	if (!ret && what.kind == PALLOC_ENTRIES) {
		ret = metafile_change(f->ifile, cx, b->blkoff, &data, NULL);
		if (!ret)
			ret = metafile_look(f->ifile, cx,
					    palloc_bitmap_blkoff(p, what.group),
					    &bitmap);
		for (ino = what.first; ret > 0 && what.count--; ino++)
			if (!palloc_bit(bitmap, palloc_group_offset(p, ino)))
				memset((char *)data +
				       palloc_entry_offset(p, ino), 0,
				       p->entry_size);
	}
	if (ret < 0)
		return ret;
	fixers_note(f->job, "block %" PRIu64 " of the ifile: restored from "
		    "checkpoint %" PRIu64, b->blkoff, cno);
	f->missing -= wanted;
	return 0;
}

/* Adds missing blocks from all earlier checkpoints, the newest first. */
static int take_older_blocks(struct filling *f, struct context *cx)
{
	struct volume *vol = f->job->vol;
	struct metafile *cpfile = directwriter_file(f->job->writer,
						    NILFS_CPFILE_INO);
	uint64_t cno = vol->latest.cno, blkoff = UINT64_MAX;
	le64 last[NILFS_INODE_BMAP_SIZE] = { 0 };
	struct nilfs_checkpoint cp;
	const void *data;
	size_t i;
	int ret = 0;

	while (cno-- > 1 && ret >= 0 && (f->unknown || f->missing)) {
		struct liveblocks_question q = {
			.ino = NILFS_IFILE_INO,
			.inode = &cp.cp_ifile_inode,
			.cno = cno,
		};
		struct liveblocks old = { 0 };

		if (blkoff != checkpoint_blkoff(&vol->geo, cno)) {
			blkoff = checkpoint_blkoff(&vol->geo, cno);
			ret = context_cancelled(cx);
		}
		if (!ret)
			ret = metafile_look(cpfile, cx, blkoff, &data);
		if (!ret)
			cno = checkpoint_first(&vol->geo, blkoff);
		if (ret <= 0)
			continue;
		ret = 0;
		memcpy(&cp, (const char *)data +
		       checkpoint_offset(&vol->geo, cno), sizeof(cp));
		if (checkpoint_is_invalid(&cp) ||
		    !memcmp(last, cp.cp_ifile_inode.i_bmap, sizeof(last)))
			continue;
		memcpy(last, cp.cp_ifile_inode.i_bmap, sizeof(last));
		ret = liveblocks_gather(&old, cx, f->job->check, &q);
		for (i = 0; i < old.n && !ret; i++)
			ret = ifile_take_block(f, cx, cno, &old.list[i]);
		if (liveblocks_is_whole(&old) && old.n)
			f->unknown = false;
		liveblocks_fini(&old);
	}
	if (ret >= 0 && f->missing && f->all)
		fixers_note(f->job, "ifile: %" PRIu64 " block%s lost with all inodes",
			    f->missing, f->missing == 1 ? "" : "s");
	return ret < 0 ? ret : 0;
}

/*
 * Handles inodes in use of blocks that were holes: they are freed if the block
 * was not found, and replaced if they are invalid.  1 if directories were
 * restored, 0.
 */
static int settle_holes(struct filling *f, struct context *cx)
{
	uint64_t latest = f->job->vol->latest.cno, nfreed = 0, ino;
	uint64_t *inos = calloc(f->nwanted, sizeof(*inos));
	struct palloc_block what;
	struct inodecase c;
	struct inodeedit e;
	int hole, ret;
	size_t i;

	if (!inos)
		return fail(cx, -ENOMEM, "%zu blocks of inodes", f->nwanted);
	for (i = 0; i < f->nwanted; i++) {
		palloc_locate(f->p, f->wanted[i], &what);
		inos[i] = what.first;
	}
	ret = inodeedit_open(&e, cx, f->job, NULL, inos, f->nwanted);
	for (i = 0; i < f->nwanted && ret >= 0; i++) {
		ret = hole = is_ifile_hole(f, cx, f->wanted[i], &what);
		for (ino = what.first; ino < what.first + what.count && ret >= 0;
		     ino++) {
			ret = inodeedit_is_used(&e, cx, latest, ino);
			if (ret <= 0)
				continue;
			nfreed += hole;
			if (hole) {
				ret = inodeedit_mark(&e, cx, latest, ino, false);
				continue;
			}
			ret = inodeedit_case(&e, cx, latest, ino, &c);
			if (ret >= 0 && inode_is_empty(&c.inode) &&
			    !inode_is_private(ino))
				ret = inodeedit_decide(&e, cx, &c);
		}
	}
	if (nfreed)
		fixers_note(f->job, "ifile: %" PRIu64 " inode%s marked free: no "
			    "checkpoint has their blocks", nfreed,
			    nfreed == 1 ? "" : "s");
	free(inos);
	ret = inodeedit_close(&e, cx, ret < 0 ? ret : 0);
	return ret ? ret : e.ndirs > 0;
}

int fix_ifile_fill(struct fixer_job *job, struct context *cx,
		   const struct finding *fixes, size_t n)
{
	struct filling f = {
		.job = job,
		.p = &job->vol->ifile_palloc,
		.ifile = directwriter_file(job->writer, NILFS_IFILE_INO),
	};
	struct cpblocks_latest k;
	const struct liveblocks_question q = {
		.ino = NILFS_IFILE_INO,
		.inode = &k.cp.cp_ifile_inode,
		.cno = job->vol->latest.cno,
		.read = true,
		.logs = true,
	};
	struct liveblocks blocks = { 0 };
	struct palloc_block what;
	uint64_t count, old, blkoff, end;
	size_t i;
	int ret = 0;

	f.all = metafile_facts(f.ifile).empty;
	/* Missing blocks of inodes, from that of a finding to the next existing
	   one of its group. */
	for (i = 0; i < n && !f.all && ret >= 0; i++) {
		if (fixes[i].rule != RULE_PALLOC_ENTRY_MISSING ||
		    fixes[i].place.cno != q.cno)
			continue;
		blkoff = fixes[i].place.blkoff;
		palloc_locate(f.p, blkoff, &what);
		end = palloc_bitmap_blkoff(f.p, what.group) +
		      f.p->blocks_per_group;
		do {
			ret = array_push(cx, &f.wanted, &f.nwanted, &f.room,
					 blkoff++);
			if (!ret && blkoff < end)
				ret = is_ifile_hole(&f, cx, blkoff, &what);
		} while (ret > 0);
	}
	f.nwanted = sort_unique(f.wanted, f.nwanted);
	if (ret < 0 || (!f.all && !f.nwanted))
		goto out;
	ret = cpblocks_find_latest(&k, cx, job->check, 0);
	if (!ret)
		ret = liveblocks_gather(&blocks, cx, job->check, &q);
	if (ret)
		goto out;
	if (f.all) {
		old = le64_get(k.cp.cp_ifile_inode.i_blocks) /
		      (f.p->block_size / SECTOR);
		count = le64_get(k.cp.cp_blocks_count);
		f.unknown = blocks.partial || !old;
		directwriter_counts(job->writer, le64_get(k.cp.cp_inodes_count),
				    count - (old < count ? old : count));
		fixers_note(job, "ifile: %zu block%s found through its map and "
			    "the logs", blocks.n, blocks.n == 1 ? "" : "s");
	}
	ret = put_living(&f, cx, &blocks);
	if (!ret)
		ret = take_older_blocks(&f, cx);
	if (!ret)
		ret = f.all ? repair_groups(job, cx, &f.groups) :
			      settle_holes(&f, cx);
out:
	free(f.groups.list);
	liveblocks_fini(&blocks);
	free(f.wanted);
	return ret;
}
