// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over superblocks and the super root.
 *
 * It checks both superblocks, finds the latest super root as the kernel does,
 * and compares it with its log.  It needs no other pass, and opens the volume
 * for the others; if that fails, the check ends.
 *
 * Superblocks are written alternately, so one is normally older than the other.
 * That is no finding, nor is a missing flag of a clean unmount in the older
 * one.  Fields that only mkfs.nilfs2 writes must be equal.  The position of the
 * second copy depends on the size of the device.  If that has changed since the
 * volume was created, the copy is not found there, and the change of size is
 * reported.
 *
 * Logs after the super root are not checked: the next mount recovers them as
 * far as possible.  The pass over checkpoints checks the entry of the latest
 * checkpoint.
 *
 * While the volume is mounted, the kernel writes such logs, and superblocks.
 * A structure that is wrong because it was being written is right when it is read
 * again.  No later pass reads anything that the kernel overwrites.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/damage.h"
#include "check/pass/passes.h"
#include "disk/field.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "vol/cptable.h"
#include "vol/recovery.h"

#define RACE_TRIES 10
#define RACE_PAUSE_MS 2

struct supers {
	struct nilfs_super_block copy[2];
	bool read[2];
	struct super_choice choice;	/* the choice that the kernel makes */
	bool usable;		/* the chosen copy has a valid layout */
	bool known;		/* one copy has, or is of a newer format */
};

static struct place copy_place(int i)
{
	return place_number(PLACE_SUPER, (uint64_t)i);
}

static const struct field *find_field(const char *name)
{
	return field_find(field_table_find("super_block"), name);
}

/* Fields that break one rule each. */
static const struct {
	enum rule rule;
	const char *name;
} broken_fields[] = {
	{ RULE_SB_MAGIC, "s_magic" },
	{ RULE_SB_WIPED, "s_magic" },
	{ RULE_SB_BYTES, "s_bytes" },
	{ RULE_SB_REV_LEVEL, "s_rev_level" },
	{ RULE_SB_BLOCK_SIZE, "s_log_block_size" },
	{ RULE_SB_INODE_SIZE, "s_inode_size" },
	{ RULE_SB_FIRST_INO, "s_first_ino" },
	{ RULE_SB_BLOCKS_PER_SEGMENT, "s_blocks_per_segment" },
	{ RULE_SB_R_SEGMENTS_PERCENTAGE, "s_r_segments_percentage" },
	{ RULE_SB_NSEGMENTS, "s_nsegments" },
	{ RULE_SB_DEVICE_SIZE, "s_nsegments" },
	{ RULE_SB_FIRST_DATA_BLOCK, "s_first_data_block" },
	{ RULE_SB_DAT_ENTRY_SIZE, "s_dat_entry_size" },
	{ RULE_SB_CHECKPOINT_SIZE, "s_checkpoint_size" },
	{ RULE_SB_SEGMENT_USAGE_SIZE, "s_segment_usage_size" },
	{ RULE_SB_FEATURE_INCOMPAT, "s_feature_incompat" },
	{ RULE_SB_FEATURE_COMPAT_RO, "s_feature_compat_ro" },
	{ RULE_SB_LAST_PSEG, "s_last_pseg" },
};

static void report_broken_super(struct check *c, const struct supers *s, int i,
				enum rule rule)
{
	struct finding f = { .rule = rule, .place = copy_place(i) };
	size_t k;

	if (rule == RULE_SB_SUM) {
		findings_differ(c->findings, rule, f.place,
				super_checksum(&s->copy[i]),
				le32_get(s->copy[i].s_sum));
		return;
	}
	for (k = 0; k < sizeof(broken_fields) / sizeof(*broken_fields); k++)
		if (broken_fields[k].rule == rule)
			f.has_got = field_get(find_field(broken_fields[k].name),
					      &s->copy[i], 0, &f.got);
	findings_add(c->findings, &f);
}

static bool is_other_size(const struct check *c, const struct supers *s)
{
	int i = s->choice.index;

	return i >= 0 && le64_get(s->copy[i].s_dev_size) != c->dev->size;
}

