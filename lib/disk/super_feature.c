// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The features of a volume by name.
 *
 * Three words of the superblock contain feature bits.  Unknown bits of the first
 * word are ignored, those of the second forbid writing, those of the third reading.
 * The two live-block features are a published extension outside the mainline kernel;
 * its first edition had another name for one of them.
 */
#include "disk/super_feature.h"

#include <string.h>

static const struct super_feature features[] = {
	{ "sufile_live_blks_ext", "sufile_ext", SUPER_COMPAT,
	  NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT },
	{ "track_live_blks", NULL, SUPER_COMPAT,
	  NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS },
	{ "block_count", NULL, SUPER_COMPAT_RO,
	  NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT },
};

#define NFEATURES (sizeof(features) / sizeof(features[0]))

const struct super_feature *super_feature_at(size_t i)
{
	return i < NFEATURES ? &features[i] : NULL;
}

const char *super_feature_name(size_t i)
{
	const struct super_feature *f = super_feature_at(i);

	return f ? f->name : NULL;
}

const struct super_feature *super_feature_find(const char *name)
{
	const struct super_feature *f;
	size_t i;

	for (i = 0; (f = super_feature_at(i)); i++) {
		if (!strcmp(f->name, name) ||
		    (f->alias && !strcmp(f->alias, name)))
			return f;
	}
	return NULL;
}

uint64_t super_feature_word(const struct nilfs_super_block *sb,
			    enum super_feature_set set)
{
	switch (set) {
	case SUPER_COMPAT:
		return le64_get(sb->s_feature_compat);
	case SUPER_COMPAT_RO:
		return le64_get(sb->s_feature_compat_ro);
	case SUPER_INCOMPAT:
		return le64_get(sb->s_feature_incompat);
	}
	return 0;
}
