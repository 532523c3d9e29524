// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ifile of a state, block by block, and the inodes in it.
 *
 * Checkpoints share most blocks of their ifiles.  One that was compared without
 * a difference is not compared again in the next checkpoint; and where the
 * repair moved nothing, a block in its place needs no comparison at all.
 *
 * An inode that is empty, or makes no sense, may be what damage has left of
 * one: where the bitmap of the ifile has it in use, the logs are asked.
 */
#include "fsck/account/comparetree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "fsck/account/attributes.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/expected.h"
#include "fsck/account/sides.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/root.h"

struct walk {
	struct comparetree *t;
	struct sides *s;
	const struct sides_state *state;
	struct expected e;
	struct file before; /* the ifile, unless e.inode is NULL */
	struct root after;
	char *inodes[2]; /* a block of each side */
	bool has[2];	 /* it could be read */
	bool has_inodes; /* the block before is one of inodes */
	bool is_proven;	 /* it is what was written, which was found */
	const struct attributes *block; /* what is compared of it */
	bool is_stale;	 /* it is, but of an older checkpoint */
	bool is_complete; /* as many inodes as its entry counted before */
};

static const struct nilfs_inode *inode_in(const struct walk *w, int side,
					  uint32_t i)
{
	return (const void *)(w->inodes[side] +
			      (size_t)i * w->s->before->geo.inode_size);
}

static bool exists(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count);
}

static bool is_inode(const struct walk *w, const struct nilfs_inode *inode,
		     uint64_t ino)
{
	return exists(inode) &&
	       inode_check(&w->s->before->geo, inode, ino) == RULE_OK;
}

static struct file *ifile_of(struct walk *w)
{
	return w->e.inode ? &w->before : NULL;
}

/* Whether the log of BLOCKNR is right, or was made right without a change of that
   block. */
static bool is_in_right_log(struct walk *w, struct context *cx, uint64_t blocknr)
{
	uint64_t pseg;

	return !sides_wrong_log(w->s, cx, blocknr, &pseg) ||
	       (!sparse_test(&w->s->written, blocknr) &&
		sides_is_proven(w->s, cx, blocknr));
}

/*
 * Whether the block of inodes before, and the bitmap of its group, are what was
 * written, as far as the checksums of their logs show.
 */
static bool is_written_so(struct walk *w, struct context *cx)
{
	uint64_t blkoff = palloc_bitmap_blkoff(&w->s->before->ifile_palloc,
					       w->block->what->group);
	uint64_t bitmap, before = w->block->before;
	int ret = ifile_of(w) ?
			  file_lookup(ifile_of(w), cx, blkoff, &bitmap) : 0;

	fail_clear(cx);
	return w->is_proven ||
	       (before && is_in_right_log(w, cx, before) &&
		(ret <= 0 || is_in_right_log(w, cx, bitmap)));
}

static int lose_perhaps(struct walk *w, struct context *cx, uint64_t first,
			uint64_t last)
{
	const struct loss loss = {
		.kind = LOSS_PERHAPS,
		.ino = first,
		.last_ino = last,
	};

	return sides_lose(w->s, cx, w->state, &loss, NULL, 0);
}

/*
 * An inode that could not be read before, or was missing: IS_EMPTY says that it
 * has no links.
 */
static int compare_unknown(struct walk *w, struct context *cx, uint64_t ino,
			   bool is_empty, const struct nilfs_inode *after)
{
	const struct loss removed = {.kind = LOSS_REMOVED, .ino = ino};
	int in_use = attributes_is_in_use(ifile_of(w), cx, ino), err;
	uint64_t n = losslist_count(w->s->losses), at = w->block->before;

	if ((!in_use && is_written_so(w, cx)) ||
	    (in_use < 0 && is_empty && w->has_inodes &&
	     (w->is_complete || is_written_so(w, cx))))
		return 0;
	if (in_use > 0 && !after && (!w->has_inodes || !is_empty))
		return sides_lose(w->s, cx, w->state, &removed, NULL, 0);
	if (!w->s->versions.gathered)
		return sides_doubt(w->s, cx, ino, ino + 1);
	err = comparefile_run(w->s, cx, w->state, ino, NULL, after);
	if (err || after || in_use > 0 || n != losslist_count(w->s->losses) ||
	    w->is_complete)
		return err;
	/* The bitmap says that there was none, or is not known: a log that cannot
	   be read may have had it. */
	if (!in_use && !sparse_count(w->s->unread))
		return 0;
	if (in_use && (w->is_proven ||
		       (at && !sparse_test(w->s->unread, at) &&
			is_written_so(w, cx))))
		return 0;
	return lose_perhaps(w, cx, ino, ino);
}

