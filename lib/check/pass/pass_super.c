// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pass 1: superblocks and super root.
 *
 * It checks both superblocks, finds the latest super root as the kernel does,
 * and holds it against its log.  It needs nothing, and leaves an open volume
 * to the others; where there is none, there is nothing more to check.
 *
 * Logs after the super root are not looked at: the next mount recovers what
 * is of use in them.  What the number of the latest checkpoint leads to is the
 * matter of the pass over checkpoints.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/damage.h"
#include "check/pass/passes.h"
#include "check/pass/supers.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "vol/cptable.h"
#include "vol/recovery.h"

/*
 * What cannot be read on the way to a super root is as bad as what is wrong
 * there: no mount gets past it.
 */
static int blame_reader(struct check *c, struct context *cx, int err,
			enum rule rule, struct place place)
{
	if (err != -EIO)
		return check_damage(c, cx, err, rule, place);
	findings_failed(c->findings, cx, rule, place);
	return 0;
}

/* The copy that the volume was not opened by: does it lead nowhere? */
static int check_other(struct check *c, struct context *cx)
{
	struct volume *vol = c->vol;
	const struct super_choice *choice = &vol->choice;
	bool chosen = vol->super_used != choice->index;
	int i = chosen ? choice->index : choice->spare;
	const struct nilfs_super_block *sb, *used = volume_super(vol);
	struct recovery rec;
	int err;

	if (i < 0)
		return 0;
	sb = &vol->super[i];
	if (super_check_log(sb, &vol->geo) ||
	    (le64_get(sb->s_last_pseg) == le64_get(used->s_last_pseg) &&
	     le64_get(sb->s_last_seq) == le64_get(used->s_last_seq)))
		return 0;
	err = recovery_search(vol, cx, sb, false, &rec);
	return blame_reader(c, cx, err, chosen ? RULE_SB_NO_SUPER_ROOT :
						 RULE_SB_SPARE,
			    place_number(PLACE_SUPER, (uint64_t)i));
}

/* Whether checkpoint CNO is in the cpfile, in whose time it may be the last. */
static bool has_checkpoint(struct volume *vol, struct context *cx, uint64_t cno)
{
	uint64_t latest = vol->latest.cno;
	struct nilfs_checkpoint cp;
	int err;

	vol->latest.cno = cno;
	err = cptable_read(vol, cx, cno, &cp);
	vol->latest.cno = latest;
	fail_clear(cx);
	return !err && le64_get(cp.cp_cno) == cno;
}

/*
 * The number of the latest checkpoint is that of the last one in the cpfile:
 * the greater of two that are there.  Where neither is it is the log's, which
 * has it from when it was written, as have all entries of the DAT that it
 * brought; the kernel goes by the superblock.
 */
static void compare_cno(struct check *c, struct context *cx, uint64_t cno)
{
	struct volume *vol = c->vol;
	uint64_t last = vol->latest.cno;

	if (cno == last)
		return;
	if (has_checkpoint(vol, cx, last) &&
	    (last > cno || !has_checkpoint(vol, cx, cno))) {
		findings_differ(c->findings, RULE_SR_CNO,
				place_number(PLACE_LOG,
					     vol->latest.pseg_start),
				last, cno);
		return;
	}
	findings_differ(c->findings, RULE_SB_LAST_CNO,
			place_number(PLACE_SUPER, (uint64_t)vol->super_used),
			cno, vol->latest.cno);
	vol->latest.cno = cno;
}

/* The numbers that superblock, log and super root have in common. */
static int check_super_root(struct check *c, struct context *cx)
{
	const struct volume *vol = c->vol;
	const struct recovery *latest = &vol->latest;
	const struct nilfs_super_root *sr = &vol->super_root;
	struct place place = place_number(PLACE_BLOCK, latest->super_root);
	uint64_t nongc = le64_get(sr->sr_nongc_ctime);
	uint16_t bytes = le16_get(sr->sr_bytes);
	struct nilfs_segment_summary ss;
	const void *block;
	int err = cache_get(vol->cache, cx, latest->pseg_start, &block);

	if (err)
		return check_damage(c, cx, err, RULE_SB_NO_SUPER_ROOT,
				    place_number(PLACE_VOLUME, 0));
	memcpy(&ss, block, sizeof(ss));
	cache_put(vol->cache, block);
	/* One that was chosen without its log's header has nothing to compare. */
	if (segsum_check(&vol->geo, &ss, latest->pseg_start) != RULE_OK)
		return 0;
	if (le16_get(sr->sr_flags))
		findings_differ(c->findings, RULE_SR_FLAGS, place, 0,
				le16_get(sr->sr_flags));
	if (bytes != superroot_bytes(&vol->geo))
		findings_differ(c->findings, RULE_SR_LENGTH, place,
				superroot_bytes(&vol->geo), bytes);
	/*
	 * The log of a cleaner keeps the time of the last one that was none.
	 * In most of its own the kernel loses the flag that says so: where a log
	 * begins, nilfs_segctor_collect_blocks() sets NILFS_SS_LOGBGN alone.  So
	 * any time will do between that of the volume and that of the log.
	 */
	if (!(le16_get(ss.ss_flags) & NILFS_SS_GC) &&
	    (nongc > latest->ctime ||
	     (nongc < latest->ctime &&
	      nongc < le64_get(volume_super(vol)->s_ctime))))
		findings_differ(c->findings, RULE_SR_NONGC_CTIME, place,
				latest->ctime, nongc);
	if (segsum_has_cno(&ss))
		compare_cno(c, cx, le64_get(ss.ss_cno));
	return 0;
}

