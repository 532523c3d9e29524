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
 */
#include "fsck/account/account.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "disk/checkpoint.h"
#include "disk/field.h"
#include "disk/ondisk.h"
#include "disk/super.h"
#include "fsck/account/comparecps.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/comparetree.h"
#include "fsck/account/losslist.h"
#include "fsck/account/newlogs.h"
#include "fsck/account/sides.h"
#include "fsck/account/suspects.h"
#include "vol/cptable.h"
#include "vol/salvage.h"

struct account {
	const struct account_sides *in;
	uint64_t mounted; /* checkpoint that a mount finds, or 0 */
	struct {
		bool any;	  /* there is one, its checksum right or not */
		uint64_t newest;  /* the last checkpoint of those that are right
				     and up to date, or 0 */
		uint64_t claimed; /* of all */
		uint64_t clean;	  /* of those that were unmounted, or 0 */
	} supers;
	struct dev *restored; /* the device with a super root that was lost */
	struct sides s;
	struct witness witness;
	struct comparetree tree;
	struct comparecps cps;
	struct suspects suspects;
	bool in_place; /* a block that may be in use was written */
};

static const char *const properties[] = {
	"s_ctime",
	"s_r_segments_percentage",
	"s_max_mnt_count",
	"s_checkinterval",
	"s_creator_os",
	"s_def_resuid",
	"s_def_resgid",
	"s_uuid",
	"s_volume_name",
	"s_c_interval",
	"s_c_block_max",
	"s_feature_compat",
	"s_feature_compat_ro",
	"s_feature_incompat",
};

#define NPROPERTIES (sizeof(properties) / sizeof(properties[0]))

/* The bytes of property I in SB. */
static char *property(struct nilfs_super_block *sb, size_t i, size_t *len)
{
	const struct field *field =
		field_find(field_table_find("super_block"), properties[i]);

	*len = field_length(field);
	return (char *)sb + field->offset;
}

/*
 * What only superblocks know: the label, the UUID, when the volume was made, and
 * what a user tunes.  A copy whose checksum is right before the repair knows it.
 * A wrong checksum still proves these fields where it matches with those of the
 * repaired one.  Else a field is lost, if not both copies have it as it is now.
 */
static int compare_supers(struct account *a, struct context *cx)
{
	const struct loss loss = {.kind = LOSS_SUPER};
	const uint64_t offset[2] = {NILFS_SB_OFFSET_BYTES,
				    super_offset2(a->in->under->size)};
	struct nilfs_super_block sb, all, now = *volume_super(a->in->after);
	unsigned int agree = 0, right = 0, wrong = 0;
	bool is_super, is_right, is_proven, agrees;
	size_t i, j, len;
	int err;

	for (i = 0; i < 2; i++) {
		if (!offset[i])
			continue;
		err = dev_read(a->in->under, cx, offset[i], &sb, sizeof(sb));
		if (err == -EINTR)
			return err;
		fail_clear(cx);
		if (err)
			continue;
		is_super = le16_get(sb.s_magic) == NILFS_SUPER_MAGIC;
		/* Without these two it is not looked at, and may be right. */
		sb.s_magic = le16_make(NILFS_SUPER_MAGIC);
		sb.s_bytes = le16_make(NILFS_SB_BYTES);
		is_right = super_check(&sb) == RULE_OK;
		if (is_super || is_right) {
			uint64_t cno = le64_get(sb.s_last_cno);
			bool clean = le16_get(sb.s_state) & NILFS_VALID_FS;

			a->supers.any = true;
			if (cno > a->supers.claimed)
				a->supers.claimed = cno;
			if (clean && cno > a->supers.clean)
				a->supers.clean = cno;
			/* The kernel writes the second one less often, but for
			   an unmount. */
			if (is_right && (!i || clean) && cno > a->supers.newest)
				a->supers.newest = cno;
		}
		all = sb;
		agrees = true;
		for (j = 0; j < NPROPERTIES; j++) {
			const char *wanted = property(&now, j, &len);

			agrees &= !memcmp(wanted, property(&sb, j, &len), len);
			memcpy(property(&all, j, &len), wanted, len);
		}
		is_proven = super_check(&all) == RULE_OK;
		agree += agrees;
		right += is_proven;
		wrong += is_right && !is_proven;
	}
	if (!right && (wrong || agree < 2))
		losslist_add(a->s.losses, cx, &loss, NULL, 0);
	return 0;
}

