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

/* The snapshots in block BLKOFF of a lost cpfile. */
static int compare_snapshots(struct tail *t, struct context *cx,
			     uint64_t blkoff, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &t->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff), end;
	struct loss loss = {.snapshot = true};
	const struct nilfs_checkpoint *cp;
	struct nilfs_checkpoint now;
	int err;

	if (!sides_read(t->s, cx, false, blocknr)) {
		t->are_marks_lost = true;
		return 0;
	}
	end = cno + checkpoint_count(g, blkoff);
	if (end > t->s->before->latest.cno + 1)
		end = t->s->before->latest.cno + 1;
	for (; cno < end; cno++) {
		cp = (const void *)(t->s->blocks[0] +
				    checkpoint_offset(g, cno));
		if (checkpoint_check(cp, cno) != RULE_OK) {
			t->are_marks_lost = true;
			continue;
		}
		if (checkpoint_is_invalid(cp) || !checkpoint_is_snapshot(cp))
			continue;
		err = cptable_read(t->s->after, cx, cno, &now);
		if (err && !damage_is(err))
			return err;
		fail_clear(cx);
		if (!err && checkpoint_is_snapshot(&now))
			continue;
		loss.kind = err ? LOSS_CHECKPOINT : LOSS_MARK;
		loss.cno = loss.last = cno;
		loss.time = le64_get(cp->cp_create);
		losslist_add(t->s->losses, cx, &loss, NULL, 0);
	}
	return 0;
}

/* Which checkpoints were made snapshots since. */
static int compare_marks(struct tail *t, struct context *cx)
{
	const struct versions *v = &t->all.versions;
	struct loss loss = {
		.kind = LOSS_MARKS,
		.cno = 1,
		.last = t->s->before->latest.cno,
	};
	uint64_t cno = loss.last;
	size_t i;
	int err = for_newest(t, cx, NILFS_CPFILE_INO, compare_snapshots);

	/* Each log of a checkpoint has blocks of the cpfile. */
	while (cno++ < t->last && !t->are_marks_lost) {
		i = versions_from(v, NILFS_CPFILE_INO, 0);
		while (i < v->n && v->items[i].ino == NILFS_CPFILE_INO &&
		       v->items[i].cno != cno)
			i++;
		t->are_marks_lost = i >= v->n ||
				    v->items[i].ino != NILFS_CPFILE_INO;
	}
	t->s->losses->incomplete |= t->are_marks_lost;
	if (!err && t->are_marks_lost)
		losslist_add(t->s->losses, cx, &loss, NULL, 0);
	return err;
}

static int compare_tail(struct tail *t, struct context *cx)
{
	const struct versions *v = &t->all.versions;
	uint64_t latest = t->s->before->latest.cno, ino, blkoff;
	struct loss loss = {.kind = LOSS_CHECKPOINT, .cno = latest + 1};
	size_t i;
	int err;

	t->all.versions.beyond = latest;
	err = versions_gather(&t->all.versions, cx);
	if (v->newest > t->last)
		t->last = v->newest;
	if (err || t->last <= latest)
		return err;
	t->inodes = malloc(t->s->before->geo.block_size);
	if (!t->inodes)
		return fail(cx, -ENOMEM, "block of inodes");
	loss.last = t->last;
	losslist_add(t->s->losses, cx, &loss, NULL, 0);
	err = root_open(&t->root, cx, t->s->after, 0);
	if (!err)
		err = compare_marks(t, cx);
	if (!err)
		err = for_newest(t, cx, NILFS_IFILE_INO, compare_inodes);
	/* Files with blocks in the logs whose inodes are not. */
	for (i = 0; i < v->n && !err; i++) {
		ino = v->items[i].ino;
		if (inode_is_private(ino) || (i && ino == v->items[i - 1].ino))
			continue;
		blkoff = palloc_entry_blkoff(&t->s->before->ifile_palloc, ino);
		if (!versions_at(v, versions_from(v, NILFS_IFILE_INO, blkoff),
				 NILFS_IFILE_INO, blkoff))
			err = compare_inode(t, cx, ino, NULL);
	}
	return damage_forgive(cx, err);
}

int newlogs_run(struct sides *s, struct context *cx, const struct bitmap *used,
		uint64_t newest, bool is_whole)
{
	struct tail t = {.s = s, .all = *s, .last = newest};
	int err = 0;

	versions_init(&t.all.versions, s->before, s->logs_before, used);
	if (!is_whole || newest > s->before->latest.cno)
		err = compare_tail(&t, cx);
	/* What was gathered in the meantime. */
	s->newer = t.all.newer;
	versions_fini(&t.all.versions);
	free(t.inodes);
	return err;
}
