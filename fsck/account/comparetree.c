// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing the ifile of a state, block by block, and its inodes.
 *
 * Checkpoints share most blocks of their ifiles. A block that was compared
 * without a difference is skipped in the next checkpoint. If the repair moved
 * nothing, a block in its place needs no comparison.
 *
 * An inode that is empty or invalid may be the remains of a damaged inode. If
 * the bitmap of the ifile has it in use, the logs are searched.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"
#include "vol/cptable.h"
#include "vol/dir.h"

/* Whether inode I of the block before is valid. */
static bool is_inode(const struct ifilewalk *w, uint64_t i)
{
	const struct nilfs_inode *inode = ifilewalk_inode(w, 0, i);

	return sides_links(inode) &&
	       inode_check(&w->s->before->geo, inode, w->what.first + i) ==
		       RULE_OK;
}

/* Whether the log of BLOCKNR, which lists it for the ifile, is valid, or was
   repaired without a change of that block. */
static bool is_in_right_log(struct ifilewalk *w, struct context *cx,
			    uint64_t blocknr)
{
	struct segsum_block b = {.ino = NILFS_IFILE_INO};
	uint64_t pseg;

	if (sides_find_listing(w->s, cx, blocknr, &b) &&
	    b.ino != NILFS_IFILE_INO)
		return false;
	return sides_is_right(w->s, cx, false, blocknr, &pseg) ||
	       (!sparse_test(&w->s->written, blocknr) &&
		sides_is_right(w->s, cx, true, blocknr, NULL) > 0);
}

/* Whether the block of inodes before the repair, and the bitmap of its group,
   have their written content, as far as the checksums of their logs show. */
static bool is_written_content(struct ifilewalk *w, struct context *cx)
{
	uint64_t blkoff = palloc_bitmap_blkoff(&w->s->before->ifile_palloc,
					       w->what.group);
	uint64_t bitmap;
	int ret = w->ifile ? file_lookup(w->ifile, cx, blkoff, &bitmap) : 0;

	fail_clear(cx);
	return w->is_proven ||
	       (w->blocknr && is_in_right_log(w, cx, w->blocknr) &&
		(ret <= 0 || is_in_right_log(w, cx, bitmap)));
}

static int lose_perhaps(struct ifilewalk *w, struct context *cx, uint64_t first,
			uint64_t last)
{
	const struct loss loss = {
		.kind = LOSS_PERHAPS,
		.ino = first,
		.last_ino = last,
	};

	return sides_add_loss(w->s, cx, w->state, &loss, NULL, 0);
}

/* Compares an inode that could not be read before the repair or was missing. WAS is
   what the block has there, or NULL. */
static int compare_unknown(struct ifilewalk *w, struct context *cx,
			   uint64_t ino, const struct nilfs_inode *was,
			   const struct nilfs_inode *after)
{
	const struct loss removed = {.kind = LOSS_REMOVED, .ino = ino};
	struct sides *s = w->s;
	int in_use = attributes_is_in_use(w->ifile, cx, ino), err;
	uint64_t n = losslist_count(s->losses);
	bool is_unlinked = was && !sides_links(was);

	if (!after && attributes_is_missing(w->s, cx, ino))
		return 0;
	if ((!in_use && is_written_content(w, cx)) ||
	    (in_use < 0 && is_unlinked && w->has_inodes &&
	     (w->s->is_complete || is_written_content(w, cx))))
		return 0;
	/* A deleted file that was open keeps the rest of its inode. */
	if (in_use > 0 && !after &&
	    (!w->has_inodes || !is_unlinked || inode_is_empty(was)))
		return sides_add_loss(s, cx, w->state, &removed, NULL, 0);
	if (s->is_first)
		return sides_doubt(s, cx, ino);
	err = comparefile_run(s, cx, w->state, ino, NULL, after);
	if (err || after || in_use > 0 || n != losslist_count(s->losses) ||
	    w->s->is_complete)
		return err;
	/* The inode is free in the bitmap, or the bitmap is not known. An
	   unreadable log may have had the inode. */
	if (!in_use && !sparse_count(s->in->unread))
		return 0;
	if (in_use && (w->is_proven ||
		       (w->blocknr &&
			!sparse_test(s->in->unread, w->blocknr) &&
			is_written_content(w, cx))))
		return 0;
	return lose_perhaps(w, cx, ino, ino);
}