/*
 * The state before: the newer one of a mount's and the one that was repaired.  The
 * super root of that may be one that was restored in its place.
 */
static int open_before(struct account *a, struct context *cx)
{
	const struct account_sides *in = a->in;
	uint32_t size = in->after->geo.block_size;
	uint64_t off;
	char *block;
	int err = volume_open(&a->s.before, cx, in->under, NULL);

	a->mounted = err ? 0 : a->s.before->latest.cno;
	if (in->base && (err ? damage_is(err) : in->base->cno > a->mounted)) {
		fail_clear(cx);
		volume_close(a->s.before);
		a->s.before = NULL;
		off = in->base->super_root * size;
		block = malloc(size);
		err = block ? dev_read(in->overlay, cx, off, block, size) :
			      fail(cx, -ENOMEM, "super root");
		if (!err)
			err = patched_open(&a->restored, cx, in->under);
		if (!err)
			err = patched_set(a->restored, cx, off, block, size);
		free(block);
		if (err >= 0)
			err = volume_open_at(&a->s.before, cx, a->restored,
					     &in->after->geo, in->base);
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

/*
 * Whether the entries of a block, which was BEFORE (NULL: a hole), lead where
 * they led, and live as they lived, unless the repair ended that; those that it
 * added do not count.
 */
static bool is_same_entries(const struct account *a, const char *before,
			    const char *after)
{
	const struct nilfs_geometry *g = &a->s.before->geo;
	const uint64_t latest = a->s.before->latest.cno;
	static const struct nilfs_dat_entry none;
	const struct nilfs_dat_entry *old = &none, *new;
	uint64_t end, was;
	uint32_t at;

	for (at = 0; at + g->dat_entry_size <= g->block_size;
	     at += g->dat_entry_size) {
		new = (const void *)(after + at);
		if (before)
			old = (const void *)(before + at);
		if (le64_get(new->de_start) > latest)
			continue;
		end = le64_get(new->de_end);
		was = le64_get(old->de_end);
		if (le64_get(old->de_blocknr) != le64_get(new->de_blocknr) ||
		    le64_get(old->de_start) != le64_get(new->de_start) ||
		    (end != was && (was != NILFS_CNO_MAX || end <= latest)))
			return false;
	}
	return true;
}

/* Whether no entry of the DAT leads elsewhere than before: 1, 0, a failure. */
static int is_same_dat(struct account *a, struct context *cx)
{
	struct sides *s = &a->s;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block b;
	uint64_t before;
	int ret = blockmap_cursor_open(&cur, cx, &s->after->dat.map, 0, false);
	bool same = true;

	while (!ret && same) {
		ret = blockmap_cursor_next(&cur, cx, &item);
		if (ret <= 0)
			break;
		ret = context_cancelled(cx);
		palloc_locate(&s->before->dat_palloc, item.key, &b);
		if (ret || b.kind != PALLOC_ENTRIES)
			continue;
		ret = file_lookup(&s->before->dat, cx, item.key, &before);
		if (ret > 0 && before == item.ptr &&
		    !sparse_test(&s->written, before)) {
			ret = 0;
			continue;
		}
		same = ret >= 0 && sides_read(s, cx, true, item.ptr) &&
		       (!ret || sides_read(s, cx, false, before)) &&
		       is_same_entries(a, ret ? s->blocks[0] : NULL,
				       s->blocks[1]);
		ret = ret < 0 ? ret : 0;
	}
	blockmap_cursor_close(&cur);
	return ret < 0 ? damage_forgive(cx, ret) : same;
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
	a->s.is_sound = a->in->is_sound;
	a->tree.is_dat_same = ret > 0 && !sparse_count(a->s.unread);
	return 0;
}

/* A state, whose IFILE is NULL where it is not known, and AFTER as for
   comparetree_run(). */
typedef int state_fn(struct account *a, struct context *cx,
		     const struct sides_state *state,
		     const struct nilfs_inode *ifile, uint64_t after);

static int compare_state(struct account *a, struct context *cx,
			 const struct sides_state *state,
			 const struct nilfs_inode *ifile, uint64_t after)
{
	return comparetree_run(&a->tree, cx, state, ifile, after);
}

static int suspect_state(struct account *a, struct context *cx,
			 const struct sides_state *state,
			 const struct nilfs_inode *ifile, uint64_t after)
{
	(void)ifile;
	return suspects_compare(&a->suspects, cx, &a->s, state, after,
				a->mounted);
}

static int for_states(struct account *a, struct context *cx, state_fn *each)
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
		state.inodes = c->inodes;
		err = each(a, cx, &state, ifile, after);
		state = (struct sides_state){.snapshot = true};
	}
	return err;
}

