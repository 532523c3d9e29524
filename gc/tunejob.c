// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of changing label, UUID and intervals, and of changing features.
 *
 * Options and names are those of mkfs.nilfs2 where that has them.  Of features
 * this tool handles those that change the SUFILE; others are set in a
 * superblock alone, by nilfs-tune(8).
 */
#include <errno.h>
#include <string.h>

#include "base/uuidtext.h"
#include "disk/super_feature.h"
#include "gc/job.h"
#include "gc/tune/features.h"
#include "gc/tune/tune.h"

#define FEATURES "--features"
#define FEATURE_BYTES 64

static void report_properties(struct tool *tool, const struct tune_done *done)
{
	const struct nilfs_super_block *sb = &done->super;
	struct report *r = &tool->report;
	char uuid[UUIDTEXT_MAX];

	report_begin(r, "properties", NULL);
	report_value(r, VALUE_STRING, "s_volume_name", "Label",
		     value_bytes(sb->s_volume_name,
				 strnlen(sb->s_volume_name,
					 sizeof(sb->s_volume_name))));
	report_string(r, "s_uuid", "UUID", uuidtext_format(sb->s_uuid, uuid));
	report_u64(r, "s_checkinterval", "Check interval in seconds (0: none)",
		   le32_get(sb->s_checkinterval));
	report_u64(r, "s_max_mnt_count", "Mounts before a check (65535: any)",
		   le16_get(sb->s_max_mnt_count));
	report_u64(r, "s_c_interval",
		   "Commit interval in seconds (0: the kernel's default)",
		   le32_get(sb->s_c_interval));
	report_u64(r, "s_c_block_max",
		   "Commit after dirty blocks (0: the kernel's default)",
		   le32_get(sb->s_c_block_max));
	report_bool(r, "changed", "Changed", done->changed);
	report_end(r);
}

/* The properties that O requests; UUID has room for that. */
static int parse_properties(struct tool *tool, const struct options *o,
			    struct tune *tune, uint8_t uuid[16])
{
	struct context *cx = &tool->cx;
	int ret = 0;

	*tune = o->tune;
	if (o->uuid) {
		tune->uuid = uuid;
		if (uuidtext_make(o->uuid, uuid))
			ret = fail(cx, -EINVAL, "--uuid: '%s' is not a UUID",
				   o->uuid);
	}
	if (!ret)
		ret = tune_check(cx, tune);
	tool->bad_usage = ret == -EINVAL;
	return ret;
}

int tunejob_check_properties(struct tool *tool, const struct options *o,
			     struct dev *dev)
{
	struct tune tune;
	uint8_t uuid[16];

	(void)dev;
	return parse_properties(tool, o, &tune, uuid);
}

int tunejob_properties(struct tool *tool, const struct options *o,
		       struct dev *dev)
{
	struct tune_done done;
	struct tune tune;
	uint8_t uuid[16];
	int ret = parse_properties(tool, o, &tune, uuid);

	if (!ret)
		ret = tune_set(&done, &tool->cx, dev, &tune);
	if (!ret)
		report_properties(tool, &done);
	return ret;
}

static int parse_feature(struct context *cx, const char *word,
			 enum features_ext *ext)
{
	const char *name = *word == '^' ? word + 1 : word;
	const struct super_feature *f = super_feature_find(name);

	if (!f)
		return fail(cx, -EINVAL, FEATURES ": unknown feature '%s'", name);
	if (f->set != SUPER_COMPAT ||
	    f->bit != NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT)
		return fail(cx, -EINVAL, FEATURES ": %s is not changed here; see "
			    "nilfs-tune(8)", f->name);
	*ext = *word == '^' ? FEATURES_EXT_OFF : FEATURES_EXT_ON;
	return 0;
}

static int parse_features(struct context *cx, const char *list,
			  enum features_ext *ext)
{
	char word[FEATURE_BYTES];
	int ret = 0;

	while (*list && !ret) {
		size_t len = strcspn(list, ",");

		if (len >= sizeof(word))
			return fail(cx, -EINVAL, FEATURES ": unknown feature "
				    "'%.*s'", (int)len, list);
		memcpy(word, list, len);
		word[len] = '\0';
		if (len)
			ret = parse_feature(cx, word, ext);
		list += len + (list[len] == ',');
	}
	return ret;
}

static void report_features(struct tool *tool, enum features_ext ext,
			    const struct features_done *done)
{
	struct report *r = &tool->report;

	report_begin(r, "features", NULL);
	report_bool(r, "sufile_live_blks_ext", "Counts of live blocks",
		    ext == FEATURES_EXT_ON);
	report_bool(r, "changed", "Changed", done->changed);
	report_u64(r, "blocks_written", "Blocks written for that",
		   done->written);
	report_end(r);
}

int tunejob_check_features(struct tool *tool, const struct options *o,
			   struct dev *dev)
{
	enum features_ext ext = FEATURES_EXT_AS_IS;
	int ret = parse_features(&tool->cx, o->features, &ext);

	(void)dev;
	tool->bad_usage = ret == -EINVAL;
	return ret;
}

int tunejob_features(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	enum features_ext ext = FEATURES_EXT_AS_IS;
	struct context *cx = &tool->cx;
	struct features_done done;
	int ret = parse_features(cx, o->features, &ext);

	if (!ret)
		ret = features_set(&done, cx, dev, ext, (uint64_t)cx->now);
	if (!ret && ext != FEATURES_EXT_AS_IS)
		report_features(tool, ext, &done);
	return ret;
}
