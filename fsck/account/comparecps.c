// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing the checkpoints of both sides, and a newer state that the repair
 * could not start from.
 *
 * Blocks of the cpfile that the map or the DAT before the repair do not lead to
 * are searched in the logs. The content of an invalid block is not known. Its
 * checkpoints that are missing after the repair may have been deleted long
 * before; the same holds for those of an older version.
 *
 * If the latest super root cannot be read, the repair starts from an older one,
 * and no map has the later blocks. The summaries of the logs list them. A block
 * listed by a log after that super root is lost if the file does not have it
 * after the repair. A file that was created and deleted since then is named
 * too, because the deletion is not known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"
#include "vol/cptable.h"

/* Sets the fields that follow from CP, the entry of a checkpoint, or NULL. */
static void set_compared_state(struct sides_state *state,
			       const struct nilfs_checkpoint *cp)
{
	if (!cp || state->is_known)
		return;
	state->is_known = true;
	state->ifile = cp->cp_ifile_inode;
	state->inodes = le64_get(cp->cp_inodes_count);
}

static int add_state(struct sides *s, struct context *cx, uint64_t cno,
		     const struct nilfs_checkpoint *cp)
{
	if (array_reserve(cx, &s->states, &s->states_room, s->nstates + 1))
		return -ENOMEM;
	s->states[s->nstates] =
		(struct sides_state){.cno = cno, .latest = !s->nstates};
	set_compared_state(&s->states[s->nstates++], cp);
	return 0;
}

/*
 * Looks for checkpoint CNO after the repair. 1 and its entry in *NOW, or 0 if
 * the checkpoint is lost. CP is the entry before, or NULL if not known. UNSURE
 * is set if the checkpoint may have been deleted before the repair. Checkpoints after
 * an older state that the repair began with are those of its own logs.
 */
static int find_compared_checkpoint(struct sides *s, struct context *cx, uint64_t cno,
				    const struct nilfs_checkpoint *cp, bool unsure,
				    struct nilfs_checkpoint *now)
{
	struct loss loss = {
		.kind = LOSS_MARK,
		.cno = cno,
		.last = cno,
		.snapshot = cp && checkpoint_is_snapshot(cp),
		.is_unsure = unsure,
		.time = cp ? le64_get(cp->cp_create) : 0,
	};
	int err;

	*now = (struct nilfs_checkpoint){.cp_cno = le64_make(0)};
	err = s->in->base && cno > s->in->base->cno ?
		      -ENOENT : cptable_read(s->after, cx, cno, now);
	if (err && !damage_is(err))
		return err;
	fail_clear(cx);
	/* Another version of the block shows that it was deleted. */
	if (err && !cp && checkpoint_was_made(now, cno) &&
	    le64_get(now->cp_create) != CHECKPOINT_LOST)
		return 0;
	if (err)
		loss.kind = LOSS_CHECKPOINT;
	if (err || (loss.snapshot && !checkpoint_is_snapshot(now)))
		losslist_add(s->losses, cx, &loss, NULL, 0);
	return !err;
}

/* Reads block BLKOFF of the cpfile at BLOCKNR; false
   if it is not such a block. */
static bool read_cpfile_block(struct sides *s, struct context *cx, uint64_t blkoff,
			      uint64_t blocknr)
{
	const struct nilfs_geometry *g = &s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff);
	uint64_t end = cno + checkpoint_count(g, blkoff);
	bool is = blocknr && sides_read(s, cx, false, blocknr);

	for (; is && cno < end && cno <= s->before->latest.cno; cno++)
		is = checkpoint_check(checkpoint_at(g, s->blocks[0], cno), cno) ==
		     RULE_OK;
	return is;
}

/*
 * Adds the time of checkpoint CNO, unless a log proves it or it is as in CP, the
 * entry before, or NULL. Only an entry that was rebuilt from logs (NOW) has no
 * count of its blocks.
 */
static void compare_time(struct sides *s, struct context *cx, uint64_t cno,
			 const struct nilfs_checkpoint *cp,
			 const struct nilfs_checkpoint *now)
{
	const struct loss loss = {
		.kind = LOSS_TIME,
		.cno = cno,
		.last = cno,
		.time = le64_get(now->cp_create),
	};

	if (!le64_get(now->cp_nblk_inc) &&
	    (!cp || le64_get(cp->cp_create) != loss.time) &&
	    !versions_prove_time(&s->versions, cno, loss.time))
		losslist_add(s->losses, cx, &loss, NULL, 0);
}

/* Whether the header before the repair shows as many snapshots as there are now, from
   the same first one to the same last one. */
static bool has_same_snapshots(struct sides *s, struct context *cx)
{
	const struct nilfs_cpfile_header *then = (const void *)s->blocks[0];
	struct nilfs_cpfile_header now;
	uint64_t at;
	bool has = file_lookup(&s->before->cpfile, cx, 0, &at) > 0 &&
		   read_cpfile_block(s, cx, 0, at) &&
		   !cptable_header(s->after, cx, &now) &&
		   le64_get(then->ch_nsnapshots) == le64_get(now.ch_nsnapshots) &&
		   !memcmp(&then->ch_snapshot_list, &now.ch_snapshot_list,
			   sizeof(now.ch_snapshot_list));

	fail_clear(cx);
	return has;
}

