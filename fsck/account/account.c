// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The losses of a repair.
 *
 * The state before the repair is read from the device, the state after it from
 * the overlay, and all files of both are compared twice: first to find which
 * files differ or could not be read before, then with the listings of the logs
 * for these.  If the first comparison finds nothing, the second is skipped.
 *
 * A repair mostly adds a log and changes few inodes.  As long as no entry of
 * the DAT is moved and no block in use was overwritten, files with unchanged
 * inodes are unchanged, and their maps are not read.
 *
 * Comparing the cpfile of both sides.
 *
 * Blocks of the cpfile to which the map or the DAT before the repair do not
 * lead are searched in the logs.  The content of an invalid block is not known;
 * its checkpoints that are missing after the repair are named, although some of
 * them may have been deleted long before.
 */
#include "fsck/account/account.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/context.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "disk/checkpoint.h"
#include "disk/ondisk.h"
#include "fsck/account/newlogs.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/comparesuper.h"
#include "fsck/account/comparetree.h"
#include "fsck/account/expected.h"
#include "fsck/account/losslist.h"
#include "fsck/account/sides.h"
#include "vol/cptable.h"
#include "vol/salvage.h"

/* A state whose files are compared. */
struct comparecps_state {
	uint64_t cno;
	bool is_known; /* its entry could be read: */
	struct nilfs_inode ifile;
};

/* All zero is empty.  The latest state comes first, where there is one. */
struct comparecps {
	struct comparecps_state *states;
	size_t n, room;
};

struct walk {
	struct comparecps *c;
	struct sides *s;
	struct versions versions; /* of the cpfile alone */
	struct expected e;
	bool again; /* VERSIONS were gathered: losses are added */
	bool doubt;
};

static int add_state(struct walk *w, struct context *cx, uint64_t cno,
		     const struct nilfs_checkpoint *cp)
{
	struct comparecps *c = w->c;

	if (array_reserve(cx, &c->states, &c->room, c->n + 1))
		return -ENOMEM;
	c->states[c->n] = (struct comparecps_state){.cno = cno, .is_known = cp};
	if (cp)
		c->states[c->n].ifile = cp->cp_ifile_inode;
	c->n++;
	return 0;
}

static bool is_cpfile_block(const struct walk *w, const void *block,
			    uint64_t blkoff)
{
	const struct nilfs_geometry *g = &w->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff);
	uint32_t i;

	for (i = 0; i < checkpoint_count(g, blkoff); i++, cno++)
		if (cno <= w->s->before->latest.cno &&
		    checkpoint_check((const void *)((const char *)block +
						    checkpoint_offset(g, cno)),
				     cno) != RULE_OK)
			return false;
	return true;
}

static void lose_plain(struct walk *w, struct context *cx, enum loss_kind kind,
		       uint64_t cno, const struct nilfs_checkpoint *cp)
{
	const struct loss loss = {
		.kind = kind,
		.cno = cno,
		.last = cno,
		.snapshot = cp && checkpoint_is_snapshot(cp),
		.time = cp ? le64_get(cp->cp_create) : 0,
	};

	losslist_add(w->s->losses, cx, &loss, NULL, 0);
}

/* CP is NULL where it is not known what was there. */
static int compare_entry(struct walk *w, struct context *cx, uint64_t cno,
			 const struct nilfs_checkpoint *cp)
{
	struct nilfs_checkpoint now;
	int err;

	if (cp && checkpoint_is_invalid(cp))
		return 0;
	err = cptable_read(w->s->after, cx, cno, &now);
	if (err && damage_is(err)) {
		fail_clear(cx);
		lose_plain(w, cx, LOSS_CHECKPOINT, cno, cp);
		return 0;
	}
	if (err)
		return err;
	if (cp && checkpoint_is_snapshot(cp) && !checkpoint_is_snapshot(&now))
		lose_plain(w, cx, LOSS_MARK, cno, cp);
	if (cno == w->s->before->latest.cno)
		return 0;
	if (cp ? checkpoint_is_snapshot(cp) : checkpoint_is_snapshot(&now))
		return add_state(w, cx, cno, cp);
	return 0;
}

static int compare_block(struct walk *w, struct context *cx, uint64_t blkoff,
			 const char *block)
{
	const struct nilfs_geometry *g = &w->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff);
	uint32_t i;
	int err = 0;

	for (i = 0; i < checkpoint_count(g, blkoff) && !err; i++, cno++) {
		const char *cp =
			block ? block + checkpoint_offset(g, cno) : NULL;

		if (cno <= w->s->before->latest.cno)
			err = compare_entry(w, cx, cno, (const void *)cp);
	}
	return err ? err : context_cancelled(cx);
}

