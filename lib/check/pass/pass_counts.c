// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over counts: errors that only the results of all other passes show.
 *
 * An entry of the DAT that is live now belongs to a block of the latest state.
 * If no map of that leads to it, its space is never freed, even if a snapshot
 * has it for the time being.  The kernel tolerates that, and it is reported in
 * one finding.  An entry of a snapshot belongs to that: if a block of a map is
 * another version, it leads to blocks that are live in the snapshot too, and
 * the entries that it should lead to are left over.  Their logs give the file.
 *
 * If maps and logs have the same blocks, but not at the same places, a map is
 * wrong (mapsums.h).  The counts of live blocks in the SUFILE's extension are
 * compared with the DAT if they are marked as exact.  If a kernel wrote in
 * between, they are outdated, which is no error.  A log in use that lists a
 * number which is free or elsewhere in the DAT is an error of its own only if
 * there are no other errors (claims.h).
 *
 * It needs all other passes.  Pointers that could not be followed may lead to
 * anything: then nothing is reported as missing.
 */
#include "check/pass/passes.h"

#include <stdio.h>

#include "base/checked.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/logs/mapsums.h"
#include "disk/bmap.h"
#include "disk/dat.h"
#include "disk/inode.h"
#include "vol/datscan.h"
#include "vol/liveness.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/translate.h"

#define LEAKS_NAMED 8

/* Adds an entry of the DAT that nothing refers to. */
static int note_entry(void *arg, struct context *cx, unsigned int worker,
		      uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	struct check *c = arg;
	bool now = dat_is_current(de), is_one;
	int ret = 0;

	(void)worker;
	is_one = now ? check_is_leaked(c, vblocknr) :
		       vblocknr < c->referenced.bits &&
			       !sparse_test(&c->referenced, vblocknr) &&
			       check_snapshot_of(c, le64_get(de->de_start),
						 le64_get(de->de_end));
	if (is_one)
		ret = sparse_add(now ? &c->leaked : &c->unmapped, cx, vblocknr);
	return ret < 0 ? ret : 0;
}

/* Reports the live entries that no map leads to: their number, and the lowest
   ones. */
static void report_leaks(struct check *c)
{
	const uint64_t end = c->referenced.bits;
	uint64_t count = sparse_count(&c->leaked), number = 0;
	char text[32 * (LEAKS_NAMED + 1)];
	size_t i, len = 0;

	for (i = 0; i < LEAKS_NAMED && i < count; i++) {
		number = sparse_next(&c->leaked, number, end);
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%llu", i ? ", " : "virtual blocks ",
					(unsigned long long)number++);
	}
	if (count > LEAKS_NAMED)
		snprintf(text + len, sizeof(text) - len, " and more");
	if (count)
		findings_add(c->findings, &(struct finding){
			.rule = RULE_DAT_LEAKED,
			.place = place_number(PLACE_VOLUME, 0),
			.has_want = true,
			.has_got = true,
			.got = count,
			.detail = text,
		});
}

/*
 * Whether snapshot CNO does not need block B, at BLOCKNR and live since
 * checkpoint START: its map has a later version there, the file ends before it,
 * or there is no such file.  After a return to an older checkpoint, the blocks
 * of that are live in later snapshots as well.  1, 0.
 */
static int is_replaced(struct check *c, struct context *cx, uint64_t cno,
		       const struct segsum_block *b, uint64_t blocknr,
		       uint64_t start)
{
	bool is_ifile = b->ino == NILFS_IFILE_INO, used = true;
	struct bmap_node top = { .level = 0 };
	struct nilfs_dat_entry de;
	unsigned int level = 0;
	struct root root;
	struct file file;
	uint64_t key = b->blkoff, ptr, size;
	int ret = root_open(&root, cx, c->vol, cno);

	if (!ret && !is_ifile) {
		ret = root_file(&root, cx, b->ino, &file);
		if (ret == -ENOENT) {
			fail_clear(cx);
			ret = file_bit(&root.ifile, cx, &c->vol->ifile_palloc,
				       b->ino, &used);
			return ret < 0 ? damage_forgive(cx, ret) : !used;
		}
	}
	/* The log of a node does not record its place. */
	if (!ret)
		ret = !b->is_node ? 1 : blockmap_identify(c->vol, cx, blocknr,
							  &level, &key);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = blockmap_lookup_at_level(is_ifile ? &root.ifile.map : &file.map,
				       cx, key, level, &ptr);
	if (ret > 0) {
		ret = translate_entry(c->vol, cx, ptr, &de) ?:
		      dat_is_in(&de, cno) && le64_get(de.de_start) > start;
	} else if (!ret && !is_ifile) {
		/* The file ends before the block, or has no nodes of that
		   level. */
		size = le64_get(file.inode.i_size);
		if (bmap_is_btree(file.map.root))
			bmap_root_read(file.map.root, &top);
		ret = key >= div_round_up(size, c->vol->geo.block_size) ||
		      (level && level >= top.level);
	}
	return damage_forgive(cx, ret);
}

/* Reports blocks of snapshots that their maps do not lead to, once per file,
   which their logs identify. */
