// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of inodes, of the latest state and of snapshots.
 *
 * Findings give the inodes; their new content is decided for all checkpoints
 * alike (inodeedit.h).
 *
 * In a snapshot, an inode that is empty or has no links, as in an older or
 * newer block of the ifile, existed if it is marked in use and a directory
 * names it.  In the latest state the mark may be lost too (freedinodes.c).
 */
#include "fsck/tree/inodeedit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "log/directwriter.h"

struct fixing {
	struct inodeedit e;
	uint64_t cno, blkoff;	/* block of the ifile examined last */
	bool replaced;		/* the block was replaced as a whole */
	enum fix_inodes_which which;
};

/*
 * Examines the block of the ifile that contains inode INO, once: 1 if all of it
 * was replaced by something else, so that its inodes cannot be corrected, 0.
 * That is so if several of its inodes in use are invalid, or other files than
 * before; empty inodes may be some that the kernel had not written yet.  Inodes
 * in it that look right may be so by chance.
 */
static int repair_block(struct fixing *f, struct context *cx, uint64_t cno,
			uint64_t ino)
{
	uint64_t blkoff = palloc_entry_blkoff(f->e.palloc, ino), end;
	unsigned int doubtful = 0;
	struct palloc_block what;
	struct inodecase c;
	int ret = 0;

	if (f->cno == cno && f->blkoff == blkoff)
		return f->replaced;
	f->cno = cno;
	f->blkoff = blkoff;
	palloc_locate(f->e.palloc, blkoff, &what);
	end = what.first + what.count;
	for (ino = what.first; ino < end && ret >= 0; ino++) {
		if (inode_is_private(ino))
			continue;
		ret = inodeedit_is_used(&f->e, cx, cno, ino);
		if (ret > 0)
			ret = inodeedit_case(&f->e, cx, cno, ino, &c);
		if (ret <= 0 || inode_is_empty(&c.inode) ||
		    !inode_signs(f->e.geo, &c.inode))
			continue;
		if (!inode_is_garbage(f->e.geo, &c.inode))
			ret = inodedecide_is_another(&f->e, cx, &c);
		doubtful += ret > 0;
	}
	f->replaced = ret >= 0 && doubtful > 1;
	if (!f->replaced)
		return ret < 0 ? ret : 0;
	for (ino = what.first; ino < end && ret >= 0; ino++) {
		if (inode_is_private(ino))
			continue;
		ret = inodeedit_is_used(&f->e, cx, cno, ino);
		if (!ret && cno == f->e.latest)
			ret = inodeedit_clear(&f->e, cx, cno, ino);
		if (ret > 0)
			ret = inodeedit_case(&f->e, cx, cno, ino, &c);
		if (ret > 0 && !inode_signs(f->e.geo, &c.inode))
			ret = inodedecide_is_another(&f->e, cx, &c);
		if (ret > 0)
			ret = inodeedit_decide(&f->e, cx, &c);
	}
	return ret < 0 ? ret : 1;
}

/* Restores inode C of a snapshot, if it is in use, and empty or without links:
   1 if it was changed, 0. */
static int restore_lost(struct fixing *f, struct context *cx,
			struct inodecase *c, bool named)
{
	bool empty = inode_is_empty(&c->inode);
	int ret;

	if ((!empty && le16_get(c->inode.i_links_count)) ||
	    inode_is_private(c->ino))
		return 0;
	ret = inodeedit_is_used(&f->e, cx, c->cno, c->ino);
	if (ret <= 0)
		return ret;
	/* An inode that still has its map is marked in use again, unless
	   checkpoints that share live blocks have another file. */
	if (!empty && inode_has_bmap(&c->inode) &&
	    !inode_is_garbage(f->e.geo, &c->inode)) {
		ret = inodedecide_is_another(&f->e, cx, c);
		if (ret < 0)
			return ret;
		if (!ret || !c->fits) {
			c->inode.i_links_count = le16_make(1);
			ret = inodefields_fit(f->e.job->vol, cx, c->ino,
					      &c->inode);
			if (ret)
				return ret;
			inodedecide_note(&f->e, c,
					 "no longer marked as deleted");
			return inodeedit_write(&f->e, cx, c);
		}
	}
	return empty || named ? inodeedit_decide(&f->e, cx, c) : 0;
}

/*
 * Handles inode C, which exists and is marked free: one of these is wrong.  It
 * is in use unless its map begins with a block of another file or, in a
 * snapshot, one that is not live.  There it is invalid if no other checkpoint
 * has it either, and the bitmap must be repaired first.  1 if it is cleared
 * there, 0.
 */
static int settle_free(struct fixing *f, struct context *cx,
		       struct inodecase *c)
{
	uint64_t ptr = inode_has_bmap(&c->inode) ?
			       bmap_first_ptr(c->inode.i_bmap) : 0;
	bool latest = c->cno == f->e.latest, lives = false;
	struct segsum_block b = { .ino = c->ino };
	struct vblock vb;
	int ret = 0;

