// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of inodes, of the latest state and of snapshots.
 *
 * Findings say which inodes are asked for; what they are to be is decided for
 * all checkpoints alike (inodeedit.h).
 *
 * In a snapshot an empty inode, and one without links, which an older or newer
 * block of the ifile may have, was one where it is marked as in use and a
 * directory names it.
 */
#include "fsck/tree/fix_inodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/tree/fix_ifile.h"
#include "fsck/tree/inodeedit.h"
#include "fsck/tree/inoderepair.h"
#include "log/repairwriter.h"

struct fixing {
	struct inodeedit e;
	uint64_t cno, blkoff;	/* block of the ifile that was looked at */
	bool replaced;		/* all of it */
	bool by_names;		/* nothing but its names says how many links */
};

/* Whether INO is an inode of a user that is in use: 1, 0. */
static int is_used(const struct fixing *f, struct context *cx, uint64_t cno,
		   uint64_t ino)
{
	return inode_is_private(ino) ? 0 :
				       inodeedit_is_used(&f->e, cx, cno, ino);
}

/*
 * Whether several inodes in use, of block WHAT of the ifile, are none, or
 * others than before: 1, 0.  Empty ones may be some that the kernel had not got
 * round to.
 */
static int is_noise(struct fixing *f, struct context *cx, uint64_t cno,
		    const struct palloc_block *what)
{
	unsigned int doubtful = 0;
	struct inodecase c;
	uint64_t ino;
	int ret = 0;

	for (ino = what->first; ino < what->first + what->count; ino++) {
		ret = is_used(f, cx, cno, ino);
		if (ret > 0)
			ret = inodeedit_case(&f->e, cx, cno, ino, RULE_INODE_EMPTY, &c);
		if (ret < 0)
			return ret;
		if (!ret || inode_is_empty(&c.inode) ||
		    !inode_signs(f->e.geo, &c.inode))
			continue;
		ret = inode_is_garbage(f->e.geo, &c.inode) ? 1 :
			      inodedecide_is_another(&f->e.decide, cx, &c);
		if (ret < 0)
			return ret;
		doubtful += ret > 0;
	}
	return doubtful > 1;
}

/*
 * The block of the ifile that has inode INO, once: 1 where all of it is
 * something else, so that nothing can be made of what is wrong, 0.  What looks
 * right in it may have been spared.
 */
static int repair_block(struct fixing *f, struct context *cx, uint64_t cno,
			uint64_t ino)
{
	uint64_t blkoff = palloc_entry_blkoff(f->e.palloc, ino);
	struct palloc_block what;
	struct inodecase c;
	int ret;

	if (f->cno == cno && f->blkoff == blkoff)
		return f->replaced;
	f->cno = cno;
	f->blkoff = blkoff;
	palloc_locate(f->e.palloc, blkoff, &what);
	ret = is_noise(f, cx, cno, &what);
	f->replaced = ret > 0;
	if (ret <= 0)
		return ret;
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		if (inode_is_private(ino))
			continue;
		ret = is_used(f, cx, cno, ino);
		if (!ret && cno == f->e.latest)
			ret = inodeedit_clear(&f->e, cx, cno, ino);
		if (ret > 0)
			ret = inodeedit_case(&f->e, cx, cno, ino, RULE_INODE_EMPTY, &c);
		if (ret > 0 && !inode_signs(f->e.geo, &c.inode))
			ret = inodedecide_is_another(&f->e.decide, cx, &c);
		if (ret > 0)
			ret = inodeedit_decide(&f->e, cx, &c);
	}
	return ret < 0 ? ret : 1;
}

/* A deleted inode that has its map yet is in use again, unless it is another
   one than in a checkpoint with blocks that are alive: 1, 0. */
static int undelete_inode(struct fixing *f, struct context *cx,
			  struct inodecase *c)
{
	int ret;

	if (inode_is_empty(&c->inode) || !inode_has_bmap(&c->inode) ||
	    inode_is_garbage(f->e.geo, &c->inode))
		return 0;
	ret = inodedecide_is_another(&f->e.decide, cx, c);
	if (ret < 0 || (ret && c->fits))
		return ret < 0 ? ret : 0;
	c->inode.i_links_count = le16_make(1);
	ret = inoderepair_fit(f->e.job->vol, cx, c->ino, &c->inode);
	if (ret)
		return ret;
	inodedecide_note(&f->e.decide, c, "no longer marked as deleted");
	return inodeedit_write(&f->e, cx, c);
}

/* Inode C of a snapshot, if it is in use, and empty or a deleted one: 1 where it
   is another now, 0. */