static int compare_inode(struct walk *w, struct context *cx, uint64_t ino,
			 uint32_t i)
{
	const struct nilfs_inode *before = NULL, *after = NULL;

	if (w->has[0] && !w->is_stale && is_inode(w, inode_in(w, 0, i), ino))
		before = inode_in(w, 0, i);
	if (w->has[1] && exists(inode_in(w, 1, i)))
		after = inode_in(w, 1, i);
	/* The bitmap denies that it was a file: the block is that of others. */
	if (before && !after && !attributes_is_in_use(ifile_of(w), cx, ino))
		before = NULL;
	if (!before)
		return compare_unknown(w, cx, ino,
				       w->has[0] && !exists(inode_in(w, 0, i)),
				       after);
	if (after && w->t->is_dat_same &&
	    !memcmp(before->i_bmap, after->i_bmap, sizeof(before->i_bmap)) &&
	    le64_get(before->i_size) == le64_get(after->i_size) &&
	    le16_get(before->i_mode) == le16_get(after->i_mode))
		return 0;
	return comparefile_run(w->s, cx, w->state, ino, before, after);
}

static int compare_inodes(struct walk *w, struct context *cx,
			  const struct palloc_block *b)
{
	bool are_known = w->has[0] && w->has[1] && !w->is_stale;
	uint32_t i;
	int err = 0;

	w->has_inodes = false;
	for (i = 0; w->has[0] && i < b->count; i++)
		w->has_inodes |= is_inode(w, inode_in(w, 0, i), b->first + i);
	for (i = 0; i < b->count && !err; i++) {
		if (inode_is_private(b->first + i))
			continue;
		/* As many names as before, none if it did not exist. */
		w->s->recounted |=
			!are_known ||
			le16_get(inode_in(w, 0, i)->i_links_count) !=
				le16_get(inode_in(w, 1, i)->i_links_count);
		err = compare_inode(w, cx, b->first + i, i);
	}
	return err ? err : context_cancelled(cx);
}

static void read_inodes(struct walk *w, struct context *cx, int side,
			uint64_t blocknr)
{
	w->has[side] = blocknr && sides_read(w->s, cx, side, blocknr);
	if (w->has[side])
		memcpy(w->inodes[side], w->s->blocks[side],
		       w->s->before->geo.block_size);
}

/*
 * Takes what block A was written as, where a checksum proves that: it was
 * corrected, in its place or elsewhere.
 */
static void take_proven(struct walk *w, struct context *cx,
			const struct attributes *a, uint64_t after)
{
	uint32_t size = w->s->before->geo.block_size;
	const char *proven = w->inodes[1];

	w->is_proven = false;
	if (!a->before || !w->has[1] ||
	    (w->has[0] && !memcmp(w->inodes[0], w->inodes[1], size)))
		return;
	if (a->before != after)
		proven = attributes_find(a, cx);
	else if (!sparse_test(&w->s->written, after) ||
		 !sides_is_proven(w->s, cx, after))
		proven = NULL;
	if (!proven)
		return;
	memcpy(w->inodes[0], proven, size);
	w->has[0] = w->is_proven = true;
}

/* Whether no inode is left in the block before, nor a bitmap to be believed. */
static bool is_all_lost(struct walk *w, struct context *cx,
			const struct palloc_block *what)
{
	const struct palloc *p = &w->s->before->ifile_palloc;
	bool lost = w->has[0] && ifile_of(w);
	uint32_t i;

	for (i = 0; lost && i < what->count; i++)
		lost = inode_is_private(what->first + i) ||
		       inode_is_empty(inode_in(w, 0, i));
	return lost && !file_is_counted(ifile_of(w), cx, p, what->group);
}