static bool read_block(struct walk *w, struct context *cx, uint64_t blkoff,
		       uint64_t blocknr)
{
	return blocknr && sides_read(w->s, cx, false, blocknr) &&
	       is_cpfile_block(w, w->s->blocks[0], blkoff);
}

static bool read_version(struct walk *w, struct context *cx,
			 const struct expected_block *b)
{
	const struct version *one =
		expected_version(&w->e, cx, b->blkoff, b->vblocknr);

	return one && read_block(w, cx, b->blkoff, one->blocknr);
}

static int visit_plain(void *arg, struct context *cx,
		       const struct expected_block *b)
{
	struct walk *w = arg;
	bool is_good = read_block(w, cx, b->blkoff, b->blocknr);

	w->doubt |= !is_good;
	if (!w->again)
		return 0;
	is_good = is_good || read_version(w, cx, b);
	return compare_block(w, cx, b->blkoff,
			     is_good ? w->s->blocks[0] : NULL);
}

static int walk_plain(struct walk *w, struct context *cx)
{
	const struct sides_state latest = {.cno = w->s->before->latest.cno};

	w->e = comparefile_walk(w->s, &latest, NILFS_CPFILE_INO,
				&w->s->before->cpfile.inode);
	w->e.versions = &w->versions;
	w->e.visit = visit_plain;
	w->e.arg = w;
	return damage_forgive(cx, expected_run(&w->e, cx));
}

static int add_latest(struct walk *w, struct context *cx)
{
	uint64_t cno = w->s->before->latest.cno;
	struct nilfs_checkpoint cp;
	bool is_read = !cptable_read(w->s->before, cx, cno, &cp);

	fail_clear(cx);
	return add_state(w, cx, cno, is_read ? &cp : NULL);
}

/*
 * Compares the entries of checkpoints before the repair: missing ones, and
 * snapshots that are plain checkpoints now, are added to the losses.  The
 * latest state and the snapshots that exist on both sides are collected in *C,
 * which is freed with comparecps_fini().  0, -ENOMEM, -EINTR.
 */
static int comparecps_run(struct comparecps *c, struct sides *s,
			  struct context *cx, const struct bitmap *used)
{
	struct walk w = {.c = c, .s = s};
	int err;

	versions_init(&w.versions, s->before, s->logs_before, used);
	err = add_latest(&w, cx);
	if (!err)
		err = walk_plain(&w, cx);
	if (!err && (w.doubt || w.e.doubt)) {
		err = versions_want(&w.versions, cx, NILFS_CPFILE_INO,
				    NILFS_CPFILE_INO + 1);
		if (!err)
			err = versions_gather(&w.versions, cx);
	}
	w.again = true;
	if (!err)
		err = walk_plain(&w, cx);
	versions_fini(&w.versions);
	return err;
}

static void comparecps_fini(struct comparecps *c)
{
	free(c->states);
	*c = (struct comparecps){.states = NULL};
}

struct account {
	const struct account_sides *in;
	uint64_t mounted; /* checkpoint that a mount finds, or 0 */
	struct comparesuper_known supers;
	struct dev *restored; /* the device with a super root that was lost */
	struct sides s;
	struct witness witness;
	struct comparetree tree;
	struct comparecps cps;
	bool in_place; /* a block that may be in use was written */
};

/*
 * The state that was repaired.  Its super root may be one that was restored in
 * its place.
 */
static int open_base(struct account *a, struct context *cx)
{
	const struct account_sides *in = a->in;
	uint32_t size = in->after->geo.block_size;
	uint64_t off = in->base->super_root * size;
	char *block = malloc(size);
	int err = block ? dev_read(in->overlay, cx, off, block, size) :
			  fail(cx, -ENOMEM, "super root");

	if (!err)
		err = patched_open(&a->restored, cx, in->under);
	if (!err)
		err = patched_set(a->restored, cx, off, block, size);
	free(block);
	return err < 0 ? err :
			 volume_open_at(&a->s.before, cx, a->restored,
					&in->after->geo, in->base);
}

/* The state before: the newer one of a mount's and the one repaired. */
static int open_before(struct account *a, struct context *cx)
{
	const struct account_sides *in = a->in;
	int err = volume_open(&a->s.before, cx, in->under, NULL);

	a->mounted = err ? 0 : a->s.before->latest.cno;
	if (in->base &&
	    (err ? damage_is(err) : in->base->cno > a->s.before->latest.cno)) {
		fail_clear(cx);
		volume_close(a->s.before);
		a->s.before = NULL;
		err = open_base(a, cx);
	}
	if (!err && !geometry_is_same(&a->s.before->geo, &in->after->geo))
		err = fail(cx, -EUCLEAN, "another geometry");
	return err ? err :
		     salvage_collect(a->s.before, cx, &a->s.before->latest,
				     in->after, &a->s.synced);
}

