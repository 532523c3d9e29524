// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes of snapshots.
 *
 * An inode that was not changed for a while stands in many blocks of the
 * ifile: each time another inode of its block is changed it is written again
 * as it is.  So the checkpoints before and after are asked for the same
 * inode, from the nearest on; one with the same blocks and the same time of
 * change is the same in all.  Another one could be in its place if what it
 * leads to lives as long.
 *
 * Where there is none the fields that are wrong are set to what the blocks of
 * the file say, or all of it to what the nearest checkpoint has, if that leads
 * to blocks that the snapshot has too, or else with the map that the logs say
 * the file had.
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
#include "base/search.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "fsck/derive/derive_checkpoint.h"
#include "fsck/past/pastblocks.h"
#include "fsck/tree/inoderepair.h"
#include "vol/cptable.h"
#include "vol/root.h"

#define SECTOR 512u

/* Checkpoints with another block of the ifile that are asked at most. */
#define ASK_MOST 256

struct inodefix {
	struct pastblocks *p;
	struct volume *vol;
	uint64_t *cnos;		/* of all checkpoints, ascending */
	size_t n;
};

/* The current inode. */
struct snapinode {
	uint64_t cno, ino;
	enum rule rule;
	uint64_t got;			/* of the finding */
	struct pastblocks_block where;
	bool changed;			/* other inodes in the block were */
	struct nilfs_inode inode;
	/* The nearest one that could be in its place. */
	bool found;
	uint64_t found_cno;
	struct nilfs_inode other;
	/* The nearest one of all, of which only the map cannot be. */
	uint64_t near_cno;
	struct nilfs_inode near;
};

/* Whether PTR leads to a block that lives as long as the inode: 1, 0. */
static int reaches(struct inodefix *s, struct context *cx,
		   const struct snapinode *pt, uint64_t ptr)
{
	struct vblock vb;
	int state = vblocks_find(&s->p->vblocks, cx, ptr, &vb);

	if (state < 0)
		return state;
	return state == VBLOCKS_USED && vb.start <= pt->where.life.start &&
	       vb.end >= pt->where.life.end;
}

/* Whether the blocks of INODE are there in the snapshot: 1, 0. */
static int fits(struct inodefix *s, struct context *cx,
		const struct snapinode *pt, const struct nilfs_inode *inode)
{
	struct bmap_node root;
	uint32_t i;
	int ret = 1;

	if (!inode_has_bmap(inode))
		return 1;
	if (!bmap_is_btree(inode->i_bmap)) {
		for (i = 0; i < NILFS_DIRECT_NBLOCKS && ret > 0; i++)
			if (bmap_direct_ptr(inode->i_bmap, i))
				ret = reaches(s, cx, pt, bmap_direct_ptr(
						inode->i_bmap, i));
		return ret;
	}
	bmap_root_read(inode->i_bmap, &root);
	for (i = 0; i < root.nchildren && ret > 0; i++)
		ret = reaches(s, cx, pt, bmap_node_ptr(&root, i));
	return ret;
}

static bool is_same(const struct nilfs_inode *a, const struct nilfs_inode *b)
{
	return le64_get(a->i_ctime) == le64_get(b->i_ctime) &&
	       le32_get(a->i_generation) == le32_get(b->i_generation) &&
	       !memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap));
}

/* 1 where checkpoint CNO has the inode as it was, 0 where it has not. */
static int ask_checkpoint(struct inodefix *s, struct context *cx,
			  struct snapinode *pt, uint64_t cno)
{
	struct nilfs_inode inode;
	struct root root;
	enum rule rule;
	int ret = root_open(&root, cx, s->vol, cno);

	if (!ret)
		ret = root_inode(&root, cx, pt->ino, &inode);
	if (ret)
		return damage_forgive(cx, ret);
	ret = inoderepair_judge(s->vol, cx, pt->ino, &inode, &rule);
	if (ret || rule != RULE_OK)
		return ret;
	if (is_same(&inode, &pt->inode)) {
		pt->other = inode;
		pt->found_cno = cno;
		return 1;
	}
	ret = pt->found ? 0 : fits(s, cx, pt, &inode);
	if (!ret && !pt->near_cno) {
		pt->near = inode;
		pt->near_cno = cno;
	}
	if (ret <= 0)
		return ret;
	pt->found = true;
	pt->found_cno = cno;
	pt->other = inode;
	return 0;
}