static int restore_lost(struct fixing *f, struct context *cx,
			struct inodecase *c, bool named)
{
	bool empty = inode_is_empty(&c->inode);
	int ret = empty || !le16_get(c->inode.i_links_count) ?
			  is_used(f, cx, c->cno, c->ino) : 0;

	if (ret <= 0)
		return ret;
	ret = undelete_inode(f, cx, c);
	return ret || !(empty || named) ? ret : inodeedit_decide(&f->e, cx, c);
}

/*
 * A snapshot that lost inode FOUND lost others of its block with it; they may be
 * what is named by a directory that is found again.
 */
static int restore_others(struct fixing *f, struct context *cx,
			  const struct inodecase *found)
{
	struct palloc_block what;
	struct inodecase c;
	uint64_t ino;
	int ret = 0;

	palloc_locate(f->e.palloc,
		      palloc_entry_blkoff(f->e.palloc, found->ino), &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		ret = inodeedit_case(&f->e, cx, found->cno, ino, RULE_INODE_EMPTY, &c);
		if (ret > 0 && !inode_is_private(ino))
			ret = restore_lost(f, cx, &c, false);
	}
	return ret < 0 ? ret : 0;
}

/*
 * As many links as inode C of a snapshot has names, unless it has as many as
 * ever: 1, 0.  Later checkpoints are no witness once inodes were restored from
 * such.
 */
static int link_to(struct fixing *f, struct context *cx, struct inodecase *c,
		   uint64_t want)
{
	int ret;

	if (f->e.job->revived && *f->e.job->revived)
		c->life.end = NILFS_CNO_MAX;
	ret = inodedecide_ask(&f->e.decide, cx, c);
	if (ret < 0 || want > NILFS_LINK_MAX ||
	    (ret && !f->by_names &&
	     le16_get(c->other.i_links_count) != want))
		return ret < 0 ? ret : 0;
	c->inode.i_links_count = le16_make((uint16_t)want);
	inodedecide_note(&f->e.decide, c, "link count set to %" PRIu64, want);
	return inodeedit_write(&f->e, cx, c);
}

/* Whether the map of inode C of a snapshot begins with a block that is alive
   there: 1, 0. */
static int has_live_block(struct fixing *f, struct context *cx,
			  const struct inodecase *c)
{
	uint64_t ptr = inode_has_bmap(&c->inode) ?
			       bmap_first_ptr(c->inode.i_bmap) : 0;
	struct vblock vb;
	int ret;

	if (!ptr || inode_is_garbage(f->e.geo, &c->inode))
		return 0;
	ret = vblocks_find(&f->e.decide.vblocks, cx, ptr, &vb);
	return ret < 0 ? ret : ret == VBLOCKS_USED && vb.start <= c->cno &&
			       vb.end > c->cno;
}

/*
 * Inode C is there and marked free: one of the two is not right.  In a snapshot
 * it is in use if its blocks are alive, and none if no other checkpoint has it
 * either; the bitmap is to be repaired first.  1 where it is cleared there, 0.
 */
static int settle_free(struct fixing *f, struct context *cx,
		       struct inodecase *c)
{
	bool latest = c->cno == f->e.latest;
	int ret, foreign;

	if (!latest && f->e.job->plan->kinds[RULE_FIX_IFILE].n)
		return 0;
	foreign = inodedecide_is_foreign(&f->e.decide, cx, c);
	if (foreign < 0)
		return foreign;
	ret = latest ? inode_check(f->e.geo, &c->inode, c->ino) == RULE_OK :
		       has_live_block(f, cx, c);
	if (ret < 0)
		return ret;
	if (ret && !foreign) {
		inodedecide_note(&f->e.decide, c, "marked as in use");
		return inodeedit_mark(&f->e, cx, c->cno, c->ino, true);
	}
	if (latest)
		return inodeedit_clear(&f->e, cx, c->cno, c->ino);
	ret = inodedecide_ask(&f->e.decide, cx, c);
	if (ret || (c->other_cno && inode_is_same_file(&c->other, &c->inode)))
		return ret < 0 ? ret : 0;
	memset(&c->inode, 0, sizeof(c->inode));
	inodedecide_note(&f->e.decide, c, "cleared, it is marked free and no "
			 "checkpoint has it");
	return inodeedit_write(&f->e, cx, c);
}

/* The inode that FIX is about. */
static uint64_t ino_of(const struct fix *fix)
{
	return fix->rule == RULE_DIR_NO_INODE ? fix->got : fix->place.ino;
}