/* Blocks that were free before may be written. */
static bool is_free(const struct account *a, uint64_t blocknr)
{
	const struct volume *vol = a->s.before;
	const struct recovery *latest = &vol->latest;
	uint64_t segnum = geometry_segment_of(&vol->geo, blocknr);

	if (!geometry_has_block(&vol->geo, blocknr) ||
	    segnum == latest->nextnum)
		return true;
	if (segnum == latest->segnum)
		return blocknr >= geometry_segment_start(&vol->geo, segnum) +
					  latest->offset;
	return a->in->used->bits && !bitmap_test(a->in->used, segnum);
}

static int list_written(struct account *a, struct context *cx)
{
	unsigned int bits = a->s.before->geo.block_bits;
	size_t cursor = 0, len;
	uint64_t off, b;
	int err = sparse_init(&a->s.written, cx,
			      (a->in->under->size >> bits) + 1);

	while (!err &&
	       overlay_next_range(a->in->overlay, &cursor, &off, &len)) {
		for (b = off >> bits; b <= (off + len - 1) >> bits; b++) {
			if (sparse_add(&a->s.written, cx, b) == -ENOMEM)
				return -ENOMEM;
			a->in_place |= !is_free(a, b);
		}
	}
	return err;
}

/* Whether an entry has its life, which the repair may have ended. */
static bool is_same_life(const struct account *a,
			 const struct nilfs_dat_entry *old,
			 const struct nilfs_dat_entry *new)
{
	uint64_t end = le64_get(new->de_end);

	return le64_get(old->de_start) == le64_get(new->de_start) &&
	       (le64_get(old->de_end) == end ||
		(le64_get(old->de_end) == NILFS_CNO_MAX &&
		 end > a->s.before->latest.cno));
}

/* Whether the entries of a block, which was BEFORE (NULL: a hole), lead where
   they led, and live as they lived; those that the repair added do not count. */
static bool is_same_entries(const struct account *a, const char *before,
			    const char *after)
{
	const struct nilfs_geometry *g = &a->s.before->geo;
	static const struct nilfs_dat_entry none;
	const struct nilfs_dat_entry *old = &none, *new;
	uint32_t at;

	for (at = 0; at + g->dat_entry_size <= g->block_size;
	     at += g->dat_entry_size) {
		new = (const void *)(after + at);
		if (before)
			old = (const void *)(before + at);
		if (le64_get(new->de_start) > a->s.before->latest.cno)
			continue;
		if (le64_get(old->de_blocknr) != le64_get(new->de_blocknr) ||
		    !is_same_life(a, old, new))
			return false;
	}
	return true;
}

/* The same of block BLKOFF of the DAT, now at BLOCKNR: 1, 0, or a failure. */
static int is_same_dat_block(struct account *a, struct context *cx,
			     uint64_t blkoff, uint64_t blocknr)
{
	struct palloc_block b;
	uint64_t before;
	int ret;

	palloc_locate(&a->s.before->dat_palloc, blkoff, &b);
	if (b.kind != PALLOC_ENTRIES)
		return 1;
	ret = file_lookup(&a->s.before->dat, cx, blkoff, &before);
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (ret && before == blocknr && !sparse_test(&a->s.written, blocknr))
		return 1;
	if (!sides_read(&a->s, cx, true, blocknr) ||
	    (ret && !sides_read(&a->s, cx, false, before)))
		return 0;
	return is_same_entries(a, ret ? a->s.blocks[0] : NULL, a->s.blocks[1]);
}