/*
 * If the repair began with an older state than a superblock names, or without a
 * right superblock, there may have been newer ones that nothing names.
 */
static void lose_newer(struct account *a, struct context *cx)
{
	struct loss loss = {
		.kind = LOSS_NEWER,
		.cno = a->s.before->latest.cno,
	};
	struct nilfs_checkpoint cp;

	/* Without a right checksum a superblock shows the last checkpoint only if it
	   was written after that. */
	if (a->supers.any && a->supers.claimed <= loss.cno &&
	    (a->supers.newest || a->supers.clean == loss.cno))
		return;
	if (!cptable_read(a->s.before, cx, loss.cno, &cp))
		loss.time = le64_get(cp.cp_create);
	fail_clear(cx);
	losslist_add(a->s.losses, cx, &loss, NULL, 0);
}

static int run_comparisons(struct account *a, struct context *cx)
{
	int err = compare_supers(a, cx);

	if (!err)
		err = open_before(a, cx);
	/* First: it is so whatever else can be compared. */
	if (!err)
		lose_newer(a, cx);
	if (!err)
		err = prepare_comparison(a, cx);
	if (!err)
		err = comparecps_run(&a->cps, &a->s, cx, a->in->used);
	if (!err)
		err = for_states(a, cx, compare_state);
	if (!err && a->s.doubts) {
		err = versions_gather(&a->s.versions, cx);
		if (!err)
			err = for_states(a, cx, compare_state);
	}
	if (!err)
		err = suspects_find(&a->suspects, cx, &a->s);
	if (!err)
		err = comparefile_synced(&a->s, cx);
	if (!err && a->mounted < a->s.before->latest.cno)
		err = suspects_newer(&a->suspects, cx, &a->s, a->in->used,
				     a->mounted);
	if (!err)
		err = for_states(a, cx, suspect_state);
	if (!err)
		err = newlogs_run(&a->s, cx, a->in->used, a->supers.newest,
				  a->in->is_whole);
	if (!err)
		err = losslist_find_paths(a->s.losses, cx, a->s.before,
					  a->s.after);
	return err;
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

	comparecps_fini(&a.cps);
	suspects_fini(&a.suspects);
	free(a.s.wrong);
	sparse_fini(&a.tree.clean);
	sparse_fini(&a.s.written);
	sparse_fini(&a.s.whole);
	sides_fini_sums(&a.s);
	versions_fini(&a.s.versions);
	versions_fini(&a.s.newer);
	witness_fini(&a.witness);
	findings_close(a.s.findings);
	free(a.s.blocks[0]);
	free(a.s.blocks[1]);
	rollforward_free(a.s.synced);
	logindex_close(a.s.logs_before);
	volume_close(a.s.before);
	dev_close(a.restored);
	if (!err || err == -EINTR)
		return err;
	fail_clear(cx);
	l->incomplete = true;
	return 0;
}
