// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a repair gives up.
 *
 * The state before the repair is read once more from the device, the state
 * after it from the overlay, and all files of both are compared twice: the
 * first time to learn which files differ or cannot be read before, the second
 * time with what the logs list for these.  Where the first comparison finds
 * nothing, that is all.
 *
 * A repair mostly adds a log and changes few inodes.  As long as no entry of
 * the DAT leads elsewhere and no block in use was written, the files whose
 * inodes did not change are the same, and their maps are not read.
 */
#include "fsck/account/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "disk/dat.h"
#include "fsck/account/beyond.h"
#include "fsck/account/comparecps.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/comparetree.h"
#include "fsck/account/losspaths.h"
#include "fsck/account/sides.h"
#include "vol/salvage.h"

struct account {
	const struct account_sides *in;
	uint64_t mounted; /* checkpoint that a mount finds, or 0 */
	uint64_t newest;  /* checkpoint that a superblock knows, or 0 */
	struct dev *restored; /* the device with a super root that was lost */
	struct sides s;
	struct comparetree tree;
	struct comparecps cps;
	bool in_place; /* a block that may be in use was written */
};

static uint64_t newest_in_supers(const struct volume *vol)
{
	uint64_t newest = 0, cno;
	int i;

	for (i = 0; i < 2; i++) {
		cno = le64_get(vol->super[i].s_last_cno);
		if (super_check(&vol->super[i]) == RULE_OK && cno > newest)
			newest = cno;
	}
	return newest;
}

/* The newest checkpoint of a superblock, and the volume as a mount finds it. */
static int open_mounted(struct account *a, struct context *cx)
{
	struct volume *bare;
	int err = volume_open_bare(&bare, cx, a->in->under);

	if (!err) {
		a->newest = newest_in_supers(bare);
		volume_close(bare);
	}
	fail_clear(cx);
	return volume_open(&a->s.before, cx, a->in->under, NULL);
}

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
	int err = open_mounted(a, cx);

	a->mounted = err ? 0 : a->s.before->latest.cno;
	if (in->base &&
	    (err ? damage_is(err) : in->base->cno > a->s.before->latest.cno)) {
		fail_clear(cx);
		volume_close(a->s.before);
		a->s.before = NULL;
		err = open_base(a, cx);
	}
	if (!err &&
	    memcmp(&a->s.before->geo, &in->after->geo, sizeof(in->after->geo)))
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

static int prepare(struct account *a, struct context *cx)
{
	uint32_t size = a->s.before->geo.block_size;
	int ret = findings_open(&a->s.findings, cx, ignore, NULL, false);

	versions_init(&a->s.versions, a->s.before, a->in->used);
	a->s.blocks[0] = malloc(size);
	a->s.blocks[1] = malloc(size);
	if (!ret && (!a->s.blocks[0] || !a->s.blocks[1]))
		ret = fail(cx, -ENOMEM, "blocks to compare");
	if (!ret)
		ret = list_written(a, cx);
	if (!ret)
		ret = sparse_init(&a->tree.clean, cx, a->s.before->geo.nblocks);
	if (!ret && !a->in_place)
		ret = is_same_dat(a, cx);
	if (ret < 0)
		return ret;
	a->tree.s = &a->s;
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

		state.cno = c->cno;
		err = comparetree_run(&a->tree, cx, &state,
				      c->is_known ? &c->ifile : NULL,
				      state.latest ? 0 : c->cno);
		state = (struct sides_state){.snapshot = true};
	}
	return err;
}

static int compare(struct account *a, struct context *cx)
{
	int err = comparecps_run(&a->cps, &a->s, cx, a->in->used);

	if (!err)
		err = compare_states(a, cx);
	if (err || !a->s.doubts)
		return err;
	err = versions_gather(&a->s.versions, cx);
	return err ? err : compare_states(a, cx);
}

static int run(struct account *a, struct context *cx)
{
	int err = open_before(a, cx);

	if (!err)
		err = prepare(a, cx);
	if (!err)
		err = compare(a, cx);
	if (!err)
		err = comparefile_synced(&a->s, cx);
	if (!err && a->mounted < a->s.before->latest.cno)
		err = beyond_suspect(&a->s, cx, a->in->used, a->mounted);
	if (!err)
		err = beyond_run(&a->s, cx, a->in->used, a->newest,
				 a->in->is_whole);
	if (!err)
		err = losspaths_find(a->s.losses, cx, a->s.before, a->s.after);
	return err;
}

static void fini(struct account *a)
{
	comparecps_fini(&a->cps);
	sparse_fini(&a->tree.clean);
	sparse_fini(&a->s.written);
	versions_fini(&a->s.versions);
	findings_close(a->s.findings);
	free(a->s.blocks[0]);
	free(a->s.blocks[1]);
	rollforward_free(a->s.synced);
	volume_close(a->s.before);
	dev_close(a->restored);
}

int account_run(struct losslist *l, struct context *cx,
		const struct account_sides *sides)
{
	struct account a = {
		.in = sides,
		.s = {.after = sides->after,
		      .losses = l,
		      .unread = sides->unread},
	};
	int err = run(&a, cx);

	fini(&a);
	if (!err || err == -EINTR)
		return err;
	fail_clear(cx);
	l->incomplete = true;
	return 0;
}