static void check_super_copy(struct check *c, struct supers *s, int i)
{
	enum rule verdict = s->choice.verdict[i];
	bool is_missed, usable = false;
	enum rule features, rule;
	struct nilfs_geometry geo;

	/* Checks the content of a superblock. */
	if (s->read[i] && (verdict == RULE_OK || verdict == RULE_SB_PLACE)) {
		features = super_check_features(&s->copy[i]);
		if (features)
			report_broken_super(c, s, i, features);
		rule = super_geometry(&s->copy[i], c->dev->size, &geo);
		if (rule)
			report_broken_super(c, s, i, rule);
		/* Some rules do not prevent reading the rest. */
		if (rule == RULE_OK || rule_has(rule, RULE_READABLE)) {
			if (super_check_log(&s->copy[i], &geo))
				report_broken_super(c, s, i, RULE_SB_LAST_PSEG);
			usable = features != RULE_SB_FEATURE_INCOMPAT;
			s->known = true;
		}
	}
	if (i == s->choice.index)
		s->usable = usable;
	if (!s->read[i] || verdict == RULE_OK)
		return;
	/* Only the first copy is at a place where other formats have their
	   headers. */
	if (!i && verdict == RULE_SB_MAGIC)
		verdict = RULE_SB_WIPED;
	/*
	 * A missing second copy is no damage if there is no room for it, as on
	 * very old volumes, or if the size of the device has changed.
	 */
	is_missed = s->choice.index != 0 ||
		    (!super_bad_offset2(&s->copy[0],
					super_offset2(c->dev->size)) &&
		     !is_other_size(c, s));
	/* The place of segments is unknown if the numbers are invalid. */
	if (verdict == RULE_SB_PLACE ? usable : !i || is_missed)
		report_broken_super(c, s, i, verdict);
}

static const char *const constant_fields[] = {
	"s_rev_level", "s_crc_seed", "s_log_block_size", "s_first_data_block",
	"s_blocks_per_segment", "s_ctime", "s_inode_size", "s_dat_entry_size",
	"s_checkpoint_size", "s_segment_usage_size", NULL
};

/* Reports RULE if the field NAME differs; false if it does. */
static bool is_same_field(struct check *c, const struct supers *s,
			  const char *name, enum rule rule)
{
	const struct field *field = find_field(name);
	struct finding f = {
		.rule = rule,
		.place = copy_place(!s->choice.index),
		.detail = name,
	};

	f.has_want = field_get(field, &s->copy[s->choice.index], 0, &f.want);
	f.has_got = field_get(field, &s->copy[!s->choice.index], 0, &f.got);
	if (f.want == f.got)
		return true;
	findings_add(c->findings, &f);
	return false;
}

static void check_chosen(struct check *c, const struct supers *s)
{
	const struct nilfs_super_block *sb = &s->copy[s->choice.index];
	struct place place = copy_place(s->choice.index);
	unsigned int state = le16_get(sb->s_state);
	/*
	 * Live-block counts are added and removed with one log.  After an
	 * interruption between the superblocks, the newer one refers to that
	 * log, the other one to the log before.
	 */
	bool cut_off = s->choice.reason != SUPER_SAME;
	unsigned int i;
	const char *const *name;

	for (i = 0; i < 2; i++)
		cut_off &= le16_get(s->copy[i].s_segment_usage_size) ==
			   (le64_get(s->copy[i].s_feature_compat) &
			    NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT ?
				    NILFS_EXT_SEGMENT_USAGE_SIZE :
				    NILFS_MIN_SEGMENT_USAGE_SIZE);
	if (is_other_size(c, s))
		findings_differ(c->findings, RULE_SB_DEV_SIZE, place,
				le64_get(sb->s_dev_size), c->dev->size);
	if (state & NILFS_ERROR_FS)
		findings_broken(c->findings, RULE_SB_STATE_ERROR, place);
	if (state & NILFS_RESIZE_FS)
		findings_broken(c->findings, RULE_SB_RESIZE, place);
	if (s->choice.spare < 0)
		return;
	for (name = constant_fields; *name; name++)
		if (!is_same_field(
			    c, s, *name,
			    cut_off && !strcmp(*name, "s_segment_usage_size")
				    ? RULE_SB_FEATURES
				    : RULE_SB_COPIES))
			return;
	is_same_field(c, s, "s_nsegments", RULE_SB_RESIZE);
}