static int check_snapshot_blocks(struct check *c, struct context *cx)
{
	const uint64_t end = c->referenced.bits;
	struct place last = { 0 }, place;
	uint64_t number, blocknr, start;
	struct nilfs_dat_entry de;
	struct segsum_block b = { .ino = 0 };
	size_t named = 0;
	int ret = 0;

	c->findings->mark = FINDINGS_SNAPSHOTS;
	for (number = sparse_next(&c->unmapped, 0, end);
	     number < end && named < LEAKS_NAMED && ret >= 0;
	     number = sparse_next(&c->unmapped, number + 1, end)) {
		ret = translate_entry(c->vol, cx, number, &de);
		blocknr = ret ? 0 : le64_get(de.de_blocknr);
		if (!ret && geometry_has_block(&c->vol->geo, blocknr))
			ret = listings_find_block(cx, c, blocknr, &b);
		ret = damage_forgive(cx, ret);
		/* cpfile and SUFILE have no blocks in snapshots. */
		if (ret <= 0 || !b.is_virtual || b.vblocknr != number ||
		    (b.ino != NILFS_IFILE_INO && inode_is_metadata(b.ino)))
			continue;
		start = le64_get(de.de_start);
		place = place_inode(check_snapshot_of(c, start,
						      le64_get(de.de_end)),
				    b.ino);
		ret = is_replaced(c, cx, place.cno, &b, blocknr, start);
		if (ret || (place.ino == last.ino && place.cno == last.cno))
			continue;
		findings_got(c->findings, RULE_BMAP_UNMAPPED, place, number);
		last = place;
		named++;
	}
	c->findings->mark = FINDINGS_NEWEST;
	return ret < 0 ? ret : 0;
}

/* Checks the counts of live blocks.  Impossible ones were reported before. */
static int check_live(struct check *c, struct context *cx)
{
	struct nilfs_segment_usage_ext su;
	struct liveness *all = NULL;
	struct liveness_counts n;
	struct sutable_cursor cur;
	struct place place;
	uint32_t live, snapshot;
	uint64_t segnum;
	int ret;

	ret = sutable_is_exact(c->vol, cx);
	if (!ret)
		check_note(c, "the counts of live blocks are older than the "
			      "latest checkpoint");
	if (ret > 0)
		ret = liveness_count(c->vol, cx, UINT64_MAX, &all);
	if (ret || !all)
		goto out;
	ret = sutable_cursor_open(&cur, cx, c->vol, false);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum,
						  &su)) > 0) {
		ret = 0;
		if (!segusage_is_dirty(&su.su) ||
		    segusage_check_ext(&su) != RULE_OK ||
		    bitmap_test(&c->broken_segments, segnum))
			continue;
		n = liveness_of(all, segnum);
		place = place_number(PLACE_SEGMENT, segnum);
		live = le32_get(su.su_nlive_blks);
		snapshot = le32_get(su.su_nsnapshot_blks);
		if (live != n.current + n.snapshot)
			findings_differ(c->findings, RULE_SU_NLIVE, place,
					n.current + n.snapshot, live);
		if (snapshot != n.snapshot)
			findings_differ(c->findings, RULE_SU_NSNAPSHOT, place,
					n.snapshot, snapshot);
	}
	sutable_cursor_close(&cur);
out:
	liveness_free(all);
	return ret;
}

int pass_counts(struct check *c, struct context *cx)
{
	/* An entry with a wrong lifetime seems to be in snapshots. */
	const struct findings *f = c->findings;
	bool sound = !findings_have_area(f, RULE_AREA_DAT, RULE_WARNING);
	bool maps_sound = !findings_have_area(f, RULE_AREA_MAP, RULE_WARNING);
	bool cps_sound = !findings_have_area(f, RULE_AREA_CHECKPOINTS,
					     RULE_WARNING);
	/* A missing block of a metadata file can look like a leak. */
	bool whole = c->referenced.bits && !c->tree_broken && cps_sound &&
		     !findings_have(f, RULE_HIDES_GROUPS) &&
		     !findings_count(f, RULE_SU_UNREADABLE) &&
		     !findings_count(f, RULE_DEV_UNREADABLE);
	/* Pointers to entries that are not live were reported.  Without any,
	   equal numbers mean that no entry is left over. */
	bool leaks = whole &&
		     (c->live_entries != c->live_referenced || !maps_sound);
	/* The snapshots do not refer to all of their entries. */
	bool unmapped = sound && whole && c->kept_referenced &&
		    c->kept_entries > c->kept_referenced;
	const struct bitmap *segments = &c->unclaimed_segments;
	const struct datscan_visitor visitor = {
		.used = note_entry,
		.unreadable = check_skip_unreadable,
		.arg = c,
	};
	uint64_t segnum;
	int err = 0;

	if (c->dat_broken)
		return 0;
	c->leaks_known = whole;
	/*
	 * As far as other findings show, each number is where the DAT has it.
	 * A damaged entry leaves its block unclaimed too, and was reported.
	 */
	if (whole && sound && maps_sound &&
	    !findings_have_area(f, RULE_AREA_ALLOCATOR, RULE_WARNING) &&
	    !findings_have(c->findings, RULE_HIDES_LOGS | RULE_OVERWRITTEN))
		for (segnum = bitmap_next_set(segments, 0);
		     segnum < segments->bits;
		     segnum = bitmap_next_set(segments, segnum + 1))
			findings_broken(c->findings, RULE_LOG_NUMBERS,
					place_number(PLACE_SEGMENT, segnum));
	if (leaks || unmapped) {
		err = sparse_init(&c->leaked, cx, c->referenced.bits) ?:
		      sparse_init(&c->unmapped, cx, c->referenced.bits) ?:
		      datscan_run(c->vol, cx, &visitor);
	}
	if (!err && leaks)
		report_leaks(c);
	if (!err && unmapped)
		err = check_snapshot_blocks(c, cx);
	if (!err)
		err = mapsums_check(c, cx);
	/* This pass may have found leaking entries of the DAT. */
	if (!err && c->vol->geo.has_live_blks && cps_sound &&
	    !findings_have_area(f, RULE_AREA_DAT, RULE_WARNING))
		err = check_live(c, cx);
	/* Unreadable blocks were reported where they were read first. */
	return damage_forgive(cx, err);
}
