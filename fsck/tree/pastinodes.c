// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes of snapshots.
 *
 * What one is to be is decided elsewhere (inodedecide.h), by the checkpoints
 * before and after among others.
 *
 * An inode of nothing but zeros is taken for none where a snapshot is read,
 * and one without links, which an older or newer block of the ifile may have,
 * for a deleted one.  It was one where it is marked as in use and a directory
 * names it.
 */
#include "fsck/tree/pastinodes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/context.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "fsck/past/pastblocks.h"
#include "fsck/tree/inodedecide.h"
#include "fsck/tree/inoderepair.h"
#include "vol/root.h"

struct inodefix {
	struct pastblocks *p;
	struct volume *vol;
	struct inodedecide decide;
	bool by_names;	/* nothing but its names says how many links */
	/* Of the current inode. */
	struct pastblocks_block where;
	bool changed;			/* other inodes in the block were */
};

static bool is_garbage(const struct inodefix *s,
		       const struct nilfs_inode *inode)
{
	return inode_is_garbage(&s->vol->geo, inode);
}

/*
 * Of an inode that makes no sense nothing is left: one of nothing but zeros is
 * taken for none.  1, 0.
 */
static int clear_inode(struct inodefix *s, struct context *cx,
		       struct inodecase *pt)
{
	enum rule rule;
	int err;

	if (pt->ino == NILFS_ROOT_INO || inode_is_empty(&pt->inode))
		return 0;
	err = inoderepair_check(s->vol, cx, pt->ino, &pt->inode, &rule);
	if (err || (rule == RULE_OK &&
		    !is_garbage(s, &pt->inode)))
		return err;
	memset(&pt->inode, 0, sizeof(pt->inode));
	inodedecide_note(&s->decide, pt, "lost, no checkpoint has it");
	return 1;
}

/* Finds out what the inode is to be: 1, 0 where that is not known. */
static int decide_inode(struct inodefix *s, struct context *cx,
			struct inodecase *pt)
{
	int ret = inodedecide_run(&s->decide, cx, pt);

	if (ret > 0 && pt->other_cno && !pt->same && s->p->job->revived)
		*s->p->job->revived = true;
	return ret ? ret : clear_inode(s, cx, pt);
}

/*
 * As many links as the inode has names, unless it has as many as ever: 1, 0.
 * Later checkpoints are no witness once inodes were restored from such.
 */
static int link_to(struct inodefix *s, struct context *cx,
		   struct inodecase *pt, uint64_t want)
{
	const bool *revived = s->p->job->revived;
	int ret;

	if (revived && *revived)
		pt->life.end = NILFS_CNO_MAX;
	ret = inodedecide_ask(&s->decide, cx, pt);
	if (ret < 0 || want > NILFS_LINK_MAX ||
	    (ret && !s->by_names &&
	     le16_get(pt->other.i_links_count) != want))
		return ret < 0 ? ret : 0;
	pt->inode.i_links_count = le16_make((uint16_t)want);
	inodedecide_note(&s->decide, pt, "link count set to %" PRIu64, want);
	return 1;
}

/* The block of the ifile with the inode, to be changed: 1 and *BLOCK, 0. */
static int find_block(struct inodefix *s, struct context *cx,
		      struct inodecase *pt, char **block)
{
	struct pastblocks_block *b;
	size_t n = s->p->n;
	struct root root;
	int ret = root_open(&root, cx, s->vol, pt->cno);

