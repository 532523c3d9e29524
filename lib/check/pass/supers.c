// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The two superblocks.
 *
 * They are written alternately, so one is normally older than the other: that
 * is not a finding, nor is a missing flag of a clean unmount in the older.
 * Fields that only mkfs.nilfs2 writes must be equal.
 *
 * The position of the second follows from the size of the device.  If that has
 * changed since the volume was made, the copy is not found there, and the
 * change of size is reported.
 */
#include "check/pass/supers.h"

#include <string.h>

#include "disk/field.h"

static struct place copy_place(int i)
{
	return place_number(PLACE_SUPER, (uint64_t)i);
}

static const struct field *find_field(const char *name)
{
	return field_find(field_table_find("super_block"), name);
}

/* The fields that break a rule alone. */
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

static void report_broken(struct check *c, const struct supers *s, int i,
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

/* Copy I, which is a superblock: does it make sense?  True if it can be used. */
static bool check_sense(struct check *c, struct supers *s, int i)
{
	enum rule features = super_check_features(&s->copy[i]), rule;
	struct nilfs_geometry geo;

	if (features)
		report_broken(c, s, i, features);
	rule = super_geometry(&s->copy[i], c->dev->size, &geo);
	if (rule)
		report_broken(c, s, i, rule);
	/* Some rules do not keep the rest from being read. */
	if (rule != RULE_OK && !rule_has(rule, RULE_READABLE))
		return false;
	if (super_check_log(&s->copy[i], &geo))
		report_broken(c, s, i, RULE_SB_LAST_PSEG);
	s->known |= features == RULE_SB_FEATURE_INCOMPAT;
	return features != RULE_SB_FEATURE_INCOMPAT;
}

static bool is_other_size(const struct check *c, const struct supers *s)
{
	int i = s->choice.index;

	return i >= 0 && le64_get(s->copy[i].s_dev_size) != c->dev->size;
}

static void check_copy(struct check *c, struct supers *s, int i)
{
	enum rule verdict = s->choice.verdict[i];
	bool is_super = verdict == RULE_OK || verdict == RULE_SB_PLACE;
	bool usable = s->read[i] && is_super && check_sense(c, s, i);
	bool is_missed;

	if (i == s->choice.index)
		s->usable = usable;
	s->known |= usable;
	if (!s->read[i] || verdict == RULE_OK)
		return;
	/* Only the first one is where others write what they put on a device. */
	if (!i && verdict == RULE_SB_MAGIC)
		verdict = RULE_SB_WIPED;
	/*
	 * A second copy that cannot be one is no damage where there is no room
	 * for it, as on very old volumes, or where the device has changed its
	 * size.
	 */
	is_missed = s->choice.index != 0 ||
		    (!super_bad_offset2(&s->copy[0],
					super_offset2(c->dev->size)) &&
		     !is_other_size(c, s));
	/* Where segments are cannot be said if the numbers make no sense. */
	if (verdict == RULE_SB_PLACE ? usable : !i || is_missed)
		report_broken(c, s, i, verdict);
}

static const char *const constant_fields[] = {
	"s_rev_level", "s_crc_seed", "s_log_block_size", "s_first_data_block",
	"s_blocks_per_segment", "s_ctime", "s_inode_size", "s_dat_entry_size",
	"s_checkpoint_size", "s_segment_usage_size", NULL
};

/* Reports RULE where the field NAME differs; false where it does. */
static bool is_same(struct check *c, const struct supers *s, const char *name,
		    enum rule rule)
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

/* Whether entries of segments have the size that the features of SB ask for. */
static bool has_usual_entries(const struct nilfs_super_block *sb)
{
	bool ext = le64_get(sb->s_feature_compat) &
		   NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT;

	return le16_get(sb->s_segment_usage_size) ==
	       (ext ? NILFS_EXT_SEGMENT_USAGE_SIZE :
		      NILFS_MIN_SEGMENT_USAGE_SIZE);
}

static void check_chosen(struct check *c, const struct supers *s)
{
	const struct nilfs_super_block *sb = &s->copy[s->choice.index];
	struct place place = copy_place(s->choice.index);
	unsigned int state = le16_get(sb->s_state);
	/*
	 * Live-block counts come and go with one log: cut off between the
	 * superblocks, the newer one names that, the other one the log before.
	 */
	bool cut_off = s->choice.reason != SUPER_SAME &&
		       has_usual_entries(&s->copy[0]) &&
		       has_usual_entries(&s->copy[1]);
	const char *const *name;

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
		if (!is_same(c, s, *name, cut_off &&
			     !strcmp(*name, "s_segment_usage_size") ?
				RULE_SB_FEATURES : RULE_SB_COPIES))
			return;
	is_same(c, s, "s_nsegments", RULE_SB_RESIZE);
}

void supers_borrow(struct nilfs_super_block *sb,
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

int supers_check(struct check *c, struct context *cx, struct supers *s)
{
	const uint64_t offset[2] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(c->dev->size)
	};
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
		err = dev_read(c->dev, cx, offset[i], &s->copy[i],
			       sizeof(s->copy[i]));
		s->read[i] = !err;
		err = check_damage(c, cx, err, RULE_SB_UNREADABLE,
				   copy_place(i));
		if (err)
			return err;
	}
	super_choose(s->read[0] ? &s->copy[0] : NULL,
		     s->read[1] ? &s->copy[1] : NULL, c->dev->size,
		     &s->choice);
	for (i = 0; i < 2; i++)
		check_copy(c, s, i);
	if (!s->known)
		findings_broken(c->findings, RULE_SB_LOST,
				place_number(PLACE_VOLUME, 0));
	if (s->choice.index >= 0)
		check_chosen(c, s);
	return 0;
}
