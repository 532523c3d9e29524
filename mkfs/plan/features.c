// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The -O option.
 *
 * The names and bits are those of lib/disk; the default set is that of
 * nilfs-utils 2.3, which added block_count to the empty one of before.
 */
#include "mkfs/plan/features.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "disk/super_feature.h"

#define NAME_BYTES 64

static void switch_feature(struct features *f, const struct super_feature *sf,
			   bool on)
{
	uint64_t *word = sf->set == SUPER_COMPAT    ? &f->compat :
			 sf->set == SUPER_COMPAT_RO ? &f->compat_ro :
						      &f->incompat;

	*word = on ? *word | sf->bit : *word & ~sf->bit;
}

static int apply_word(struct context *cx, const char *word, struct features *f)
{
	bool on = *word != '^';
	const char *name = on ? word : word + 1;
	const struct super_feature *sf = super_feature_find(name);

	if (!*word)
		return 0;
	if (!strcmp(word, "none")) {
		memset(f, 0, sizeof(*f));
		return 0;
	}
	if (!sf)
		return fail(cx, -EINVAL, "--features: unknown feature '%s'",
			    name);
	switch_feature(f, sf, on);
	return 0;
}

static int check(struct context *cx, const struct features *f)
{
	uint64_t ext = NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT;
	uint64_t track = NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS;

	if (f->compat & track && !(f->compat & ext))
		return fail(cx, -EINVAL, "--features: track_live_blks needs "
			    "sufile_live_blks_ext");
	return 0;
}

int features_parse(struct context *cx, const char *list, struct features *f)
{
	char word[NAME_BYTES];
	int ret;

	*f = (struct features){
		.compat_ro = NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT,
	};
	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len >= sizeof(word))
			return fail(cx, -EINVAL,
				    "--features: unknown feature '%.*s'",
				    (int)len, list);
		memcpy(word, list, len);
		word[len] = '\0';
		ret = apply_word(cx, word, f);
		if (ret)
			return ret;
		list += len + (list[len] == ',');
	}
	return check(cx, f);
}
