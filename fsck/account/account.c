// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The losses of a repair.
 *
 * The state before the repair is read from the device, the state after it from
 * the overlay. All files of both states are compared twice. The first
 * comparison finds the files that differ or that could not be read before the
 * repair. The second one uses the listings of the logs for these files. If the
 * first comparison finds nothing, the second is skipped.
 *
 * A repair usually adds one log and changes few inodes. If no entry of the DAT
 * was moved and no block in use was overwritten, files with unchanged inodes
 * are unchanged, and their maps are not read.
 */
#include "fsck/account/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "dev/overlay.h"
#include "dev/patched.h"
#include "disk/field.h"
#include "disk/super.h"
#include "fsck/account/sides.h"
#include "vol/cptable.h"
#include "vol/salvage.h"

/* The superblocks before the repair. */
struct supers {
	bool any;	  /* a superblock exists, with a valid checksum or not */
	uint64_t newest;  /* the last checkpoint of valid superblocks that are up to
			     date, or 0 */
	uint64_t claimed; /* the last checkpoint of all superblocks */
	uint64_t clean;	  /* of cleanly unmounted superblocks, or 0 */
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

/*
 * Compares the fields that only superblocks store: the label, the UUID, the
 * creation time and the tunable parameters. A copy with a valid checksum before
 * the repair proves them. A copy with an invalid checksum still proves the
 * fields if the checksum matches with those of the repaired superblock.
 * Otherwise a field is lost, unless both copies have its present value.
 */
static int compare_supers(struct sides *s, struct context *cx,
			  struct supers *supers)
{
	const struct field_table *table = field_table_find("super_block");
	const struct loss loss = {.kind = LOSS_SUPER};
	const uint64_t offset[2] = {NILFS_SB_OFFSET_BYTES,
				    super_offset2(s->in->under->size)};
	const char *now = (const char *)volume_super(s->after);
	unsigned int agree = 0, right = 0, wrong = 0;
	bool is_super, is_right, is_proven, agrees;
	const struct field *field;
	struct nilfs_super_block sb;
	size_t i, j;
	int err;

	for (i = 0; i < 2; i++) {
		if (!offset[i])
			continue;
		err = dev_read(s->in->under, cx, offset[i], &sb, sizeof(sb));
		if (err == -EINTR)
			return err;
		fail_clear(cx);
		if (err)
			continue;
		is_super = le16_get(sb.s_magic) == NILFS_SUPER_MAGIC;
		/* Without these two fields the kernel ignores the copy, which
		   may still be valid. */
		sb.s_magic = le16_make(NILFS_SUPER_MAGIC);
		sb.s_bytes = le16_make(NILFS_SB_BYTES);
		is_right = super_check(&sb) == RULE_OK;
		if (is_super || is_right) {
			uint64_t cno = le64_get(sb.s_last_cno);
			bool clean = le16_get(sb.s_state) & NILFS_VALID_FS;

			supers->any = true;
			if (cno > supers->claimed)
				supers->claimed = cno;
			if (clean && cno > supers->clean)
				supers->clean = cno;
			/* The kernel writes the second superblock less often,
			   except at an unmount. */
			if (is_right && (!i || clean) && cno > supers->newest)
				supers->newest = cno;
		}
		agrees = true;
		for (j = 0; j < NPROPERTIES; j++) {
			field = field_find(table, properties[j]);
			agrees &= !memcmp(now + field->offset,
					  (char *)&sb + field->offset,
					  field_length(field));
			memcpy((char *)&sb + field->offset, now + field->offset,
			       field_length(field));
		}
		is_proven = super_check(&sb) == RULE_OK;
		agree += agrees;
		right += is_proven;
		wrong += is_right && !is_proven;
	}
	if (!right && (wrong || agree < 2))
		losslist_add(s->losses, cx, &loss, NULL, 0);
	return 0;
}

/*
 * Opens the state before the repair: the state that a mount finds, or the one
 * that was repaired if that is newer. The super root of the latter may have
 * been restored by the repair; *RESTORED is then the device with that super
 * root.
 */
static int open_before(struct sides *s, struct context *cx,
		       struct dev **restored)
{
	const struct account_sides *in = s->in;
	uint32_t size = s->after->geo.block_size;
	uint64_t off;
	char *block;
	int err = volume_open(&s->before, cx, in->under, NULL);