/* The inodes of block A on both sides. */
static int compare_block(struct walk *w, struct context *cx,
			 struct attributes *a)
{
	int ret;

	a->inodes[0] = w->has[0] ? w->inodes[0] : NULL;
	a->is_proven = w->is_proven;
	/* It looks like an older version, and is not what was written so. */
	w->is_stale = a->is_stale =
		!w->is_proven && attributes_is_stale(a, cx) &&
		(!w->has[1] || w->s->contradicted ||
		 memcmp(w->inodes[0], w->inodes[1],
			w->s->before->geo.block_size) ||
		 !sides_is_proven(w->s, cx, a->before));
	w->s->losses->incomplete |= is_all_lost(w, cx, a->what);
	w->block = a;
	w->s->foreign = 0;
	ret = compare_inodes(w, cx, a->what);
	if (!ret && a->before && !w->has_inodes && !w->is_proven)
		ret = sides_note_wrong(w->s, cx, a->before, 0);
	if (!ret)
		ret = attributes_compare(a, cx);
	if (ret > 0 || (!ret && w->s->contradicted))
		ret = sides_doubt(w->s, cx, NILFS_IFILE_INO,
				  NILFS_IFILE_INO + 1);
	return ret;
}

static int visit_block(void *arg, struct context *cx,
		       const struct expected_block *b)
{
	struct walk *w = arg;
	struct attributes a = {
		.s = w->s,
		.state = w->state,
		.e = &w->e,
		.blkoff = b->blkoff,
		.vblocknr = b->vblocknr,
		.ifile = ifile_of(w),
	};
	uint64_t n = losslist_count(w->s->losses), after;
	bool doubts = w->s->doubts, is_shared;
	struct palloc_block inodes;
	int ret;

	palloc_locate(&w->s->before->ifile_palloc, b->blkoff, &inodes);
	if (inodes.kind != PALLOC_ENTRIES)
		return 0;
	ret = comparefile_after(cx, &w->after.ifile, b->blkoff, &after);
	if (ret < 0) {
		w->s->recounted = true;
		return damage_is(ret) ? 0 : ret;
	}
	a.what = &inodes;
	a.before = comparefile_settle(w->s, cx, &w->e, b, after);
	/* The same block on both sides, and not written. */
	is_shared = a.before && a.before == after &&
		    !sparse_test(&w->s->written, after);
	if (is_shared &&
	    (w->t->is_dat_same || sparse_test(&w->t->clean, after)))
		return 0;
	read_inodes(w, cx, 0, a.before);
	read_inodes(w, cx, 1, after);
	a.inodes[1] = w->has[1] ? w->inodes[1] : NULL;
	take_proven(w, cx, &a, after);
	w->s->doubts = false;
	if (!w->has[0] || (a.before != after && !w->t->is_dat_same))
		ret = sides_doubt(w->s, cx, NILFS_IFILE_INO,
				  NILFS_IFILE_INO + 1);
	if (ret >= 0)
		ret = compare_block(w, cx, &a);
	if (!ret && !w->s->doubts && is_shared &&
	    n == losslist_count(w->s->losses) &&
	    sparse_add(&w->t->clean, cx, after) < 0)
		fail_clear(cx);
	w->s->doubts |= doubts;
	return ret;
}

/* The first inode in block BLKOFF of the ifile or after it; past the last one:
   UINT64_MAX. */
static uint64_t first_inode(const struct walk *w, uint64_t blkoff)
{
	const struct palloc *p = &w->s->before->ifile_palloc;
	struct palloc_block b;

	for (; palloc_has_block(p, blkoff); blkoff++) {
		palloc_locate(p, blkoff, &b);
		if (b.kind == PALLOC_ENTRIES)
			return b.first;
	}
	return UINT64_MAX;
}

/*
 * Blocks [BLKOFF, END) of the ifile, which neither its map nor a log has.  Had
 * all logs been read there were none.
 */