static int comparecps_visit_block(void *arg, struct context *cx,
				  const struct filewalk_block *b)
{
	struct filewalk *w = arg;
	struct sides *s = w->s;
	const struct nilfs_geometry *g = &s->before->geo;
	uint64_t latest = s->before->latest.cno, end;
	uint64_t cno = checkpoint_first(g, b->blkoff);
	bool is_good = read_cpfile_block(s, cx, b->blkoff, b->blocknr);
	bool is_older, is_unmade, is_unmarked;
	const struct nilfs_checkpoint *cp;
	const struct version *had;
	struct nilfs_checkpoint now;
	int ret = 0;

	w->doubt |= !is_good;
	if (s->is_first)
		return 0;
	had = is_good ? NULL : versions_choose(w, cx, b->blkoff, b->vblocknr);
	is_good |= had && read_cpfile_block(s, cx, b->blkoff, had->blocknr);
	/* The block has another virtual number, or no
	   map has a number for it. */
	is_older = !b->vblocknr || (had && had->vblocknr != b->vblocknr);
	end = cno + checkpoint_count(g, b->blkoff);
	is_unmarked = !is_good || (is_older && sparse_count(s->in->unread));
	if (is_good)
		cno = checkpoint_first_made(g, b->blkoff, s->blocks[0]);
	/*
	 * An entry may not exist yet in an older version of the block. Then the
	 * entry that the repair found in another version is the original one,
	 * because an entry never changes.
	 */
	for (; cno < end && cno <= latest && ret >= 0; cno++) {
		/* NULL: the former entry is not known */
		cp = is_good ? checkpoint_at(g, s->blocks[0], cno) : NULL;
		is_unmade = cp && !checkpoint_was_made(cp, cno);
		if (is_unmade)
			cp = NULL;
		if (cp && checkpoint_is_invalid(cp))
			continue;
		ret = find_compared_checkpoint(s, cx, cno, cp,
					       cno != latest && (!cp || is_older), &now);
		/* The latest checkpoint may be a snapshot as well. */
		if (ret > 0 && cno == latest)
			set_compared_state(&s->states[0], cp);
		else if (ret > 0)
			compare_time(s, cx, cno, cp, &now);
		if (ret > 0 && is_unmade && le64_get(now.cp_nblk_inc))
			cp = &now;
		if (ret > 0 && checkpoint_is_snapshot(cp ? cp : &now))
			ret = add_state(s, cx, cno, cp);
	}
	/* Flags may have been set after the version that is known. */
	if (is_unmarked && !has_same_snapshots(s, cx))
		s->unmarked = end <= latest ? end - 1 : latest;
	return ret < 0 ? ret : context_cancelled(cx);
}

int comparecps_run(struct sides *s, struct context *cx)
{
	struct filewalk w = {
		.s = s,
		.cno = s->before->latest.cno,
		.ino = NILFS_CPFILE_INO,
		.inode = &s->before->cpfile.inode,
		.visit = comparecps_visit_block,
		.arg = &w,
	};
	struct loss marks = {.kind = LOSS_MARKS, .cno = 1};
	struct nilfs_checkpoint cp;
	bool is_read = !cptable_read(s->before, cx, w.cno, &cp) &&
		       checkpoint_check(&cp, w.cno) == RULE_OK;
	int err;

	fail_clear(cx);
	s->is_first = true;
	err = add_state(s, cx, w.cno, is_read ? &cp : NULL);
	if (!err)
		err = damage_forgive(cx, versions_walk(&w, cx));
	if (!err && w.doubt) {
		err = sides_doubt(s, cx, NILFS_CPFILE_INO) ?:
		      versions_gather(&s->versions, cx, s, false,
				      UINT64_MAX);
		s->doubts = false;
	}
	s->is_first = false;
	err = err ?: damage_forgive(cx, versions_walk(&w, cx));
	marks.last = s->unmarked;
	if (marks.last)
		losslist_add(s->losses, cx, &marks, NULL, 0);
	return err;
}

/* The state that is newer than the side before, from its logs. */
struct tail {
	struct sides *s;
	struct sides_state state;
	char *inodes;	     /* a block of them */
	bool are_marks_lost; /* a block of the newest cpfile is lost */
};

/* Compares the snapshots in block V of a lost cpfile. */
static int compare_snapshots(struct tail *t, struct context *cx,
			     const struct version *v)
{
	struct sides *s = t->s;
	const struct nilfs_geometry *g = &s->before->geo;
	uint64_t cno = checkpoint_first(g, v->blkoff);
	uint64_t end = cno + checkpoint_count(g, v->blkoff);
	const struct nilfs_checkpoint *cp;
	struct nilfs_checkpoint now;
	bool is_read = sides_read(s, cx, false, v->blocknr);
	int ret = 0;

	t->are_marks_lost |= !is_read;
	for (; is_read && ret >= 0 && cno < end &&
	       cno <= s->before->latest.cno; cno++) {
		cp = checkpoint_at(g, s->blocks[0], cno);
		if (checkpoint_check(cp, cno) != RULE_OK)
			t->are_marks_lost = true;
		else if (!checkpoint_is_invalid(cp) &&
			 checkpoint_is_snapshot(cp))
			ret = find_compared_checkpoint(s, cx, cno, cp, false, &now);
	}
	return ret < 0 ? ret : 0;
}