void pass_super_borrow(struct nilfs_super_block *sb,
		       const struct nilfs_super_block *other)
{
	const char *const *name;
	const struct field *field;

	for (name = constant_fields; *name; name++) {
		field = find_field(*name);
		memcpy((char *)sb + field->offset,
		       (const char *)other + field->offset,
		       field_length(field));
	}
}

/* Whether what is wrong may have been read while it was written, and has to be read
   once more, now.  *TRIES begins as 0. */
static bool is_race(const struct check *c, unsigned int *tries)
{
	const struct timespec pause = { .tv_nsec = RACE_PAUSE_MS * 1000000L };

	if (!c->mounted || ++*tries >= RACE_TRIES)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Reads both superblocks and reports their errors and differences. */
static int check_supers(struct check *c, struct context *cx, struct supers *s)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(c->dev->size)
	};
	unsigned int tries;
	int i, err;

	memset(s, 0, sizeof(*s));
	s->choice.index = -1;
	if (c->dev->size < SUPER_MIN_DEVICE) {
		findings_differ(c->findings, RULE_SB_DEVICE_SMALL,
				place_number(PLACE_VOLUME, 0),
				SUPER_MIN_DEVICE, c->dev->size);
		return 0;
	}
	for (i = 0; i < 2; i++) {
		tries = 0;
		do
			err = dev_read(c->dev, cx, offset[i], &s->copy[i],
				       sizeof(s->copy[i]));
		while (!err && super_check(&s->copy[i]) != RULE_OK &&
		       is_race(c, &tries));
		s->read[i] = !err;
		err = check_damage(c->findings, cx, err, RULE_SB_UNREADABLE,
				   copy_place(i));
		if (err)
			return err;
	}
	super_choose(s->read[0] ? &s->copy[0] : NULL,
		     s->read[1] ? &s->copy[1] : NULL, c->dev->size,
		     &s->choice);
	for (i = 0; i < 2; i++)
		check_super_copy(c, s, i);
	if (!s->known)
		findings_broken(c->findings, RULE_SB_LOST,
				place_number(PLACE_VOLUME, 0));
	if (s->choice.index >= 0)
		check_chosen(c, s);
	return 0;
}

/* An unreadable block on the way to a super root is an error, because no mount
   can succeed. */
static int blame_reader(struct check *c, struct context *cx, int err,
			enum rule rule, struct place place)
{
	if (err != -EIO)
		return check_damage(c->findings, cx, err, rule, place);
	findings_failed(c->findings, cx, rule, place);
	return 0;
}

/* Checks whether the copy that the volume was not opened by leads to a super
   root. */
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
			    copy_place(i));
}

/* Whether checkpoint CNO is in the cpfile, and at that time may be the latest. */
static bool cpfile_has_checkpoint(struct volume *vol, struct context *cx,
				  uint64_t cno)
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