/* Compares the inodes of a block of both sides. */
static int compare_inode_block(struct ifilewalk *w, struct context *cx)
{
	uint32_t size = w->s->before->geo.block_size;
	const struct nilfs_inode *before, *after, *was;
	struct sides *s = w->s;
	bool is_lost = w->has[0] && w->ifile;
	uint64_t i, ino;
	int ret = 0;

	/* The block equals an older version and is not proven. */
	w->is_stale = !w->is_proven && attributes_is_stale(w, cx) &&
		      (!w->has[1] || s->contradicted ||
		       memcmp(w->inodes[0], w->inodes[1], size) ||
		       sides_is_right(s, cx, true, w->blocknr, NULL) <= 0);
	/* The block before has no inode left, and the bitmap is not trusted. */
	w->has_inodes = false;
	for (i = 0; w->has[0] && i < w->what.count; i++) {
		is_lost &= inode_is_private(w->what.first + i) ||
			   inode_is_empty(ifilewalk_inode(w, 0, i));
		w->has_inodes |= is_inode(w, i);
	}
	s->losses->incomplete |=
		is_lost && !file_is_counted(w->ifile, cx,
					    &s->before->ifile_palloc,
					    w->what.group);
	s->foreign = 0;
	for (i = 0; i < w->what.count && !ret; i++) {
		ino = w->what.first + i;
		/* The sketch file has no name, and the
		   driver does not use it. */
		if (inode_is_private(ino) || ino == NILFS_SKETCH_INO)
			continue;
		before = was = w->has[0] ? ifilewalk_inode(w, 0, i) : NULL;
		after = w->has[1] ? ifilewalk_inode(w, 1, i) : NULL;
		/* The link count is compared; it was 0 if the inode did not
		   exist. */
		s->recounted |= !before || !after || w->is_stale ||
				sides_links(before) != sides_links(after);
		if (after && !sides_links(after))
			after = NULL;
		/* If the inode is free in the bitmap, the block is that of
		   other inodes. */
		if (before &&
		    (w->is_stale || !is_inode(w, i) ||
		     (after ? w->s->is_complete &&
				      !inode_is_same_file(before, after) :
			      attributes_is_missing(w->s, cx, ino) ||
				      !attributes_is_in_use(w->ifile, cx, ino))))
			before = NULL;
		if (!before)
			ret = compare_unknown(w, cx, ino, was, after);
		else if (!after || !s->is_dat_same ||
			 memcmp(before->i_bmap, after->i_bmap,
				sizeof(before->i_bmap)) ||
			 le64_get(before->i_size) != le64_get(after->i_size) ||
			 le16_get(before->i_mode) != le16_get(after->i_mode))
			ret = comparefile_run(s, cx, w->state, ino, before,
					      after);
	}
	ret = ret ?: context_cancelled(cx);
	if (!ret && w->blocknr && !w->has_inodes && !w->is_proven)
		ret = sides_note_wrong(s, cx, w->blocknr, 0);
	ret = ret ?: attributes_compare(w, cx);
	if (ret > 0 || (!ret && s->contradicted))
		ret = sides_doubt(s, cx, NILFS_IFILE_INO);
	return ret;
}