	if (!latest && f->e.job->plan->kinds[RULE_FIX_IFILE].n)
		return 0;
	if (ptr)
		ret = vblocks_find(&f->e.vblocks, cx, ptr, &vb);
	if (ret >= 0 && ptr && ret == VBLOCKS_USED) {
		lives = lifetime_has(&vb.life, c->cno);
		ret = damage_forgive(cx, listings_find_block(
						 cx, f->e.job->check,
						 vb.blocknr, &b));
	}
	if (ret < 0)
		return ret;
	if (b.ino == c->ino &&
	    (latest ? inode_check(f->e.geo, &c->inode, c->ino) == RULE_OK :
		      lives && !inode_is_garbage(f->e.geo, &c->inode))) {
		inodedecide_note(&f->e, c, "marked as in use");
		return inodeedit_mark(&f->e, cx, c->cno, c->ino, true);
	}
	if (latest)
		return inodeedit_clear(&f->e, cx, c->cno, c->ino);
	ret = inodedecide_ask(&f->e, cx, c);
	if (ret || (c->other_cno && inode_is_same_file(&c->other, &c->inode)))
		return ret < 0 ? ret : 0;
	memset(&c->inode, 0, sizeof(c->inode));
	inodedecide_note(&f->e, c, "cleared, it is marked free and no "
			 "checkpoint has it");
	return inodeedit_write(&f->e, cx, c);
}

/* The number of the inode that FIX is about. */
static uint64_t ino_of(const struct finding *fix)
{
	return fix->rule == RULE_DIR_NO_INODE ? fix->got : fix->place.ino;
}

/* Repairs the inode of FIX; in the latest state only if it is still wrong. */
static int repair_one(struct fixing *f, struct context *cx,
		      const struct finding *fix)
{
	bool named = fix->rule == RULE_DIR_NO_INODE, lost;
	bool latest = fix->place.cno == f->e.latest;
	uint64_t cno = fix->place.cno, ino = ino_of(fix);
	enum rule rule = RULE_OK;
	struct palloc_block what;
	struct inodecase c;
	int ret;

	if (fix->rule == RULE_INODE_RESERVED_FREE)
		return inodeedit_mark(&f->e, cx, cno, ino, true);
	ret = repair_block(f, cx, cno, ino);
	if (ret < 0 || (ret && !latest))
		return ret < 0 ? ret : 0;
	ret = inodeedit_case(&f->e, cx, cno, ino, &c);
	if (ret < 0 || (!ret && !latest))
		return ret;
	if (!named)
		c.rule = fix->rule;
	lost = !le16_get(c.inode.i_links_count);
	if (named) {
		ret = restore_lost(f, cx, &c, true);
	} else if (fix->rule == RULE_INODE_FREE) {
		ret = settle_free(f, cx, &c);
	} else if (latest) {
		ret = inodeedit_is_used(&f->e, cx, cno, ino);
		if (ret > 0 || (!ret && ino == NILFS_ROOT_INO))
			ret = inodedecide_is_wrong(&f->e, cx, &c);
		if (ret > 0)
			ret = inodeedit_decide(&f->e, cx, &c);
	} else if (fix->rule == RULE_INODE_LINKS_NAMES &&
		   !inode_is_garbage(f->e.geo, &c.inode)) {
		/*
		 * Sets the links to the number of names, unless another
		 * checkpoint has the unchanged inode with another link count.
		 * Later checkpoints are not used once inodes were restored from
		 * them.
		 */
		if (f->e.job->borrowed && *f->e.job->borrowed)
			c.life.end = NILFS_CNO_MAX;
		ret = inodedecide_ask(&f->e, cx, &c);
		if (ret >= 0 && (fix->want > NILFS_LINK_MAX ||
				 (ret && f->which != FIX_INODES_COUNTS &&
				  le16_get(c.other.i_links_count) !=
					  fix->want))) {
			ret = 0;
		} else if (ret >= 0) {
			c.inode.i_links_count = le16_make((uint16_t)fix->want);
			inodedecide_note(&f->e, &c, "link count set to %" PRIu64,
					 fix->want);
			ret = inodeedit_write(&f->e, cx, &c);
		}
	} else {
		c.got = fix->got;
		ret = inodeedit_decide(&f->e, cx, &c);
	}
	if (latest)
		return ret < 0 ? ret : 0;
	if (!ret && !named && !inode_is_empty(&c.inode))
		ret = inodefields_check(f->e.job->vol, cx, ino, &c.inode, &rule);
	if (!ret && rule != RULE_OK)
		inodedecide_note(&f->e, &c, "not repaired: no other checkpoint "
				 "has an undamaged version");
	if (ret <= 0 || !lost)
		return ret < 0 ? ret : 0;
	/* Other inodes of the block were lost with it; directories found later
	   may name them. */
	palloc_locate(f->e.palloc, palloc_entry_blkoff(f->e.palloc, ino),
		      &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		ret = inodeedit_case(&f->e, cx, cno, ino, &c);
		if (ret > 0)
			ret = restore_lost(f, cx, &c, false);
	}
	return ret < 0 ? ret : 0;
}

