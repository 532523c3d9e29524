// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job of giving a volume features, as the command line names them.
 *
 * Names are those of mkfs.nilfs2.  Only what changes the SUFILE is for this
 * tool; other features are set in a superblock alone, by nilfs-tune(8).
 */
#include "gc/featurejob.h"

#include <errno.h>
#include <string.h>

#include "disk/super_feature.h"
#include "gc/features.h"

#define OPTION "--features"
#define NAME_BYTES 64

static int apply_word(struct context *cx, const char *word,
		      enum features_ext *ext)
{
	const char *name = *word == '^' ? word + 1 : word;
	const struct super_feature *f = super_feature_find(name);

	if (!f)
		return fail(cx, -EINVAL, OPTION ": unknown feature '%s'", name);
	if (f->set != SUPER_COMPAT ||
	    f->bit != NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT)
		return fail(cx, -EINVAL, OPTION ": %s is not changed here; see "
			    "nilfs-tune(8)", f->name);
	*ext = *word == '^' ? FEATURES_EXT_OFF : FEATURES_EXT_ON;
	return 0;
}

static int parse(struct context *cx, const char *list, enum features_ext *ext)
{
	char word[NAME_BYTES];
	int ret = 0;

	while (*list && !ret) {
		size_t len = strcspn(list, ",");

		if (len >= sizeof(word))
			return fail(cx, -EINVAL, OPTION ": unknown feature "
				    "'%.*s'", (int)len, list);
		memcpy(word, list, len);
		word[len] = '\0';
		if (len)
			ret = apply_word(cx, word, ext);
		list += len + (list[len] == ',');
	}
	return ret;
}

static void report(struct tool *tool, enum features_ext ext,
		   const struct features_done *done)
{
	struct report *r = &tool->report;

	report_begin(r, "features", NULL);
	report_value(r, VALUE_BOOL, "sufile_live_blks_ext",
		     "Counts of live blocks",
		     value_bool(ext == FEATURES_EXT_ON));
	report_value(r, VALUE_BOOL, "changed", "New",
		     value_bool(done->changed));
	report_u64(r, "blocks_written", "Blocks written for that",
		   done->written);
	report_end(r);
}

static int run(struct tool *tool, const struct options *o, struct dev *dev)
{
	enum features_ext ext = FEATURES_EXT_AS_IS;
	struct context *cx = &tool->cx;
	struct features_done done;
	int ret = parse(cx, o->features, &ext);

	tool->bad_usage = ret == -EINVAL;
	if (!ret)
		ret = features_set(&done, cx, dev, ext, (uint64_t)cx->now);
	if (!ret && ext != FEATURES_EXT_AS_IS)
		report(tool, ext, &done);
	return ret;
}

static bool is_wanted(const struct options *o)
{
	return o->features;
}

const struct job featurejob = {
	.is_wanted = is_wanted,
	.run = run,
};