static int repair_past(struct fixing *f, struct context *cx,
		       const struct fix *fix)
{
	bool named = fix->rule == RULE_DIR_NO_INODE, lost;
	enum rule rule = RULE_OK;
	struct inodecase c;
	int ret = repair_block(f, cx, fix->place.cno, ino_of(fix));

	if (ret)
		return ret < 0 ? ret : 0;
	ret = inodeedit_case(&f->e, cx, fix->place.cno, ino_of(fix),
			named ? RULE_INODE_EMPTY : fix->rule, &c);
	if (ret <= 0)
		return ret;
	c.got = fix->got;
	lost = !le16_get(c.inode.i_links_count);
	if (named)
		ret = restore_lost(f, cx, &c, true);
	else if (fix->rule == RULE_INODE_FREE)
		ret = settle_free(f, cx, &c);
	else if (fix->rule == RULE_INODE_LINKS_NAMES &&
		 !inode_is_garbage(f->e.geo, &c.inode))
		ret = link_to(f, cx, &c, fix->want);
	else
		ret = inodeedit_decide(&f->e, cx, &c);
	if (ret)
		return ret > 0 && lost ? restore_others(f, cx, &c) :
		       ret > 0 ? 0 : ret;
	if (!named && !inode_is_empty(&c.inode))
		ret = inoderepair_check(f->e.job->vol, cx, c.ino, &c.inode,
					&rule);
	if (!ret && rule != RULE_OK)
		inodedecide_note(&f->e.decide, &c, "not repaired, no other "
				 "checkpoint has it as it was");
	return ret;
}

static int repair_latest(struct fixing *f, struct context *cx,
			 const struct fix *fix)
{
	uint64_t ino = fix->place.ino;
	struct inodecase c;
	int ret;

	if (fix->rule == RULE_INODE_RESERVED_FREE)
		return inodeedit_mark(&f->e, cx, f->e.latest, ino, true);
	ret = repair_block(f, cx, f->e.latest, ino);
	if (ret >= 0)
		ret = inodeedit_case(&f->e, cx, f->e.latest, ino, fix->rule, &c);
	if (ret < 0)
		return ret;
	if (fix->rule == RULE_INODE_FREE)
		return settle_free(f, cx, &c);
	ret = inodeedit_is_used(&f->e, cx, f->e.latest, ino);
	if (ret < 0 || (!ret && ino != NILFS_ROOT_INO))
		return ret;
	ret = inodedecide_is_wrong(&f->e.decide, cx, &c);
	if (ret > 0)
		ret = inodeedit_decide(&f->e, cx, &c);
	return ret < 0 ? ret : 0;
}

/* Whether a run for WHICH is about FIX. */
static bool is_mine(const struct fixing *f, const struct fix *fix,
		    enum fix_inodes_which which)
{
	if (which == FIX_INODES_LOST)
		return fix->rule == RULE_DIR_NO_INODE && fix->place.cno &&
		       fix->place.cno != f->e.latest;
	if (fix->place.kind != PLACE_INODE)
		return false;
	if (which == FIX_INODES_LATEST)
		return fix->place.cno == f->e.latest &&
		       (!inode_is_metadata(fix->place.ino) ||
			fix->rule == RULE_INODE_RESERVED_FREE);
	/* Of names too many it is not known which one is wrong. */
	if (which == FIX_INODES_COUNTS &&
	    (fix->rule != RULE_INODE_LINKS_NAMES || fix->want >= fix->got))
		return false;
	return fix->place.cno && fix->place.cno != f->e.latest &&
	       !inode_is_metadata(fix->place.ino) &&
	       fix->rule != RULE_INODE_RESERVED_FREE &&
	       fix->rule != RULE_INODE_ORPHAN &&
	       fix->rule != RULE_INODE_UNREACHABLE;
}

static int open_decide(struct fixing *f, struct context *cx,
		       const struct fix *fixes, size_t n, enum fix_inodes_which which)
{
	uint64_t *inos = calloc(n ? n : 1, sizeof(*inos));
	size_t i, found = 0;
	int err;

	if (!inos)
		return fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n; i++)
		if (is_mine(f, &fixes[i], which))
			inos[found++] = ino_of(&fixes[i]);
	err = inodedecide_open(&f->e.decide, cx, f->e.job, inos, found);
	free(inos);
	return err;
}

static int repair_all(struct fixing *f, struct context *cx,
		      const struct fix *fixes, size_t n, enum fix_inodes_which which)
{
	size_t i;
	int err = 0;

	f->blkoff = UINT64_MAX;
	f->e.nlater = 0;
	for (i = 0; i < n && !err; i++)
		if (is_mine(f, &fixes[i], which))
			err = which == FIX_INODES_LATEST ?
				      repair_latest(f, cx, &fixes[i]) :
				      repair_past(f, cx, &fixes[i]);
	return err;
}