/*
 * Asks checkpoints with another block of the ifile, from the nearest on, for
 * the inode: 1 where one has it as it was, in PT->other; 0, and what else there
 * is in PT.  -ENOMEM, -EINTR.
 */
static int ask_checkpoints(struct inodefix *s, struct context *cx,
			   struct snapinode *pt)
{
	size_t below = search_lower_bound(s->cnos, s->n,
					  pt->where.life.start);
	size_t above = search_lower_bound(s->cnos, s->n, pt->where.life.end);
	unsigned int asked;
	int ret = 0;

	for (asked = 0; asked < ASK_MOST && !ret; asked++) {
		if (asked % 2 ? below > 0 : above == s->n && below > 0)
			ret = ask_checkpoint(s, cx, pt, s->cnos[--below]);
		else if (above < s->n)
			ret = ask_checkpoint(s, cx, pt, s->cnos[above++]);
		if (!ret)
			ret = context_cancelled(cx);
	}
	return ret;
}

/* More than a field is wrong. */
static bool is_garbage(const struct inodefix *s, const struct snapinode *pt)
{
	const struct nilfs_inode *inode = &pt->inode;

	return pt->rule == RULE_INODE_EMPTY ||
	       pt->rule == RULE_INODE_LINKS_ZERO ||
	       le64_get(inode->i_size) > INT64_MAX ||
	       inoderepair_is_garbage(&s->vol->geo, inode);
}

/* A directory without nodes has the blocks that it was counted to have. */
static void set_size(const struct inodefix *s, struct snapinode *pt)
{
	uint64_t bytes = pt->got << s->vol->geo.block_bits;

	if (le64_get(pt->inode.i_blocks) == bytes / SECTOR)
		pt->inode.i_size = le64_make(bytes);
}

/* The fields that are wrong, by the blocks of the file: 1, 0. */
static int repair_fields(struct inodefix *s, struct context *cx,
			 struct snapinode *pt)
{
	uint16_t mode = le16_get(pt->other.i_mode);
	bool known = pt->found && le32_get(pt->other.i_generation) ==
					  le32_get(pt->inode.i_generation);
	const struct nilfs_inode before = pt->inode;
	int ret;

	if (is_garbage(s, pt))
		return 0;
	if (pt->rule == RULE_INODE_DIR_BLOCKS)
		set_size(s, pt);
	if (pt->rule == RULE_INODE_MODE && known)
		pt->inode.i_mode = le16_make(mode);
	ret = inoderepair_fields(s->vol, cx, pt->ino, 0, &pt->inode);
	return ret > 0 ? memcmp(&before, &pt->inode, sizeof(before)) != 0 : ret;
}

/* The nearest one, with the blocks that the logs say it had: 1, 0. */
static int derive_inode(struct inodefix *s, struct context *cx,
			struct snapinode *pt)
{
	unsigned int bits = s->vol->geo.block_bits;
	uint64_t end, size = le64_get(pt->near.i_size);
	int ret = pt->near_cno
			  ? derive_map(s->p->job->check, cx, NULL, pt->ino,
				       pt->cno, &pt->near, &end)
			  : 0;

	if (ret <= 0)
		return ret;
	if (S_ISDIR(le16_get(pt->near.i_mode)) || size > end << bits ||
	    size <= (end - 1) << bits)
		pt->near.i_size = le64_make(end << bits);
	pt->inode = pt->near;
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": restored from checkpoint %" PRIu64
		    ", its map from the logs", pt->cno, pt->ino, pt->near_cno);
	return 1;
}

/*
 * Of an inode that makes no sense nothing is left: one of nothing but zeros is
 * taken for none.  1, 0.
 */
static int clear_inode(struct inodefix *s, struct context *cx,
		       struct snapinode *pt)
{
	enum rule rule;
	int err;

	if (pt->ino == NILFS_ROOT_INO || inode_is_empty(&pt->inode))
		return 0;
	err = inoderepair_check(s->vol, cx, pt->ino, &pt->inode, &rule);
	if (err || (rule == RULE_OK &&
		    !inoderepair_is_garbage(&s->vol->geo, &pt->inode)))
		return err;
	memset(&pt->inode, 0, sizeof(pt->inode));
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": lost, no checkpoint has it", pt->cno, pt->ino);
	return 1;
}

