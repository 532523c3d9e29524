// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A newer state that the repair could not start from.
 *
 * If the latest super root cannot be read, the repair starts from an older one,
 * and no map has the later blocks.  The summaries of the logs list them: blocks
 * listed by a log after that super root that the file does not have after the
 * repair are lost.  A file that was created and deleted since is named as well,
 * as the deletion is not known.
 */
#include "fsck/account/newlogs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/dirproof.h"
#include "vol/cptable.h"
#include "vol/root.h"

struct tail {
	struct sides *s;
	struct sides all; /* as S, with the versions of the tail */
	struct root root;
	uint64_t last;	     /* the newest checkpoint */
	char *inodes;	     /* a block of them */
	bool are_marks_lost; /* some block of the newest cpfile */
};

static void lose_checkpoints(struct tail *t, struct context *cx)
{
	const struct loss loss = {
		.kind = LOSS_CHECKPOINT,
		.cno = t->s->before->latest.cno + 1,
		.last = t->last,
	};

	losslist_add(t->s->losses, cx, &loss, NULL, 0);
}

/* Inode INO, which is BEFORE in the newest ifile, or NULL if missing. */
static int compare_inode(struct tail *t, struct context *cx, uint64_t ino,
			 const struct nilfs_inode *before)
{
	const struct sides_state state = {.cno = t->last, .latest = true};
	struct nilfs_inode inode;
	int err = root_inode(&t->root, cx, ino, &inode);

	if (err && !damage_is(err))
		return err;
	fail_clear(cx);
	return comparefile_run(&t->all, cx, &state, ino, before,
			       err ? NULL : &inode);
}

/* The inodes in block BLKOFF of the newest ifile. */
static int compare_inodes(struct tail *t, struct context *cx, uint64_t blkoff,
			  uint64_t blocknr)
{
	const struct nilfs_geometry *g = &t->s->before->geo;
	const struct nilfs_inode *inode;
	struct palloc_block b;
	bool any = false;
	uint64_t i;
	int err = 0;

	palloc_locate(&t->s->before->ifile_palloc, blkoff, &b);
	if (b.kind != PALLOC_ENTRIES || !sides_read(t->s, cx, false, blocknr))
		return 0;
	memcpy(t->inodes, t->s->blocks[0], g->block_size);
	for (i = 0; i < b.count && !err; i++) {
		inode = (const void *)(t->inodes + i * g->inode_size);
		any |= le16_get(inode->i_links_count) != 0;
		if (inode_is_private(b.first + i) ||
		    !le16_get(inode->i_links_count))
			continue;
		if (inode_check(g, inode, b.first + i) == RULE_OK)
			err = compare_inode(t, cx, b.first + i, inode);
		else
			t->s->losses->incomplete = true;
	}
	/* A block of the ifile is not written without inodes in it. */
	t->s->losses->incomplete |= !any;
	return err;
}

/* Calls EACH for the newest version of every block of metadata file INO. */
static int for_newest(struct tail *t, struct context *cx, uint64_t ino,
		      int (*each)(struct tail *t, struct context *cx,
				  uint64_t blkoff, uint64_t blocknr))
{
	const struct versions *v = &t->all.versions;
	size_t i = versions_from(v, ino, 0);
	uint64_t next = 0;
	int err = 0;

	for (; i < v->n && v->items[i].ino == ino && !err; i++) {
		if (v->items[i].blkoff < next)
			continue;
		next = v->items[i].blkoff + 1;
		err = each(t, cx, v->items[i].blkoff, v->items[i].blocknr);
	}
	return err;
}

/* Whether the block of inode INO in the ifile has a version of the tail. */
static bool has_inode(const struct tail *t, uint64_t ino)
{
	const struct versions *v = &t->all.versions;
	uint64_t blkoff = palloc_entry_blkoff(&t->s->before->ifile_palloc, ino);
	size_t i = versions_from(v, NILFS_IFILE_INO, blkoff);

	return i < v->n && v->items[i].ino == NILFS_IFILE_INO &&
	       v->items[i].blkoff == blkoff;
}

/* Files with blocks in the logs whose inodes are missing. */
static int compare_files(struct tail *t, struct context *cx)
{
	const struct versions *v = &t->all.versions;
	size_t i;
	int err = 0;

	for (i = 0; i < v->n && !err; i++)
		if (!inode_is_private(v->items[i].ino) &&
		    (!i || v->items[i].ino != v->items[i - 1].ino) &&
		    !has_inode(t, v->items[i].ino))
			err = compare_inode(t, cx, v->items[i].ino, NULL);
	return err;
}