/* Compares inode INO; BEFORE is its content in the newest ifile, or NULL if
   missing. */
static int compare_inode(struct tail *t, struct context *cx, uint64_t ino,
			 const struct nilfs_inode *before)
{
	struct nilfs_inode inode;
	int err = root_inode(&t->s->roots[1], cx, ino, &inode);

	if (err && !damage_is(err))
		return err;
	fail_clear(cx);
	return comparefile_run(t->s, cx, &t->state, ino, before,
			       err ? NULL : &inode);
}

/* Compares the inodes in block V of the newest ifile. */
static int compare_tail_inodes(struct tail *t, struct context *cx,
			       const struct version *v)
{
	struct sides *s = t->s;
	const struct nilfs_inode *inode;
	struct palloc_block b;
	bool any = false;
	uint64_t i;
	int err = 0;

	palloc_locate(&s->before->ifile_palloc, v->blkoff, &b);
	if (b.kind != PALLOC_ENTRIES || !sides_read(s, cx, false, v->blocknr))
		return 0;
	memcpy(t->inodes, s->blocks[0], s->before->geo.block_size);
	for (i = 0; i < b.count && !err; i++) {
		inode = sides_inode(s, t->inodes, i);
		any |= sides_links(inode) != 0;
		if (inode_is_private(b.first + i) || !sides_links(inode))
			continue;
		if (inode_check(&s->before->geo, inode, b.first + i) == RULE_OK)
			err = compare_inode(t, cx, b.first + i, inode);
		else
			s->losses->incomplete = true;
	}
	/* The kernel writes no block of the ifile without inodes in it. */
	s->losses->incomplete |= !any;
	return err;
}

static int compare_tail(struct tail *t, struct context *cx)
{
	struct sides *s = t->s;
	const struct versions *v = &s->versions;
	const struct version *all;
	uint64_t latest = s->before->latest.cno, cno = latest, ino, blkoff;
	const struct loss states = {
		.kind = LOSS_CHECKPOINT,
		.cno = latest + 1,
		.last = t->state.cno,
	};
	const struct loss marks = {LOSS_MARKS, .cno = 1, .last = latest};
	size_t i, n;
	int err;

	losslist_add(s->losses, cx, &states, NULL, 0);
	s->has_before = false;
	err = root_open(&s->roots[1], cx, s->after, 0);
	if (err)
		return err;
	/* Checkpoints that became snapshots since then. */
	all = versions_of(v, NILFS_CPFILE_INO, 0, UINT64_MAX, &n);
	for (i = 0; i < n && !err; i++)
		if (!i || all[i].blkoff != all[i - 1].blkoff)
			err = compare_snapshots(t, cx, &all[i]);
	/* Each log of a checkpoint has blocks of the cpfile. */
	while (cno++ < t->state.cno && !t->are_marks_lost) {
		for (i = 0; i < n && all[i].cno != cno; i++)
			;
		t->are_marks_lost = i == n;
	}
	s->losses->incomplete |= t->are_marks_lost;
	if (!err && t->are_marks_lost)
		losslist_add(s->losses, cx, &marks, NULL, 0);
	all = versions_of(v, NILFS_IFILE_INO, 0, UINT64_MAX, &n);
	for (i = 0; i < n && !err; i++)
		if (!i || all[i].blkoff != all[i - 1].blkoff)
			err = compare_tail_inodes(t, cx, &all[i]);
	/* Files with blocks in the logs whose inodes are missing there. */
	for (i = 0; i < v->n && !err; i++) {
		ino = v->items[i].ino;
		if (inode_is_private(ino) || (i && ino == v->items[i - 1].ino))
			continue;
		blkoff = palloc_entry_blkoff(&s->before->ifile_palloc, ino);
		versions_of(v, NILFS_IFILE_INO, blkoff, blkoff + 1, &n);
		if (!n)
			err = compare_inode(t, cx, ino, NULL);
	}
	return err;
}

int comparecps_newer(struct sides *s, struct context *cx, uint64_t newest)
{
	struct tail t = {.s = s, .state = {.cno = newest, .latest = true}};
	uint64_t latest = s->before->latest.cno;
	int err;

	if (s->in->is_whole && newest <= latest)
		return 0;
	versions_fini(&s->versions);
	err = versions_gather(&s->versions, cx, s, false, latest);
	if (s->versions.newest > newest)
		t.state.cno = s->versions.newest;
	if (err || t.state.cno <= latest)
		return err;
	t.inodes = malloc(s->before->geo.block_size);
	if (!t.inodes)
		return fail(cx, -ENOMEM, "block of inodes");
	err = damage_forgive(cx, compare_tail(&t, cx));
	free(t.inodes);
	return err;
}