/* Finds out what the inode is to be: 1, 0 where that is not known. */
static int decide_inode(struct inodefix *s, struct context *cx,
			struct snapinode *pt)
{
	int ret = ask_checkpoints(s, cx, pt);

	if (ret < 0)
		return ret;
	if (!ret) {
		ret = repair_fields(s, cx, pt);
		if (ret > 0)
			fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %"
				    PRIu64 ": fields repaired", pt->cno,
				    pt->ino);
		if (!ret && !pt->found) {
			ret = derive_inode(s, cx, pt);
			return ret ? ret : clear_inode(s, cx, pt);
		}
		if (ret)
			return ret;
	}
	pt->inode = pt->other;
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": restored from checkpoint %" PRIu64, pt->cno, pt->ino,
		    pt->found_cno);
	return 1;
}

/* As many links as the inode has names, unless it has as many as ever: 1, 0. */
static int link_to(struct inodefix *s, struct context *cx,
		   struct snapinode *pt, uint64_t want)
{
	int ret = ask_checkpoints(s, cx, pt);

	if (ret < 0 || want > NILFS_LINK_MAX ||
	    (ret && le16_get(pt->other.i_links_count) != want))
		return ret < 0 ? ret : 0;
	pt->inode.i_links_count = le16_make((uint16_t)want);
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": link count set to %" PRIu64, pt->cno, pt->ino, want);
	return 1;
}

/* The block of the ifile with the inode, to be changed: 1 and *BLOCK, 0. */
static int find_block(struct inodefix *s, struct context *cx,
		      struct snapinode *pt, char **block)
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
	pt->changed = s->p->n == n;
	pt->where = *b;
	*block = b->content;
	return 1;
}

/* Whether the snapshot has the inode marked as in use: 1, 0. */
static int is_used(struct inodefix *s, struct context *cx,
		   const struct snapinode *pt)
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
		     const struct snapinode *pt)
{
	if (!inode_is_empty(&pt->inode) && le16_get(pt->inode.i_links_count))
		return 0;
	return is_used(s, cx, pt);
}

/* A deleted inode that has its map yet is in use again: 1, 0. */
static int undelete_inode(struct inodefix *s, struct context *cx,
			  struct snapinode *pt)
{
	int ret;

	if (inode_is_empty(&pt->inode) || !inode_has_bmap(&pt->inode) ||
	    inoderepair_is_garbage(&s->vol->geo, &pt->inode))
		return 0;
	pt->inode.i_links_count = le16_make(1);
	ret = inoderepair_fit(s->vol, cx, pt->ino, &pt->inode);
	if (ret)
		return ret;
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": no longer marked as deleted", pt->cno, pt->ino);
	return 1;
}

/*
 * An inode that is marked free, as bitmap and count agree, and that no other
 * checkpoint has: it is none.  1, 0.
 */
static int clear_free(struct inodefix *s, struct context *cx,
		      struct snapinode *pt)
{
	int ret = s->p->job->plan->kinds[RULE_FIX_IFILE].n ?
			  1 : ask_checkpoints(s, cx, pt);

	if (ret || (pt->found && inode_is_same_file(&pt->other, &pt->inode)) ||
	    (pt->near_cno && inode_is_same_file(&pt->near, &pt->inode)))
		return ret < 0 ? ret : 0;
	memset(&pt->inode, 0, sizeof(pt->inode));
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
		    ": cleared, it is marked free and no checkpoint has it",
		    pt->cno, pt->ino);
	return 1;
}

/* What the inode is to be, by what was found of it: 1, 0. */
static int repair_inode(struct inodefix *s, struct context *cx,
			struct snapinode *pt, const struct fix *fix)
{
	int ret = 1;

	if (fix->rule == RULE_INODE_LINKS_NAMES && !is_garbage(s, pt))
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

/* Whether the nearest checkpoint with such an inode has another one: 1, 0. */
static int is_another(struct inodefix *s, struct context *cx,
		      struct snapinode *pt)
{
	int ret = ask_checkpoints(s, cx, pt);