static int comparetree_visit_block(void *arg, struct context *cx,
				   const struct filewalk_block *b)
{
	struct ifilewalk *w = arg;
	struct sides *s = w->s;
	uint32_t size = s->before->geo.block_size;
	uint64_t n = losslist_count(s->losses), at[2];
	bool doubts = s->doubts, is_shared, is_corrected;
	const char *proven = NULL;
	int ret, i;

	palloc_locate(&s->before->ifile_palloc, b->blkoff, &w->what);
	if (w->what.kind != PALLOC_ENTRIES)
		return 0;
	ret = file_lookup(&s->roots[1].ifile, cx, b->blkoff, &at[1]);
	s->recounted |= ret < 0;
	if (ret < 0)
		return damage_forgive(cx, ret);
	w->at = b;
	w->blocknr = at[0] = comparefile_settle(&w->w, cx, b, at[1]);
	/* The same block on both sides, which the repair did not write. */
	is_shared = at[0] && at[0] == at[1] && !sparse_test(&s->written, at[1]);
	if (is_shared && (s->is_dat_same || sparse_test(&s->clean, at[1])))
		return 0;
	for (i = 0; i < 2; i++) {
		w->has[i] = at[i] && sides_read(s, cx, i, at[i]);
		if (w->has[i])
			memcpy(w->inodes[i], s->blocks[i], size);
	}
	/* The block before is correct if a checksum proves it: it was corrected
	   in place or elsewhere. */
	is_corrected = at[0] && w->has[1] &&
		       (!w->has[0] ||
			memcmp(w->inodes[0], w->inodes[1], size));
	if (is_corrected && at[0] != at[1])
		proven = attributes_find(w, cx);
	else if (is_corrected && sparse_test(&s->written, at[1]) &&
		 sides_is_right(s, cx, true, at[1], NULL) > 0)
		proven = w->inodes[1];
	if (proven)
		memcpy(w->inodes[0], proven, size);
	w->is_proven = proven;
	w->has[0] |= w->is_proven;
	s->doubts = false;
	ret = 0;
	if (!w->has[0] || (at[0] != at[1] && !s->is_dat_same))
		ret = sides_doubt(s, cx, NILFS_IFILE_INO);
	if (!ret)
		ret = compare_inode_block(w, cx);
	if (!ret && !s->doubts && is_shared && n == losslist_count(s->losses)) {
		sparse_add(&s->clean, cx, at[1]);
		fail_clear(cx);
	}
	s->doubts |= doubts;
	return ret;
}

/* The first inode in block BLKOFF of the ifile or after it; UINT64_MAX after
   the last one. */
static uint64_t first_inode(const struct ifilewalk *w, uint64_t blkoff)
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

/* Blocks [BLKOFF, END) of the ifile, which neither its map nor a log has. If
   all logs were read, these blocks did not exist. */
static int comparetree_visit_unknown(void *arg, struct context *cx, uint64_t blkoff,
				     uint64_t end)
{
	struct ifilewalk *w = arg;
	uint64_t first = first_inode(w, blkoff), last = first_inode(w, end);

	if (first < NILFS_USER_INO)
		first = NILFS_USER_INO;
	if (first >= last || w->s->is_complete || !sparse_count(w->s->in->unread))
		return 0;
	return lose_perhaps(w, cx, first,
			    last == UINT64_MAX ? last : last - 1);
}

/*
 * Sets *NOW to the number of inodes of the state after the repair, and *WERE to
 * the number that its entry counted before. A directory that the repair made
 * for inodes without a name is excluded. False if either number is not known.
 */
static bool read_inode_counts(struct ifilewalk *w, struct context *cx, uint64_t *were,
			      uint64_t *now)
{
	static const char name[] = "lost+found";
	const struct sides_state *state = w->state;
	struct sides *s = w->s;
	uint64_t cno = state->latest ? s->after->latest.cno : state->cno, ino;
	struct nilfs_checkpoint cp;
	struct nilfs_inode inode;
	struct file top;
	bool is_new = false, is_known = state->inodes &&
					!cptable_read(s->after, cx, cno, &cp);

	if (is_known && state->latest)
		is_new = !root_file(&s->roots[1], cx, NILFS_ROOT_INO, &top) &&
			 !dir_lookup(&top, cx, name, sizeof(name) - 1, &ino) &&
			 (!s->has_before ||
			  root_inode(&s->roots[0], cx, ino, &inode));
	fail_clear(cx);
	*were = state->inodes + is_new;
	/* The entry may count one inode too many. */
	*now = state->latest ? s->in->files : le64_get(cp.cp_inodes_count);
	return is_known;
}