/* Compares the numbers that superblock, log and super root have in common. */
static int check_super_root(struct check *c, struct context *cx)
{
	struct volume *vol = c->vol;
	const struct recovery *latest = &vol->latest;
	const struct nilfs_super_root *sr = &vol->super_root;
	struct place place = place_number(PLACE_BLOCK, latest->super_root);
	uint64_t nongc = le64_get(sr->sr_nongc_ctime);
	uint16_t bytes = le16_get(sr->sr_bytes);
	uint64_t cno, last;
	struct nilfs_segment_summary ss;
	const void *block;
	int err = cache_get(vol->cache, cx, latest->pseg_start, &block);

	if (err)
		return check_damage(c->findings, cx, err, RULE_SB_NO_SUPER_ROOT,
				    place_number(PLACE_VOLUME, 0));
	memcpy(&ss, block, sizeof(ss));
	cache_put(vol->cache, block);
	/* If it was chosen without the header of its log, there is nothing to
	   compare. */
	if (segsum_check(&vol->geo, &ss, latest->pseg_start) != RULE_OK)
		return 0;
	if (le16_get(sr->sr_flags))
		findings_differ(c->findings, RULE_SR_FLAGS, place, 0,
				le16_get(sr->sr_flags));
	if (bytes != superroot_bytes(&vol->geo))
		findings_differ(c->findings, RULE_SR_LENGTH, place,
				superroot_bytes(&vol->geo), bytes);
	/*
	 * The log of a cleaner keeps the time of the last log of another kind.
	 * The kernel loses the cleaner's flag in most of them: for the first
	 * log of a write, nilfs_segctor_collect_blocks() sets only
	 * NILFS_SS_LOGBGN.  So any time between that of the volume and that of
	 * the log is valid.
	 */
	if (!(le16_get(ss.ss_flags) & NILFS_SS_GC) &&
	    (nongc > latest->ctime ||
	     (nongc < latest->ctime &&
	      nongc < le64_get(volume_super(vol)->s_ctime))))
		findings_differ(c->findings, RULE_SR_NONGC_CTIME, place,
				latest->ctime, nongc);
	/*
	 * The latest checkpoint is the last one in the cpfile: the greater
	 * number that exists there.  If none exists, it is the number in the
	 * log, which was written with the entries of the DAT.  The kernel uses
	 * that of the superblock.
	 */
	cno = le64_get(ss.ss_cno);
	last = latest->cno;
	if (!segsum_has_cno(&ss) || cno == last)
		return 0;
	if (cpfile_has_checkpoint(vol, cx, last) &&
	    (last > cno || !cpfile_has_checkpoint(vol, cx, cno))) {
		findings_differ(c->findings, RULE_SR_CNO,
				place_number(PLACE_LOG, latest->pseg_start),
				last, cno);
		return 0;
	}
	findings_differ(c->findings, RULE_SB_LAST_CNO,
			copy_place(vol->super_used), cno, last);
	vol->latest.cno = cno;
	return 0;
}

/* Whether the search passed a place without a valid log: it may be complete now, as
   logs after it are. */
static bool is_gap_passed(const struct recovery *latest)
{
	return latest->gap_pseg && (latest->gap_seq < latest->last_seq ||
				    (latest->gap_seq == latest->last_seq &&
				     latest->gap_pseg < latest->last_pseg));
}

/* Opens c->vol while it is mounted, and forgets the logs after the latest super
   root.  Fails as volume_open(). */
static int open_mounted_volume(struct check *c, struct context *cx)
{
	struct recovery *latest;
	unsigned int tries = 0;
	int err;

	do {
		volume_close(c->vol);
		fail_clear(cx);
		err = volume_open(&c->vol, cx, c->dev, NULL);
	} while ((err ? err == -EUCLEAN : is_gap_passed(&c->vol->latest)) &&
		 is_race(c, &tries));
	if (err)
		return err;
	latest = &c->vol->latest;
	if (latest->cno < c->mounted)
		findings_differ(c->findings, RULE_LOG_CHAIN,
				place_number(PLACE_LOG, latest->gap_pseg),
				c->mounted, latest->cno);
	latest->gap_pseg = latest->orphans_start = latest->orphans_end = 0;
	return 0;
}

/* Opens c->vol, or reports why it cannot be opened: the error of the super root
   or of the reader. */