	if (!ret)
		ret = pastblocks_change_in(s->p, cx, &root.ifile,
					   palloc_entry_blkoff(
						   &s->vol->ifile_palloc,
						   pt->ino), false, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	s->changed = s->p->n == n;
	s->where = *b;
	pt->life = b->life;
	*block = b->content;
	return 1;
}

/* Whether the snapshot has the inode marked as in use: 1, 0. */
static int is_used(struct inodefix *s, struct context *cx,
		   const struct inodecase *pt)
{
	struct root root;
	bool used = false;
	int ret = root_open(&root, cx, s->vol, pt->cno);

	if (!ret)
		ret = file_bit(&root.ifile, cx, &s->vol->ifile_palloc, pt->ino,
			       &used);
	return ret < 0 ? damage_forgive(cx, ret) : used;
}

/* Whether the inode was there, and is empty or a deleted one now: 1, 0. */
static int was_there(struct inodefix *s, struct context *cx,
		     const struct inodecase *pt)
{
	if (!inode_is_empty(&pt->inode) && le16_get(pt->inode.i_links_count))
		return 0;
	return is_used(s, cx, pt);
}

/* A deleted inode that has its map yet is in use again, unless it is another
   one than in a checkpoint with blocks that are alive: 1, 0. */
static int undelete_inode(struct inodefix *s, struct context *cx,
			  struct inodecase *pt)
{
	int ret;