/* Whether each block of the ifile before is in a valid log, which lists it. */
static bool is_ifile_right(struct ifilewalk *w, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct segsum_block b;
	uint64_t blocknr;
	int ret = w->ifile ? blockmap_cursor_open(&cur, cx, &w->ifile->map, 0,
						  false) : -ENOENT;

	if (ret)
		return false;
	while ((ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		if (blockmap_resolve(&w->ifile->map, cx, item.ptr, &blocknr) ||
		    sides_is_right(w->s, cx, false, blocknr, NULL) <= 0 ||
		    !sides_find_listing(w->s, cx, blocknr, &b) ||
		    b.vblocknr != item.ptr)
			break;
	blockmap_cursor_close(&cur);
	fail_clear(cx);
	return !ret;
}

/*
 * The entry counted more inodes than exist after the repair and than are listed
 * as lost from loss number N on: other blocks may have been written over the
 * ifile.
 */
static int compare_count(struct ifilewalk *w, struct context *cx, size_t n)
{
	const struct losslist *l = w->s->losses;
	uint64_t were, now;

	if (!read_inode_counts(w, cx, &were, &now) || now >= were)
		return 0;
	for (; n < l->n && now < were; n++)
		if (l->items[n].kind == LOSS_REMOVED)
			now++;
		else if (l->items[n].kind == LOSS_PERHAPS)
			now = were;
	return now == were || is_ifile_right(w, cx) ? 0 :
	       lose_perhaps(w, cx, NILFS_USER_INO, UINT64_MAX);
}

int comparetree_run(struct sides *s, struct context *cx,
		    const struct sides_state *state)
{
	const struct palloc *p = &s->before->ifile_palloc;
	struct palloc_block first, last = {.first = UINT64_MAX};
	struct ifilewalk w = {
		.s = s,
		.state = state,
		.w = {.s = s,
		      .cno = state->cno,
		      .ino = NILFS_IFILE_INO,
		      .visit = comparetree_visit_block,
		      .unknown = comparetree_visit_unknown,
		      .arg = &w},
		.inodes = {malloc(p->block_size), malloc(p->block_size)},
	};
	struct versions *v = &s->versions;
	size_t n = s->losses->n;
	uint64_t were, now;
	int err = root_open(&s->roots[1], cx, s->after,
			    state->latest ? 0 : state->cno);

	s->unconfirmed = s->recounted = false;
	s->losses->incomplete |= err != 0;
	if (!err && (!w.inodes[0] || !w.inodes[1]))
		err = fail(cx, -ENOMEM, "block of inodes");
	if (err)
		goto out;
	s->has_before = !root_open(&s->roots[0], cx, s->before, state->cno);
	if (state->is_known && !file_init(&w.before, cx, s->before,
					  NILFS_IFILE_INO, &state->ifile)) {
		w.ifile = &w.before;
		w.w.inode = &state->ifile;
	}
	fail_clear(cx);
	s->is_complete = read_inode_counts(&w, cx, &were, &now) && were == now;
	err = versions_walk(&w.w, cx);
	if (!err && w.w.doubt) {
		/* The inodes in the unreadable part of the ifile. */
		err = sides_doubt(s, cx, NILFS_IFILE_INO);
		palloc_locate(p, w.w.doubt_first, &first);
		if (palloc_has_block(p, w.w.doubt_end))
			palloc_locate(p, w.w.doubt_end, &last);
		if (first.kind != PALLOC_ENTRIES)
			first.first = 0;
		if (!v->end || first.first < v->first)
			v->first = first.first;
		if (last.first > v->end)
			v->end = last.first;
	}
	err = err ?: compare_count(&w, cx, n);
	/*
	 * Directories have all their names, although some of their blocks could
	 * not be read, if each inode has its former number of names and each of
	 * these names existed before.
	 */
	if (!damage_forgive(cx, err) && s->in->is_sound && !s->is_first &&
	    !w.w.doubt && !s->recounted && !s->unconfirmed)
		losslist_drop(s->losses, n);
out:
	free(w.inodes[0]);
	free(w.inodes[1]);
	return damage_forgive(cx, err);
}
