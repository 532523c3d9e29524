/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The features of a volume by name. */
#ifndef NILFS2_DISK_SUPER_FEATURE_H
#define NILFS2_DISK_SUPER_FEATURE_H

#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"

enum super_feature_set {
	SUPER_COMPAT,
	SUPER_COMPAT_RO,
	SUPER_INCOMPAT,
};

struct super_feature {
	const char *name;
	const char *alias;	/* another spelling, or NULL */
	enum super_feature_set set;
	uint64_t bit;
};

/* Feature number I, or NULL after the last one. */
const struct super_feature *super_feature_at(size_t i);

/* The name of feature number I, or NULL after the last one. */
const char *super_feature_name(size_t i);

/* The feature with that name or alias, or NULL. */
const struct super_feature *super_feature_find(const char *name);

/* The word of SB that contains the features of SET. */
uint64_t super_feature_word(const struct nilfs_super_block *sb,
			    enum super_feature_set set);

#endif