	if (inode_is_empty(&pt->inode) || !inode_has_bmap(&pt->inode) ||
	    is_garbage(s, &pt->inode))
		return 0;
	ret = inodedecide_is_another(&s->decide, cx, pt);
	if (ret < 0 || (ret && pt->fits))
		return ret < 0 ? ret : 0;
	pt->inode.i_links_count = le16_make(1);
	ret = inoderepair_fit(s->vol, cx, pt->ino, &pt->inode);
	if (ret)
		return ret;
	inodedecide_note(&s->decide, pt, "no longer marked as deleted");
	return 1;
}

/* Whether the map of the inode begins with a block that is its own, and alive
   in the checkpoint: 1, 0. */
static int has_live_block(struct inodefix *s, struct context *cx,
			  const struct inodecase *pt)
{
	uint64_t ptr = inode_has_bmap(&pt->inode) ?
			       bmap_first_ptr(pt->inode.i_bmap) : 0;
	struct vblock vb;
	int ret;

	if (!ptr || is_garbage(s, &pt->inode))
		return 0;
	ret = vblocks_find(&s->decide.vblocks, cx, ptr, &vb);
	if (ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	if (vb.start > pt->cno || vb.end <= pt->cno)
		return 0;
	ret = inodedecide_is_foreign(&s->decide, cx, pt);
	return ret < 0 ? ret : !ret;
}

/* Marks the inode as in use in the bitmap of its group, and counts again: 1, 0. */
static int mark_used(struct inodefix *s, struct context *cx,
		     struct inodecase *pt)
{
	const struct palloc *p = &s->vol->ifile_palloc;
	uint64_t group = palloc_group(p, pt->ino);
	uint32_t at = palloc_group_offset(p, pt->ino), nfrees;
	struct nilfs_palloc_group_desc desc;
	struct pastblocks_block *b;
	struct root root;
	int ret = root_open(&root, cx, s->vol, pt->cno);

	if (!ret)
		ret = pastblocks_change_in(s->p, cx, &root.ifile,
					   palloc_bitmap_blkoff(p, group),
					   false, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	((uint8_t *)b->content)[at / 8] |= (uint8_t)(1 << at % 8);
	nfrees = p->entries_per_group - palloc_count(p, b->content);
	ret = pastblocks_change_in(s->p, cx, &root.ifile,
				   palloc_desc_blkoff(p, group), false, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	desc = (struct nilfs_palloc_group_desc){
		.pg_nfrees = le32_make(nfrees),
	};
	memcpy((char *)b->content + palloc_desc_offset(p, group), &desc,
	       sizeof(desc));
	inodedecide_note(&s->decide, pt, "marked as in use");
	return 0;
}

/*
 * An inode that is marked free, as bitmap and count agree.  If its blocks are
 * alive it is in use; if no other checkpoint has it either, it is none.  1, 0.
 */
static int clear_free(struct inodefix *s, struct context *cx,
		      struct inodecase *pt)
{
	int ret;

	/* The bitmap is to be repaired first. */
	if (s->p->job->plan->kinds[RULE_FIX_IFILE].n)
		return 0;
	ret = has_live_block(s, cx, pt);
	if (ret)
		return ret < 0 ? ret : mark_used(s, cx, pt);
	ret = inodedecide_ask(&s->decide, cx, pt);
	if (ret || (pt->other_cno &&
		    inode_is_same_file(&pt->other, &pt->inode)))
		return ret < 0 ? ret : 0;
	memset(&pt->inode, 0, sizeof(pt->inode));
	inodedecide_note(&s->decide, pt, "cleared, it is marked free and "
			 "no checkpoint has it");
	return 1;
}

/* What the inode is to be, by what was found of it: 1, 0. */
static int repair_inode(struct inodefix *s, struct context *cx,
			struct inodecase *pt, const struct fix *fix)
{
	int ret = 1;

	if (fix->rule == RULE_INODE_LINKS_NAMES && !is_garbage(s, &pt->inode))
		return link_to(s, cx, pt, fix->want);
	if (fix->rule == RULE_INODE_FREE)
		return clear_free(s, cx, pt);
	if (fix->rule == RULE_DIR_NO_INODE)
		ret = was_there(s, cx, pt);
	if (ret <= 0)
		return ret;
	ret = fix->rule == RULE_DIR_NO_INODE ? undelete_inode(s, cx, pt) : 0;
	return ret ? ret : decide_inode(s, cx, pt);
}

/* Whether several inodes in BLOCK, of the ifile, are garbage. */
static bool is_noise(const struct inodefix *s, const char *block)
{
	uint32_t at, n = 0;

	for (at = 0; at < s->vol->geo.block_size;
	     at += s->vol->geo.inode_size) {
		const struct nilfs_inode *inode = (const void *)(block + at);

		n += !inode_is_empty(inode) &&
		     is_garbage(s, inode);
	}
	return n > 1;
}

/* Whether another inode of the block is lost with it, where all is NOISE: 1,
   0. */
static int is_lost_too(struct inodefix *s, struct context *cx,
		       struct inodecase *pt, bool noise)
{
	int ret = inode_is_private(pt->ino) || (!noise && !inode_is_empty(&pt->inode))
			  ? 0 : is_used(s, cx, pt);

	return ret > 0 && !inode_is_empty(&pt->inode) &&
		       !is_garbage(s, &pt->inode)
		       ? inodedecide_is_another(&s->decide, cx, pt) : ret;
}

/* What another inode of the block is to be, where all is NOISE: 1, 0. */
static int decide_other(struct inodefix *s, struct context *cx,
			struct inodecase *pt, bool noise)
{
	int ret = is_lost_too(s, cx, pt, noise);

	if (ret)
		return ret < 0 ? ret : decide_inode(s, cx, pt);
	if (noise || inode_is_empty(&pt->inode) || inode_is_private(pt->ino))
		return 0;
	ret = was_there(s, cx, pt);
	return ret > 0 ? undelete_inode(s, cx, pt) : ret;
}

/*
 * A snapshot that lost one inode lost others of BLOCK with it; they may be what
 * is named by a directory that is found again: 0, -ENOMEM, -EINTR.
 */
static int find_others(struct inodefix *s, struct context *cx,
		       const struct inodecase *found, bool noise, char *block)
{
	const struct palloc *palloc = &s->vol->ifile_palloc;
	struct palloc_block what;
	struct inodecase pt;
	uint64_t ino;
	char *at;
	int ret = 0;

	palloc_locate(palloc, s->where.key, &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		at = block + palloc_entry_offset(palloc, ino);
		pt = (struct inodecase){
			.cno = found->cno, .ino = ino,
			.rule = RULE_INODE_EMPTY, .life = found->life,
		};
		memcpy(&pt.inode, at, sizeof(pt.inode));
		ret = decide_other(s, cx, &pt, noise);
		if (ret > 0)
			memcpy(at, &pt.inode, sizeof(pt.inode));
	}
	return ret < 0 ? ret : 0;
}

/* Repairs the inode in BLOCK: 1, 0 where it stays as it is. */
static int repair_in(struct inodefix *s, struct context *cx,
		     struct inodecase *pt, const struct fix *fix, char *block)
{
	char *at = block + palloc_entry_offset(&s->vol->ifile_palloc, pt->ino);
	bool noise = is_noise(s, block), lost;
	int ret;

	memcpy(&pt->inode, at, sizeof(pt->inode));
	lost = !le16_get(pt->inode.i_links_count);
	if (noise && is_garbage(s, &pt->inode))
		pt->rule = RULE_INODE_EMPTY;
	ret = repair_inode(s, cx, pt, fix);
	/* The same once more repairs nothing. */
	if (ret > 0)
		ret = memcmp(at, &pt->inode, sizeof(pt->inode)) != 0;
	if (ret <= 0)
		return ret;
	memcpy(at, &pt->inode, sizeof(pt->inode));
	ret = lost || noise ? find_others(s, cx, pt, noise, block) : 0;
	return ret < 0 ? ret : 1;
}

static int repair_block(struct inodefix *s, struct context *cx,
			const struct fix *fix)
{
	bool named = fix->rule == RULE_DIR_NO_INODE;
	struct inodecase pt = {
		.cno = fix->place.cno,
		.ino = inodedecide_ino(fix),
		.rule = named ? RULE_INODE_EMPTY : fix->rule,
		.got = fix->got,
	};
	enum rule rule = RULE_OK;
	char *block;
	int ret;

	s->where.vblocknr = 0;
	ret = find_block(s, cx, &pt, &block);

	if (ret > 0)
		ret = repair_in(s, cx, &pt, fix, block);
	if (ret <= 0 && !s->changed)
		pastblocks_drop(s->p, s->where.vblocknr);
	if (!ret && !named && !inode_is_empty(&pt.inode))
		ret = inoderepair_check(s->vol, cx, pt.ino, &pt.inode, &rule);
	if (!ret && rule != RULE_OK)
		inodedecide_note(&s->decide, &pt, "not repaired, no other "
				 "checkpoint has it as it was");
	return ret < 0 ? ret : 0;
}

static bool is_past(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_INODE && fix->place.cno &&
	       fix->place.cno != job->vol->latest.cno &&
	       !inode_is_metadata(fix->place.ino) &&
	       fix->rule != RULE_INODE_RESERVED_FREE &&
	       fix->rule != RULE_INODE_ORPHAN &&
	       fix->rule != RULE_INODE_UNREACHABLE;
}

static bool is_lost(const struct fixer_job *job, const struct fix *fix)
{
	return fix->rule == RULE_DIR_NO_INODE && fix->place.cno &&
	       fix->place.cno != job->vol->latest.cno;
}

static int repair_all(struct inodefix *s, struct context *cx,
		      const struct fix *fixes, size_t n,
		      bool (*is_mine)(const struct fixer_job *job,
				      const struct fix *fix))
{
	struct fixer_job *job = s->p->job;
	int err = inodedecide_open(&s->decide, cx, job, fixes, n, is_mine);
	size_t i;

	for (i = 0; i < n && !err; i++)
		if (is_mine(job, &fixes[i]))
			err = repair_block(s, cx, &fixes[i]);
	inodedecide_close(&s->decide);
	return err;
}

/* Fewer names than links: which one is wrong of too many is not known. */
static bool is_missing(const struct fixer_job *job, const struct fix *fix)
{
	return fix->rule == RULE_INODE_LINKS_NAMES && fix->want < fix->got &&
	       is_past(job, fix);
}

int pastinodes_repair(struct pastblocks *p, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	struct inodefix s = { .p = p, .vol = p->job->vol };

	return repair_all(&s, cx, fixes, n, is_past);
}

int pastinodes_find(struct pastblocks *p, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	struct inodefix s = { .p = p, .vol = p->job->vol };

	return repair_all(&s, cx, fixes, n, is_lost);
}

int pastinodes_count(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	struct inodefix s = {
		.p = p, .vol = p->job->vol, .by_names = true,
	};

	return repair_all(&s, cx, fixes, n, is_missing);
}