	if (ret)
		return ret < 0 ? ret : 0;
	if (pt->found)
		return !inode_is_same_file(&pt->other, &pt->inode);
	return pt->near_cno && !inode_is_same_file(&pt->near, &pt->inode);
}

/* Whether several inodes in BLOCK, of the ifile, are garbage. */
static bool is_noise(const struct inodefix *s, const char *block)
{
	uint32_t at, n = 0;

	for (at = 0; at < s->vol->geo.block_size;
	     at += s->vol->geo.inode_size) {
		const struct nilfs_inode *inode = (const void *)(block + at);

		n += !inode_is_empty(inode) &&
		     inoderepair_is_garbage(&s->vol->geo, inode);
	}
	return n > 1;
}

/* Whether another inode of the block is lost with it, where all is NOISE: 1,
   0. */
static int is_lost_too(struct inodefix *s, struct context *cx,
		       struct snapinode *pt, bool noise)
{
	int ret = inode_is_private(pt->ino) || (!noise && !inode_is_empty(&pt->inode))
			  ? 0 : is_used(s, cx, pt);

	return ret > 0 && !inode_is_empty(&pt->inode) &&
		       !inoderepair_is_garbage(&s->vol->geo, &pt->inode)
		       ? is_another(s, cx, pt) : ret;
}

/* What another inode of the block is to be, where all is NOISE: 1, 0. */
static int decide_other(struct inodefix *s, struct context *cx,
			struct snapinode *pt, bool noise)
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
		       const struct snapinode *found, bool noise, char *block)
{
	const struct palloc *palloc = &s->vol->ifile_palloc;
	struct palloc_block what;
	struct snapinode pt;
	uint64_t ino;
	char *at;
	int ret = 0;

	palloc_locate(palloc, found->where.key, &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		at = block + palloc_entry_offset(palloc, ino);
		pt = (struct snapinode){
			.cno = found->cno, .ino = ino,
			.rule = RULE_INODE_EMPTY, .where = found->where,
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
		     struct snapinode *pt, const struct fix *fix, char *block)
{
	char *at = block + palloc_entry_offset(&s->vol->ifile_palloc, pt->ino);
	bool noise = is_noise(s, block), lost;
	int ret;

	memcpy(&pt->inode, at, sizeof(pt->inode));
	lost = !le16_get(pt->inode.i_links_count);
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
	struct snapinode pt = {
		.cno = fix->place.cno,
		.ino = named ? fix->got : fix->place.ino,
		.rule = named ? RULE_INODE_EMPTY : fix->rule,
		.got = fix->got,
	};
	enum rule rule = RULE_OK;
	char *block;
	int ret = find_block(s, cx, &pt, &block);

	if (ret > 0)
		ret = repair_in(s, cx, &pt, fix, block);
	if (ret <= 0 && !pt.changed)
		pastblocks_drop(s->p, pt.where.vblocknr);
	if (!ret && !named && !inode_is_empty(&pt.inode))
		ret = inoderepair_check(s->vol, cx, pt.ino, &pt.inode, &rule);
	if (!ret && rule != RULE_OK)
		fixers_note(s->p->job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": not repaired, no other checkpoint has it as it "
			    "was", pt.cno, pt.ino);
	return ret < 0 ? ret : 0;
}

static bool is_past(const struct inodefix *s, const struct fix *fix)
{
	return fix->place.kind == PLACE_INODE && fix->place.cno &&
	       fix->place.cno != s->vol->latest.cno &&
	       !inode_is_metadata(fix->place.ino) &&
	       fix->rule != RULE_INODE_RESERVED_FREE &&
	       fix->rule != RULE_INODE_ORPHAN &&
	       fix->rule != RULE_INODE_UNREACHABLE;
}

static bool is_lost(const struct inodefix *s, const struct fix *fix)
{
	return fix->rule == RULE_DIR_NO_INODE && fix->place.cno &&
	       fix->place.cno != s->vol->latest.cno;
}

static int repair_all(struct pastblocks *p, struct context *cx,
		      const struct fix *fixes, size_t n,
		      bool (*is_mine)(const struct inodefix *s,
				      const struct fix *fix))
{
	struct inodefix s = { .p = p, .vol = p->job->vol };
	bool any = false;
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		any |= is_mine(&s, &fixes[i]);
	if (any)
		err = damage_forgive(cx, cptable_list(s.vol, cx, false,
						      &s.cnos, &s.n));
	for (i = 0; i < n && !err; i++)
		if (is_mine(&s, &fixes[i]))
			err = repair_block(&s, cx, &fixes[i]);
	free(s.cnos);
	return err;
}

int pastinodes_repair(struct pastblocks *p, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	return repair_all(p, cx, fixes, n, is_past);
}

int pastinodes_find(struct pastblocks *p, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	return repair_all(p, cx, fixes, n, is_lost);
}