/* Whether no entry of the DAT leads elsewhere than before: 1, 0, a failure. */
static int is_same_dat(struct account *a, struct context *cx)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret =
		blockmap_cursor_open(&cur, cx, &a->s.after->dat.map, 0, false);
	int same = 1;

	while (!ret && same > 0) {
		ret = blockmap_cursor_next(&cur, cx, &item);
		if (ret <= 0)
			break;
		same = is_same_dat_block(a, cx, item.key, item.ptr);
		ret = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	if (ret < 0)
		return damage_forgive(cx, ret);
	return same;
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

static int prepare_comparison(struct account *a, struct context *cx)
{
	uint32_t size = a->s.before->geo.block_size;
	int ret = findings_open(&a->s.findings, cx, ignore, NULL, false);

	if (!ret)
		ret = logindex_open(&a->s.logs_before, cx, &a->s.before->geo,
				    a->in->logs_under);
	versions_init(&a->s.versions, a->s.before, a->s.logs_before,
		      a->in->used);
	versions_init(&a->s.newer, a->s.after, a->s.logs_after, a->in->used);
	a->s.newer.beyond = a->s.before->latest.cno;
	a->witness.logbits.dev = a->s.before->dev;
	a->witness.logbits.geo = &a->s.before->geo;
	a->s.witness = &a->witness;
	a->s.blocks[0] = malloc(size);
	a->s.blocks[1] = malloc(size);
	if (!ret && (!a->s.blocks[0] || !a->s.blocks[1]))
		ret = fail(cx, -ENOMEM, "blocks to compare");
	if (!ret)
		ret = list_written(a, cx);
	if (!ret)
		ret = sparse_init(&a->tree.clean, cx, a->s.before->geo.nblocks);
	if (!ret)
		ret = sparse_init(&a->s.whole, cx, a->s.before->geo.nblocks);
	if (!ret)
		ret = sides_init_sums(&a->s, cx, a->s.before->geo.nblocks);
	if (!ret && !a->in_place)
		ret = is_same_dat(a, cx);
	if (ret < 0)
		return ret;
	a->tree.s = &a->s;
	a->tree.is_sound = a->in->is_sound;
	a->tree.is_dat_same = ret > 0 && !sparse_count(a->s.unread);
	return 0;
}

static int compare_states(struct account *a, struct context *cx)
{
	struct sides_state state = {.latest = true};
	size_t i;
	int err = 0;

	for (i = 0; i < a->cps.n && !err; i++) {
		const struct comparecps_state *c = &a->cps.states[i];
		const struct nilfs_inode *ifile =
			c->is_known ? &c->ifile : NULL;
		uint64_t after = state.latest ? 0 : c->cno;

		state.cno = c->cno;
		err = comparetree_run(&a->tree, cx, &state, ifile, after);
		state = (struct sides_state){.snapshot = true};
	}
	return err;
}

static int compare_checkpoints(struct account *a, struct context *cx)
{
	int err = comparecps_run(&a->cps, &a->s, cx, a->in->used);

	if (!err)
		err = compare_states(a, cx);
	if (err || !a->s.doubts)
		return err;
	err = versions_gather(&a->s.versions, cx);
	return err ? err : compare_states(a, cx);
}

/*
 * If the repair began with an older state than a superblock names, or without a
 * superblock, there may have been newer ones that nothing names.
 */
static void lose_newer(struct account *a, struct context *cx)
{
	struct loss loss = {
		.kind = LOSS_NEWER,
		.cno = a->s.before->latest.cno,
	};
	struct nilfs_checkpoint cp;

	if (a->supers.any && a->supers.claimed <= loss.cno)
		return;
	if (!cptable_read(a->s.before, cx, loss.cno, &cp))
		loss.time = le64_get(cp.cp_create);
	fail_clear(cx);
	losslist_add(a->s.losses, cx, &loss, NULL, 0);
}

static int run_comparisons(struct account *a, struct context *cx)
{
	int err = comparesuper_run(a->s.losses, cx, a->in->under,
				   volume_super(a->in->after), &a->supers);

	if (!err)
		err = open_before(a, cx);
	if (!err)
		err = prepare_comparison(a, cx);
	if (!err)
		err = compare_checkpoints(a, cx);
	if (!err)
		err = comparefile_synced(&a->s, cx);
	if (!err && a->mounted < a->s.before->latest.cno)
		err = newlogs_suspect(&a->s, cx, a->in->used, a->mounted);
	if (!err)
		err = newlogs_run(&a->s, cx, a->in->used, a->supers.newest,
				  a->in->is_whole);
	if (!err)
		lose_newer(a, cx);
	if (!err)
		err = losslist_find_paths(a->s.losses, cx, a->s.before,
					  a->s.after);
	return err;
}

static void fini(struct account *a)
{
	comparecps_fini(&a->cps);
	sparse_fini(&a->tree.clean);
	sparse_fini(&a->s.written);
	sparse_fini(&a->s.whole);
	sides_fini_sums(&a->s);
	versions_fini(&a->s.versions);
	versions_fini(&a->s.newer);
	witness_fini(&a->witness);
	findings_close(a->s.findings);
	free(a->s.blocks[0]);
	free(a->s.blocks[1]);
	rollforward_free(a->s.synced);
	logindex_close(a->s.logs_before);
	volume_close(a->s.before);
	dev_close(a->restored);
}

int account_run(struct losslist *l, struct context *cx,
		const struct account_sides *sides)
{
	struct account a = {
		.in = sides,
		.s = {.after = sides->after,
		      .logs_after = sides->logs,
		      .losses = l,
		      .unread = sides->unread},
	};
	int err = run_comparisons(&a, cx);

	fini(&a);
	if (!err || err == -EINTR)
		return err;
	fail_clear(cx);
	l->incomplete = true;
	return 0;
}