static int visit_unknown(void *arg, struct context *cx, uint64_t blkoff,
			 uint64_t end)
{
	struct walk *w = arg;
	uint64_t first = first_inode(w, blkoff), last = first_inode(w, end);

	if (first < NILFS_USER_INO)
		first = NILFS_USER_INO;
	if (first >= last || w->is_complete || !sparse_count(w->s->unread))
		return 0;
	return lose_perhaps(w, cx, first,
			    last == UINT64_MAX ? last : last - 1);
}

/*
 * Whether the state has as many inodes after the repair as its entry counted
 * before: then there were no others.  A directory that the repair made for what
 * has lost its name does not count.
 */
static bool is_complete(struct walk *w, struct context *cx)
{
	static const char name[] = "lost+found";
	uint64_t cno = w->state->latest ? w->s->after->latest.cno :
					  w->state->cno;
	struct nilfs_checkpoint now;
	struct nilfs_inode inode;
	struct root before;
	struct file top;
	uint64_t ino;
	bool is_new = false, is_known = w->state->inodes &&
					!cptable_read(w->s->after, cx, cno,
						      &now);

	if (is_known && w->state->latest)
		is_new = !root_file(&w->after, cx, NILFS_ROOT_INO, &top) &&
			 !dir_lookup(&top, cx, name, sizeof(name) - 1, &ino) &&
			 (root_open(&before, cx, w->s->before, w->state->cno) ||
			  root_inode(&before, cx, ino, &inode));
	fail_clear(cx);
	return is_known &&
	       le64_get(now.cp_inodes_count) == w->state->inodes + is_new;
}

static int compare_ifiles(struct walk *w, struct context *cx, uint64_t after)
{
	const struct palloc *p = &w->s->before->ifile_palloc;
	struct palloc_block first, last = {.first = UINT64_MAX};
	uint32_t size = w->s->before->geo.block_size;
	int err = root_open(&w->after, cx, w->s->after, after);

	w->s->losses->incomplete |= err != 0;
	w->inodes[0] = malloc(size);
	w->inodes[1] = malloc(size);
	if (!err && (!w->inodes[0] || !w->inodes[1]))
		err = fail(cx, -ENOMEM, "block of inodes");
	if (!err)
		w->is_complete = is_complete(w, cx);
	if (!err)
		err = expected_run(&w->e, cx);
	if (err || !w->e.doubt)
		goto out;
	/* The inodes where the ifile could not be read. */
	err = sides_doubt(w->s, cx, NILFS_IFILE_INO, NILFS_IFILE_INO + 1);
	palloc_locate(p, w->e.doubt_first, &first);
	if (palloc_has_block(p, w->e.doubt_end))
		palloc_locate(p, w->e.doubt_end, &last);
	if (first.kind != PALLOC_ENTRIES)
		first.first = 0;
	if (!err)
		err = sides_doubt(w->s, cx, first.first, last.first);
out:
	free(w->inodes[0]);
	free(w->inodes[1]);
	return damage_forgive(cx, err);
}

/*
 * Whether directories have all their names, although blocks of them could not be
 * read.  Each inode has as many names as it had, and each of them is one that it
 * had: then no name is missing.
 */
static bool are_names_complete(const struct walk *w)
{
	return w->s->is_sound && w->s->versions.gathered && !w->e.doubt &&
	       !w->s->recounted && !w->s->unconfirmed;
}

int comparetree_run(struct comparetree *t, struct context *cx,
		    const struct sides_state *state,
		    const struct nilfs_inode *ifile, uint64_t after)
{
	struct walk w = {.t = t, .s = t->s, .state = state};
	size_t n = t->s->losses->n;
	int err;

	if (ifile &&
	    file_init(&w.before, cx, t->s->before, NILFS_IFILE_INO, ifile)) {
		fail_clear(cx);
		ifile = NULL;
	}
	w.e = comparefile_walk(t->s, state, NILFS_IFILE_INO, ifile);
	w.e.visit = visit_block;
	w.e.nodes = t->s;
	w.e.unknown = visit_unknown;
	w.e.arg = &w;
	t->s->unconfirmed = t->s->recounted = false;
	err = compare_ifiles(&w, cx, after);
	if (!err && are_names_complete(&w))
		losslist_drop(t->s->losses, n);
	return err;
}