int fix_inodes_past(struct pastblocks *p, struct context *cx,
		    const struct fix *fixes, size_t n,
		    enum fix_inodes_which which)
{
	struct fixing f = { .by_names = which == FIX_INODES_COUNTS };
	int err;

	inodeedit_open(&f.e, p->job, p);
	err = open_decide(&f, cx, fixes, n, which);
	if (!err)
		err = repair_all(&f, cx, fixes, n, which);
	return inodeedit_close(&f.e, cx, err);
}

/* Whether the block of the ifile is missing, and that of no reserved inode: 1,
   0. */
static int is_hole(const struct fixing *f, struct context *cx, uint64_t blkoff)
{
	struct palloc_block what;
	uint64_t ptr;
	int ret = metafile_lookup(f->e.ifile, cx, blkoff, &ptr);

	palloc_locate(f->e.palloc, blkoff, &what);
	return ret < 0 ? ret : !ret && what.first >= NILFS_USER_INO;
}

/* Inodes of block BLKOFF, which was lost, in use: freed if it was not found,
   *NFREED more, else replaced where they are nothing. */
static int repair_hole(struct fixing *f, struct context *cx, uint64_t blkoff,
		       uint64_t *nfreed)
{
	int missing = is_hole(f, cx, blkoff), ret = missing;
	struct palloc_block what;
	struct inodecase c;
	uint64_t ino;

	palloc_locate(f->e.palloc, blkoff, &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		ret = inodeedit_is_used(&f->e, cx, f->e.latest, ino);
		if (ret <= 0)
			continue;
		*nfreed += missing;
		if (missing) {
			ret = inodeedit_mark(&f->e, cx, f->e.latest, ino,
					     false);
			continue;
		}
		ret = inodeedit_case(&f->e, cx, f->e.latest, ino, RULE_INODE_EMPTY, &c);
		if (ret >= 0 && inode_is_empty(&c.inode) &&
		    !inode_is_private(ino))
			ret = inodeedit_decide(&f->e, cx, &c);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Blocks of inodes that are missing, from that of a finding on to the next one
 * of its group: where no log and no checkpoint has one, the bitmap is wrong, or
 * its inodes are lost.
 */
static int fill_holes(struct fixing *f, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	const struct palloc *p = f->e.palloc;
	uint64_t *holes = NULL, nfreed = 0, blkoff, end;
	size_t nholes = 0, room = 0, i;
	struct palloc_block what;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		if (fixes[i].rule != RULE_PALLOC_ENTRY_MISSING ||
		    fixes[i].place.cno != f->e.latest)
			continue;
		blkoff = fixes[i].place.blkoff;
		palloc_locate(p, blkoff, &what);
		end = palloc_bitmap_blkoff(p, what.group) + p->blocks_per_group;
		do {
			ret = array_reserve(cx, &holes, &room, nholes + 1);
			if (ret)
				break;
			holes[nholes++] = blkoff++;
			ret = blkoff < end ? is_hole(f, cx, blkoff) : 0;
		} while (ret > 0);
	}
	if (ret >= 0)
		ret = ifilefill_holes(f->e.job, cx, holes, nholes);
	for (i = 0; i < nholes && !ret; i++)
		ret = repair_hole(f, cx, holes[i], &nfreed);
	if (nfreed)
		fixers_note(f->e.job, "%" PRIu64 " inodes marked free: no "
			    "checkpoint has their blocks", nfreed);
	free(holes);
	return ret;
}

int fix_inodes(struct fixer_job *job, struct context *cx,
	       const struct fix *fixes, size_t n)
{
	struct pastblocks past = { .job = job };
	struct fixing f = { .by_names = false };
	int err = ifilefill_run(job, cx);

	/* What was found is of the ifile that this one replaces. */
	if (err || repairwriter_is_rebuilt(job->writer, NILFS_IFILE_INO))
		return err;
	inodeedit_open(&f.e, job, NULL);
	err = open_decide(&f, cx, fixes, n, FIX_INODES_LATEST);
	if (!err)
		err = fill_holes(&f, cx, fixes, n);
	if (!err)
		err = repair_all(&f, cx, fixes, n, FIX_INODES_LATEST);
	if (!err && f.e.nlater && !f.e.ndirs) {
		f.e.last = true;
		err = repair_all(&f, cx, fixes, n, FIX_INODES_LATEST);
	}
	err = inodeedit_close(&f.e, cx, err);
	if (!err)
		err = fix_inodes_past(&past, cx, fixes, n, FIX_INODES_ALL);
	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	return err;
}