static int open_checked_volume(struct check *c, struct context *cx,
			       const struct supers *s)
{
	const struct nilfs_super_block *sb = &s->copy[s->choice.index];
	bool valid = le16_get(sb->s_state) & NILFS_VALID_FS;
	struct place place = copy_place(s->choice.index);
	enum rule rule = RULE_SB_NO_SUPER_ROOT;
	struct volume *bare;
	struct recovery rec;
	struct context why;
	char *block = NULL;
	int err = c->mounted ? open_mounted_volume(c, cx) :
		  state_is_at(c->state, le64_get(sb->s_last_pseg),
			      le64_get(sb->s_last_seq)) ?
			volume_open_at(&c->vol, cx, c->dev, NULL,
				       &c->state->at) :
			volume_open(&c->vol, cx, c->dev, NULL);

	if (err != -EUCLEAN && err != -EIO)
		return check_damage(c->findings, cx, err, RULE_SB_NO_SUPER_ROOT,
				    place_number(PLACE_VOLUME, 0));
	context_child(cx, &why);
	context_adopt(&why, cx);
	fail_clear(cx);
	err = volume_open_bare(&bare, cx, c->dev) ?:
	      recovery_search(bare, cx, sb, !valid, &rec);
	if (err)
		goto out;
	rule = RULE_SR_METADATA;
	place = place_number(PLACE_BLOCK, rec.super_root);
	block = malloc(bare->geo.block_size);
	err = block ? volume_read_blocks(bare, cx, rec.super_root, 1, block) :
		      fail(cx, -ENOMEM, "super root");
	if (err)
		goto out;
	rule = superroot_check(&bare->geo, block);
	if (rule)
		findings_broken(c->findings, rule, place);
	else
		findings_failed(c->findings, &why, RULE_SR_METADATA, place);
out:
	free(block);
	volume_close(bare);
	return blame_reader(c, cx, err, rule, place);
}

int pass_super(struct check *c, struct context *cx)
{
	const struct nilfs_segment_summary *ss;
	const struct nilfs_inode *inodes[3];
	const struct recovery *latest;
	const void *block;
	struct supers s;
	enum rule rule;
	unsigned int i;
	int err = check_supers(c, cx, &s);

	if (err || !s.usable)
		return err;
	err = open_checked_volume(c, cx, &s);
	if (err || !c->vol)
		return err;
	latest = &c->vol->latest;
	if (!c->mounted &&
	    !(le16_get(volume_super(c->vol)->s_state) & NILFS_VALID_FS)) {
		/* Not damage, but the next mount may show more than is checked
		   here. */
		check_note(c, "not unmounted cleanly; checking checkpoint %"
			   PRIu64, latest->cno);
		if (latest->orphans_start && latest->orphans_end)
			check_note(c, "the next mount recovers the usable data "
				   "of the logs from block %" PRIu64 " to %"
				   PRIu64, latest->orphans_start,
				   latest->orphans_end);
		/*
		 * A log with a summary at the end of the chain is either a log
		 * whose writing a crash interrupted, or a damaged last log.
		 */
		block = NULL;
		if (latest->gap_pseg)
			err = cache_get(c->vol->cache, cx, latest->gap_pseg,
					&block);
		ss = block;
		if (latest->gap_pseg && !err &&
		    segsum_check(&c->vol->geo, ss, latest->gap_pseg) ==
			    RULE_OK && le64_get(ss->ss_seq) == latest->gap_seq)
			check_note(c, "the log at block %" PRIu64 " was not "
				   "written completely or is damaged; a mount "
				   "ignores it", latest->gap_pseg);
		if (!err)
			cache_put(c->vol->cache, block);
		err = damage_forgive(cx, err);
	}
	if (!err)
		err = check_other(c, cx);
	if (!err && !state_is_at(c->state, latest->pseg_start, latest->seq))
		err = chain_check(c, cx);
	if (!err)
		err = check_super_root(c, cx);
	/* Checks the inodes of metadata files; later passes walk their maps. */
	inodes[0] = &c->vol->dat.inode;
	inodes[1] = &c->vol->cpfile.inode;
	inodes[2] = &c->vol->sufile.inode;
	for (i = 0; i < 3 && !err; i++) {
		rule = inode_check(&c->vol->geo, inodes[i], NILFS_DAT_INO + i);
		if (rule)
			findings_broken(c->findings, rule,
					place_inode(0, NILFS_DAT_INO + i));
	}
	return err;
}