	s->mounted = err ? 0 : s->before->latest.cno;
	if (in->base && (err ? damage_is(err) : in->base->cno > s->mounted)) {
		fail_clear(cx);
		volume_close(s->before);
		s->before = NULL;
		off = in->base->super_root * size;
		block = malloc(size);
		err = block ? dev_read(in->overlay, cx, off, block, size) :
			      fail(cx, -ENOMEM, "super root");
		if (!err)
			err = patched_open(restored, cx, in->under) ?:
			      patched_set(*restored, cx, off, block, size);
		free(block);
		if (err >= 0)
			err = volume_open_at(&s->before, cx, *restored,
					     &s->after->geo, in->base);
	}
	if (!err && !geometry_is_same(&s->before->geo, &s->after->geo))
		err = fail(cx, -EUCLEAN, "the geometry was changed");
	return err ? err :
		     salvage_collect(s->before, cx, &s->before->latest,
				     s->after, &s->synced);
}

/*
 * Lists the blocks that the repair wrote in S->written, and those written in
 * place in S->wrong too. 1 if one of them may have been in use before, 0,
 * -ENOMEM.
 */
static int list_written(struct sides *s, struct context *cx)
{
	const struct nilfs_geometry *g = &s->before->geo;
	const struct recovery *latest = &s->before->latest;
	const struct bitmap *used = s->in->used;
	uint64_t end = geometry_segment_start(g, latest->segnum) +
		       latest->offset;
	uint64_t off, b, segnum;
	size_t cursor = 0, len;
	bool any = false, in_place;

	while (overlay_next_range(s->in->overlay, &cursor, &off, &len)) {
		for (b = off >> g->block_bits;
		     b <= (off + len - 1) >> g->block_bits; b++) {
			segnum = geometry_segment_of(g, b);
			in_place = geometry_has_block(g, b) &&
				   segnum != latest->nextnum &&
				   (segnum == latest->segnum ?
					    b < end :
					    !used->bits ||
					    bitmap_test(used, segnum));
			if (sparse_add(&s->written, cx, b) == -ENOMEM ||
			    (in_place && sides_note_wrong(s, cx, b, b)))
				return -ENOMEM;
			any |= in_place;
		}
	}
	return any;
}

/*
 * Whether the entries of the DAT have the same blocks and lifetimes as before the
 * repair; a lifetime may have been ended, and added entries do not count.  1, 0, a
 * failure.  S->changed has the entries that differ, and with LOOK those whose block
 * was written, or is in no log that can be read.
 */
static int compare_dat(struct sides *s, struct context *cx, bool look)
{
	const struct nilfs_geometry *g = &s->before->geo;
	const uint64_t latest = s->before->latest.cno;
	struct nilfs_dat_entry old, new;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block b;
	uint64_t before, end, was, blocknr, i;
	int ret = blockmap_cursor_open(&cur, cx, &s->after->dat.map, 0, false);
	bool all_same = true, is_read, same;

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = context_cancelled(cx);
		palloc_locate(&s->before->dat_palloc, item.key, &b);
		if (ret || b.kind != PALLOC_ENTRIES)
			continue;
		ret = file_lookup(&s->before->dat, cx, item.key, &before);
		same = ret > 0 && before == item.ptr &&
		       !sparse_test(&s->written, before);
		if (same && !look) {
			ret = 0;
			continue;
		}
		is_read = ret >= 0 && sides_read(s, cx, true, item.ptr) &&
			  (!ret || sides_read(s, cx, false, before));
		if (!ret) /* a hole */
			memset(s->blocks[0], 0, g->block_size);
		for (i = 0; i < b.count; i++) {
			memcpy(&old, s->blocks[0] + i * g->dat_entry_size,
			       sizeof(old));
			memcpy(&new, s->blocks[1] + i * g->dat_entry_size,
			       sizeof(new));
			end = le64_get(new.de_end);
			was = le64_get(old.de_end);
			blocknr = le64_get(old.de_blocknr);
			same = is_read &&
			       (le64_get(new.de_start) > latest ||
				(blocknr == le64_get(new.de_blocknr) &&
				 le64_get(old.de_start) ==
					 le64_get(new.de_start) &&
				 (end == was ||
				  (was == NILFS_CNO_MAX && end > latest))));
			all_same &= same;
			if ((!same ||
			     (look && (sparse_test(&s->written, blocknr) ||
				       sparse_test(s->in->unread, blocknr)))) &&
			    sparse_add(&s->changed, cx, b.first + i) < 0)
				s->is_changed_known = false;
		}
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	blockmap_cursor_close(&cur);
	if (ret < 0)
		s->is_changed_known = false;
	return ret < 0 ? damage_forgive(cx, ret) : all_same;
}

/* The sets of blocks of S. */
#define NSETS 8

static void list_sets(struct sides *s, struct sparse *sets[NSETS])
{
	sets[0] = &s->written;
	sets[1] = &s->clean;
	sets[2] = &s->whole;
	sets[3] = &s->summed[0];
	sets[4] = &s->summed[1];
	sets[5] = &s->right[0];
	sets[6] = &s->right[1];
	sets[7] = &s->changed;
}

static int prepare_comparison(struct sides *s, struct context *cx)
{
	const struct nilfs_geometry *g = &s->before->geo;
	uint64_t blocks = (s->in->under->size >> g->block_bits) + 1;
	struct sparse *sets[NSETS];
	int ret = logindex_open(&s->logs[0], cx, g, s->in->logs_under), i;
	bool in_place, any_unread;

	s->logs[1] = s->in->logs;
	s->witness.logbits.dev = s->before->dev;
	s->witness.logbits.geo = g;
	s->blocks[0] = malloc(g->block_size);
	s->blocks[1] = malloc(g->block_size);
	if (!ret && (!s->blocks[0] || !s->blocks[1]))
		ret = fail(cx, -ENOMEM, "blocks to compare");
	if (blocks < g->nblocks)
		blocks = g->nblocks;
	list_sets(s, sets);
	for (i = 0; i < NSETS && !ret; i++)
		ret = sets[i] == &s->changed ?
			      sparse_init_ends(sets[i], cx,
					       vblocks_end(s->after, cx)) :
			      sparse_init(sets[i], cx, blocks);
	if (!ret)
		ret = list_written(s, cx);
	if (ret < 0)
		return ret;
	in_place = ret > 0;
	any_unread = sparse_count(s->in->unread) > 0;
	s->is_changed_known = true;
	ret = compare_dat(s, cx, in_place || any_unread);
	s->is_dat_same = ret > 0 && !in_place && !any_unread;
	return ret < 0 ? ret : 0;
}

static int run_comparisons(struct sides *s, struct context *cx,
			   struct dev **restored)
{
	struct supers supers = {.any = false};
	struct loss newer = {.kind = LOSS_NEWER};
	struct nilfs_checkpoint cp;
	int err = compare_supers(s, cx, &supers), again;
	size_t i;