/* Whether a run for WHICH includes FIX. */
static bool is_fix_of_run(const struct fixer_job *job,
			  const struct finding *fix,
			  enum fix_inodes_which which)
{
	bool latest = fix->place.cno == job->vol->latest.cno;
	bool snapshot = fix->place.cno && !latest;

	if (which == FIX_INODES_LOST || which == FIX_INODES_NAMED)
		return fix->rule == RULE_DIR_NO_INODE &&
		       (which == FIX_INODES_LOST ? snapshot : latest);
	if (fix->place.kind != PLACE_INODE)
		return false;
	if (which >= FIX_INODES_LATEST)
		return latest && (!inode_is_metadata(fix->place.ino) ||
				  fix->rule == RULE_INODE_RESERVED_FREE);
	/* With too many names, the wrong one is unknown. */
	if (which == FIX_INODES_COUNTS &&
	    (fix->rule != RULE_INODE_LINKS_NAMES || fix->want >= fix->got))
		return false;
	return snapshot && !inode_is_metadata(fix->place.ino) &&
	       fix->rule != RULE_INODE_RESERVED_FREE &&
	       fix->rule != RULE_INODE_ORPHAN &&
	       fix->rule != RULE_INODE_UNREACHABLE;
}

/* Lists the inodes for a run for WHICH; the caller frees the list. */
static int list_fixed_inodes(struct fixer_job *job, struct context *cx,
			     const struct finding *fixes, size_t n,
			     enum fix_inodes_which which, uint64_t **inos,
			     size_t *found)
{
	size_t i;

	*found = 0;
	*inos = calloc(n + 1, sizeof(**inos));
	if (!*inos)
		return fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n; i++)
		if (is_fix_of_run(job, &fixes[i], which))
			(*inos)[(*found)++] = ino_of(&fixes[i]);
	return 0;
}

int fix_inodes_snapshots(struct snapblocks *p, struct context *cx,
		    const struct finding *fixes, size_t n,
		    enum fix_inodes_which which)
{
	struct fixing f = { .which = which };
	bool again = true;
	uint64_t *inos;
	size_t i, found;
	int err = list_fixed_inodes(p->job, cx, fixes, n, which, &inos, &found);

	if (err)
		return err;
	err = inodeedit_open(&f.e, cx, p->job, p, inos, found);
	free(inos);
	while (!err && again) {
		f.blkoff = UINT64_MAX;
		f.e.nlater = 0;
		for (i = 0; i < n && !err; i++)
			if (is_fix_of_run(p->job, &fixes[i], which))
				err = repair_one(&f, cx, &fixes[i]);
		again = which == FIX_INODES_LATEST && f.e.nlater &&
			!f.e.ndirs && !f.e.last;
		f.e.last = true;
	}
	return inodeedit_close(&f.e, cx, err);
}

int fix_inodes(struct fixer_job *job, struct context *cx,
	       const struct finding *fixes, size_t n)
{
	const struct metafile *ifile = directwriter_file(job->writer,
							 NILFS_IFILE_INO);
	struct snapblocks snap = { .job = job };
	int ret = fix_ifile_fill(job, cx, fixes, n);

	/* The findings are about an ifile that this one replaces, but that of
	   the root is true of one without any block too.  An empty root is made
	   only if what it replaces is kept, or on request. */
	if (ret < 0 || (directwriter_is_rebuilt(job->writer, NILFS_IFILE_INO) &&
			!(metafile_facts(ifile).empty &&
			  (job->undo || job->rebuild))))
		return ret < 0 ? ret : 0;
	ret = fix_inodes_snapshots(&snap, cx, fixes, n,
			      ret ? FIX_INODES_SPARING : FIX_INODES_LATEST);
	if (!ret)
		ret = fix_inodes_snapshots(&snap, cx, fixes, n, FIX_INODES_ALL);
	if (!ret)
		ret = snapblocks_write(&snap, cx);
	snapblocks_fini(&snap);
	return ret;
}

int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct finding *fixes, size_t n)
{
	uint64_t *inos;
	size_t found;
	int ret = list_fixed_inodes(job, cx, fixes, n, FIX_INODES_NAMED, &inos,
				    &found);

	if (found)
		ret = freedinodes_restore(job, cx, inos, found, true);
	free(inos);
	return ret;
}
