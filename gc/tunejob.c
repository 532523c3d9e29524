// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of changing label, UUID and intervals, and of changing features.
 *
 * Options and names are those of mkfs.nilfs2, if it has them.  This tool
 * changes only features that concern the SUFILE; others are set in a superblock
 * alone, by nilfs-tune(8).
 */
#include <errno.h>
#include <string.h>

#include "base/uuidtext.h"
#include "disk/super.h"
#include "gc/job.h"
#include "gc/tune/features.h"
#include "gc/tune/tune.h"

#define FEATURES "--features"
#define FEATURE_BYTES 64

/* Parses the properties that O requests; UUID has room for the UUID. */
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
	struct report *r = &tool->report;
	struct tune_done done;
	const struct nilfs_super_block *sb = &done.super;
	struct tune tune;
	uint8_t uuid[16];
	char text[UUIDTEXT_MAX];
	int ret = parse_properties(tool, o, &tune, uuid);

	if (!ret)
		ret = tune_set(&done, &tool->cx, dev, &tune);
	if (ret)
		return ret;
	report_begin(r, "properties", NULL);
	report_value(r, VALUE_STRING, "s_volume_name", "Label",
		     value_bytes(sb->s_volume_name,
				 strnlen(sb->s_volume_name,
					 sizeof(sb->s_volume_name))));
	report_string(r, "s_uuid", "UUID", uuidtext_format(sb->s_uuid, text));
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
	report_bool(r, "changed", "Changed", done.changed);
	report_end(r);
	return 0;
}

/* Sets *EXT by the LIST of --features. */
static int parse_features(struct tool *tool, const char *list,
			  enum features_ext *ext)
{
	struct context *cx = &tool->cx;
	const struct super_feature *f;
	char name[FEATURE_BYTES];
	int ret = 0;

	*ext = FEATURES_EXT_AS_IS;
	for (; *list && !ret; list += *list == ',') {
		bool off = *list == '^';
		size_t len = strcspn(list, ",");

		if (len >= sizeof(name)) {
			ret = fail(cx, -EINVAL, FEATURES ": unknown feature "
				   "'%.*s'", (int)len, list);
			break;
		}
		memcpy(name, list + off, len - off);
		name[len - off] = '\0';
		list += len;
		if (!len)
			continue;
		f = super_feature_find(name);
		if (!f)
			ret = fail(cx, -EINVAL, FEATURES ": unknown feature "
				   "'%s'", name);
		else if (f->set != SUPER_COMPAT ||
			 f->bit != NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT)
			ret = fail(cx, -EINVAL, FEATURES ": %s cannot be changed "
				   "here; see nilfs-tune(8)", f->name);
		*ext = off ? FEATURES_EXT_OFF : FEATURES_EXT_ON;
	}
	tool->bad_usage = ret == -EINVAL;
	return ret;
}

int tunejob_check_features(struct tool *tool, const struct options *o,
			   struct dev *dev)
{
	enum features_ext ext;

	(void)dev;
	return parse_features(tool, o->features, &ext);
}

int tunejob_features(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	struct context *cx = &tool->cx;
	struct report *r = &tool->report;
	struct features_done done;
	enum features_ext ext;
	int ret = parse_features(tool, o->features, &ext);

	if (!ret)
		ret = features_set(&done, cx, dev, ext, (uint64_t)cx->now);
	if (ret || ext == FEATURES_EXT_AS_IS)
		return ret;
	report_begin(r, "features", NULL);
	report_bool(r, "sufile_live_blks_ext", "Live-block counts",
		    ext == FEATURES_EXT_ON);
	report_bool(r, "changed", "Changed", done.changed);
	report_u64(r, "blocks_written", "Blocks written",
		   done.written);
	report_end(r);
	return 0;
}