/* Adds CP, of a lost cpfile, if it is a snapshot. */
static int compare_snapshot(struct tail *t, struct context *cx, uint64_t cno,
			    const struct nilfs_checkpoint *cp)
{
	struct loss loss = {.kind = LOSS_CHECKPOINT, .snapshot = true};
	struct nilfs_checkpoint now;
	int err = cptable_read(t->s->after, cx, cno, &now);

	if (err && !damage_is(err))
		return err;
	fail_clear(cx);
	if (!err && checkpoint_is_snapshot(&now))
		return 0;
	if (!err)
		loss.kind = LOSS_MARK;
	loss.cno = loss.last = cno;
	loss.time = le64_get(cp->cp_create);
	losslist_add(t->s->losses, cx, &loss, NULL, 0);
	return 0;
}

/* The snapshots in block BLKOFF of a lost cpfile. */
static int compare_snapshots(struct tail *t, struct context *cx,
			     uint64_t blkoff, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &t->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff);
	const struct nilfs_checkpoint *cp;
	uint32_t i;
	int err = 0;

	if (!sides_read(t->s, cx, false, blocknr)) {
		t->are_marks_lost = true;
		return 0;
	}
	for (i = 0; i < checkpoint_count(g, blkoff) && !err; i++, cno++) {
		cp = (const void *)(t->s->blocks[0] +
				    checkpoint_offset(g, cno));
		if (cno > t->s->before->latest.cno)
			break;
		if (checkpoint_check(cp, cno) != RULE_OK)
			t->are_marks_lost = true;
		else if (!checkpoint_is_invalid(cp) &&
			 checkpoint_is_snapshot(cp))
			err = compare_snapshot(t, cx, cno, cp);
	}
	return err;
}

/* Whether the log of checkpoint CNO exists: each has blocks of the cpfile. */
static bool has_log(const struct tail *t, uint64_t cno)
{
	const struct versions *v = &t->all.versions;
	size_t i = versions_from(v, NILFS_CPFILE_INO, 0);

	for (; i < v->n && v->items[i].ino == NILFS_CPFILE_INO; i++)
		if (v->items[i].cno == cno)
			return true;
	return false;
}

/* Which checkpoints were made snapshots since. */
static int compare_marks(struct tail *t, struct context *cx)
{
	struct loss loss = {.kind = LOSS_MARKS, .cno = 1};
	uint64_t cno = t->s->before->latest.cno;
	int err = for_newest(t, cx, NILFS_CPFILE_INO, compare_snapshots);

	loss.last = cno;
	while (cno < t->last && !t->are_marks_lost)
		t->are_marks_lost = !has_log(t, ++cno);
	t->s->losses->incomplete |= t->are_marks_lost;
	if (!err && t->are_marks_lost)
		losslist_add(t->s->losses, cx, &loss, NULL, 0);
	return err;
}

static int compare_tail(struct tail *t, struct context *cx)
{
	int err = root_open(&t->root, cx, t->s->after, 0);

	if (!err)
		err = compare_marks(t, cx);
	if (!err)
		err = for_newest(t, cx, NILFS_IFILE_INO, compare_inodes);
	if (!err)
		err = compare_files(t, cx);
	return damage_forgive(cx, err);
}

static int read_logs(struct tail *t, struct context *cx)
{
	uint64_t latest = t->s->before->latest.cno;
	int err;

	t->all.versions.beyond = latest;
	err = versions_gather(&t->all.versions, cx);
	if (t->all.versions.newest > t->last)
		t->last = t->all.versions.newest;
	if (err || t->last <= latest)
		return err;
	t->inodes = malloc(t->s->before->geo.block_size);
	if (!t->inodes)
		return fail(cx, -ENOMEM, "block of inodes");
	lose_checkpoints(t, cx);
	return compare_tail(t, cx);
}

int newlogs_run(struct sides *s, struct context *cx, const struct bitmap *used,
		uint64_t newest, bool is_whole)
{
	struct tail t = {.s = s, .all = *s, .last = newest};
	int err = 0;

	versions_init(&t.all.versions, s->before, s->logs_before, used);
	if (!is_whole || newest > s->before->latest.cno)
		err = read_logs(&t, cx);
	/* What was gathered in the meantime. */
	s->newer = t.all.newer;
	versions_fini(&t.all.versions);
	free(t.inodes);
	return err;
}