	if (!err)
		err = open_before(s, cx, restored);
	if (err)
		return err;
	/*
	 * This comes first because it does not depend on the other comparisons.
	 * If the repair began with an older state than a superblock names, or
	 * without a valid superblock, there may have been newer states that
	 * nothing names. A superblock with an invalid checksum proves the last
	 * checkpoint only if it was written after that checkpoint.
	 */
	newer.cno = s->before->latest.cno;
	if (!supers.any || supers.claimed > newer.cno ||
	    (!supers.newest && supers.clean != newer.cno)) {
		if (!cptable_read(s->before, cx, newer.cno, &cp))
			newer.time = le64_get(cp.cp_create);
		fail_clear(cx);
		losslist_add(s->losses, cx, &newer, NULL, 0);
	}
	err = prepare_comparison(s, cx) ?: comparecps_run(s, cx);
	for (again = 0; again < 2 && !err; again++) {
		s->is_first = !again;
		if (again && !s->doubts)
			break;
		if (again)
			err = versions_gather(&s->versions, cx, s, false,
					      UINT64_MAX);
		for (i = 0; i < s->nstates && !err; i++)
			err = comparetree_run(s, cx, &s->states[i]);
	}
	err = err ?: suspects_find(s, cx) ?: suspects_synced(s, cx);
	if (!err && s->mounted < s->before->latest.cno)
		err = suspects_newer(s, cx);
	for (i = 0; i < s->nstates && !err; i++)
		err = suspects_compare(s, cx, &s->states[i]);
	return err ?: comparecps_newer(s, cx, supers.newest) ?:
	       losslist_find_paths(s->losses, cx, s->before, s->after);
}

int account_run(struct losslist *l, struct context *cx,
		const struct account_sides *in)
{
	struct sides s = {.in = in, .after = in->after, .losses = l};
	struct dev *restored = NULL;
	struct sparse *sets[NSETS];
	int err = run_comparisons(&s, cx, &restored), i;

	list_sets(&s, sets);
	for (i = 0; i < NSETS; i++)
		sparse_fini(sets[i]);
	free(s.states);
	free(s.suspects);
	free(s.wrong);
	versions_fini(&s.versions);
	versions_fini(&s.newer);
	witness_fini(&s.witness);
	free(s.blocks[0]);
	free(s.blocks[1]);
	rollforward_free(s.synced);
	logindex_close(s.logs[0]);
	volume_close(s.before);
	dev_close(restored);
	if (!err || err == -EINTR)
		return err;
	fail_clear(cx);
	l->incomplete = true;
	return 0;
}