static const uint64_t inos[3] = {
	NILFS_DAT_INO, NILFS_CPFILE_INO, NILFS_SUFILE_INO
};

/* What is wrong with the fields; the maps are walked by later passes. */
static void check_metadata(struct check *c)
{
	const struct nilfs_inode *const inodes[3] = {
		&c->vol->dat.inode, &c->vol->cpfile.inode,
		&c->vol->sufile.inode
	};
	enum rule rule;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		rule = inode_check(&c->vol->geo, inodes[i], inos[i]);
		if (rule)
			findings_broken(c->findings, rule,
					place_inode(0, inos[i]));
	}
}

/*
 * Says what is wrong with the super root at BLOCKNR, from which the volume
 * could not be opened; WHY is what the reader said.
 */
static int blame_super_root(struct check *c, struct context *cx,
			    struct volume *bare, uint64_t blocknr,
			    struct context *why)
{
	struct place place = place_number(PLACE_BLOCK, blocknr);
	char *block = malloc(bare->geo.block_size);
	enum rule rule;
	int err;

	if (!block)
		return fail(cx, -ENOMEM, "super root");
	err = volume_read_blocks(bare, cx, blocknr, 1, block);
	if (!err) {
		rule = superroot_check(&bare->geo, block);
		if (rule)
			findings_broken(c->findings, rule, place);
		else
			findings_failed(c->findings, why, RULE_SR_METADATA,
					place);
	}
	free(block);
	return blame_reader(c, cx, err, RULE_SR_METADATA, place);
}

/* Opens c->vol, or finds out why it could not be opened. */
static int open_volume(struct check *c, struct context *cx,
		       const struct supers *s)
{
	const struct nilfs_super_block *sb = &s->copy[s->choice.index];
	bool valid = le16_get(sb->s_state) & NILFS_VALID_FS;
	struct volume *bare;
	struct recovery rec;
	struct context why;
	int err = state_is_at(c->state, le64_get(sb->s_last_pseg),
			      le64_get(sb->s_last_seq)) ?
		volume_open_from(&c->vol, cx, c->dev, &c->state->at) :
		volume_open(&c->vol, cx, c->dev, NULL);

	if (err != -EUCLEAN && err != -EIO)
		return check_damage(c, cx, err, RULE_SB_NO_SUPER_ROOT,
				    place_number(PLACE_VOLUME, 0));
	context_child(cx, &why);
	context_adopt(&why, cx);
	fail_clear(cx);
	err = volume_open_bare(&bare, cx, c->dev);
	if (!err)
		err = recovery_search(bare, cx, sb, !valid, &rec);
	if (!err)
		err = blame_super_root(c, cx, bare, rec.super_root, &why);
	else
		err = blame_reader(c, cx, err, RULE_SB_NO_SUPER_ROOT,
				   place_number(PLACE_SUPER,
						(uint64_t)s->choice.index));
	volume_close(bare);
	return err;
}

/* Not damage, but what the user sees is not all that the next mount shows. */
static int note_state(const struct check *c, struct context *cx)
{
	const struct recovery *latest = &c->vol->latest;
	const struct nilfs_segment_summary *ss;
	const void *block;
	int ret;

	if (le16_get(volume_super(c->vol)->s_state) & NILFS_VALID_FS)
		return 0;
	check_note(c, "not unmounted cleanly; checking checkpoint %"
		   PRIu64, latest->cno);
	if (latest->orphans_start && latest->orphans_end)
		check_note(c, "the next mount recovers what it can use of the "
			   "logs from block %" PRIu64 " to %" PRIu64,
			   latest->orphans_start, latest->orphans_end);
	if (!latest->gap_pseg)
		return 0;
	/*
	 * A log that has a summary where the chain ends is what a crash leaves
	 * of the log being written, or what damage leaves of the last one.
	 */
	ret = cache_get(c->vol->cache, cx, latest->gap_pseg, &block);
	if (ret)
		return damage_forgive(cx, ret);
	ss = block;
	if (segsum_check(&c->vol->geo, ss, latest->gap_pseg) == RULE_OK &&
	    le64_get(ss->ss_seq) == latest->gap_seq)
		check_note(c, "the log at block %" PRIu64 " was not written "
			   "completely, or is damaged: a mount ignores it",
			   latest->gap_pseg);
	cache_put(c->vol->cache, block);
	return 0;
}

int pass_super(struct check *c, struct context *cx)
{
	struct supers s;
	int err = supers_check(c, cx, &s);

	if (err || !s.usable)
		return err;
	err = open_volume(c, cx, &s);
	if (err || !c->vol)
		return err;
	err = note_state(c, cx);
	if (!err)
		err = check_other(c, cx);
	if (!err && !state_is_at(c->state, c->vol->latest.pseg_start,
				 c->vol->latest.seq))
		err = chain_check(c, cx);
	if (!err)
		err = check_super_root(c, cx);
	if (!err)
		check_metadata(c);
	return err;
}