/* The inodes that the latest state has after the repair in block BLKOFF. */
static int suspect_inodes(struct sides *s, struct context *cx,
			  struct root *root, uint64_t blkoff)
{
	struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.latest = true,
		.cno = s->before->latest.cno,
	};
	struct nilfs_inode inode;
	struct palloc_block b;
	uint64_t ino;
	int err = 0;

	palloc_locate(&s->before->ifile_palloc, blkoff, &b);
	if (b.kind != PALLOC_ENTRIES)
		return 0;
	for (ino = b.first; ino < b.first + b.count && !err; ino++) {
		if (inode_is_private(ino))
			continue;
		err = root_inode(root, cx, ino, &inode);
		loss.ino = loss.last_ino = ino;
		if (!err)
			losslist_add(s->losses, cx, &loss, NULL, 0);
		err = damage_forgive(cx, err);
	}
	return err;
}

/* Version V of the latest state, where the file has it after the repair. */
static int suspect_root(struct sides *s, struct context *cx, struct root *root,
			const struct version *v)
{
	const struct loss loss = {
		.kind = LOSS_SUSPECT,
		.latest = true,
		.cno = s->before->latest.cno,
		.ino = v->ino,
		.offset = v->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	struct file file;
	uint64_t blocknr = 0;
	int ret = root_file(root, cx, v->ino, &file);

	if (!ret)
		ret = file_lookup(&file, cx, v->blkoff, &blocknr);
	if (ret > 0 && blocknr == v->blocknr)
		losslist_add(s->losses, cx, &loss, NULL, 0);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

/*
 * Whether version V of FILE, which has it at block NOW, is the only block of its
 * log that was wrong: it was replaced, or is wrong where nothing is stored.  The
 * log is in S->whole then.
 */
static void try_block(struct sides *s, struct context *cx, struct file *file,
		      const struct version *v, uint64_t now)
{
	uint64_t pseg;

	if ((now == v->blocknr && !S_ISDIR(le16_get(file->inode.i_mode))) ||
	    !sides_wrong_log(s, cx, v->blocknr, &pseg) ||
	    !sides_read(s, cx, true, now))
		return;
	if (now != v->blocknr ||
	    dirproof_clear_rest(s->blocks[1], s->before->geo.block_size))
		sides_was(s, cx, pseg, v->blocknr, s->blocks[1]);
}

/* Looks for what was wrong in the logs of V. */
static int find_whole(struct sides *s, struct context *cx, struct root *root,
		      const struct versions *v)
{
	struct file file = root->ifile;
	uint64_t now;
	size_t i;
	int ret = 0;

	for (i = 0; i < v->n && ret >= 0; i++) {
		const struct version *one = &v->items[i];

		if (!one->is_suspect || (one->ino != NILFS_IFILE_INO &&
					 inode_is_private(one->ino)))
			continue;
		ret = context_cancelled(cx);
		if (!ret && one->ino != file.ino)
			ret = one->ino == NILFS_IFILE_INO ?
				(file = root->ifile, 0) :
				root_file(root, cx, one->ino, &file);
		if (!ret)
			ret = file_lookup(&file, cx, one->blkoff, &now);
		if (ret > 0)
			try_block(s, cx, &file, one, now);
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return ret;
}

/* Whether all of the log that has V is what was written, but for a block that
   the account knows. */
static bool is_whole(struct sides *s, struct context *cx,
		     const struct version *v)
{
	uint64_t pseg;

	return sides_wrong_log(s, cx, v->blocknr, &pseg) &&
	       sparse_test(&s->whole, pseg);
}

int newlogs_suspect(struct sides *s, struct context *cx,
		    const struct bitmap *used, uint64_t mounted,
		    struct suspects *suspects)
{
	uint64_t asked = UINT64_MAX; /* block of the ifile */
	struct versions v;
	struct root root;
	size_t i;
	int err;

	/* The repair may have set a log right. */
	versions_init(&v, s->after, s->logs_after, used);
	v.beyond = mounted;
	err = versions_gather(&v, cx);
	if (!err)
		err = root_open(&root, cx, s->after, 0);
	if (!err)
		err = find_whole(s, cx, &root, &v);
	for (i = 0; i < v.n && !err; i++) {
		if (!v.items[i].is_suspect || is_whole(s, cx, &v.items[i]))
			continue;
		err = suspects_add(suspects, cx, s, v.items[i].blocknr);
		if (err)
			break;
		if (v.items[i].ino == NILFS_IFILE_INO) {
			if (v.items[i].blkoff != asked)
				err = suspect_inodes(s, cx, &root,
						     v.items[i].blkoff);
			asked = v.items[i].blkoff;
		} else if (!inode_is_private(v.items[i].ino))
			err = suspect_root(s, cx, &root, &v.items[i]);
	}
	versions_fini(&v);
	return damage_forgive(cx, err);
}
