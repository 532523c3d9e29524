// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for what has none, or one that another has: "name~1", "name~2", ...,
 * cut where they would be too long.
 */
#include "fsck/names/newname.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRIES 1000u
#define SUFFIX_MAX 24

void newname_repair(struct newname *out, const char *name, uint8_t len,
		    uint64_t ino)
{
	uint8_t i;

	memset(out, 0, sizeof(*out));
	memcpy(out->name, name, len);
	out->len = len;
	for (i = 0; i < len; i++) {
		if (out->name[i] == '/' || !out->name[i])
			out->name[i] = '_';
	}
	if (!len || (len <= 2 && !memcmp(out->name, "..", len)))
		out->len = (uint8_t)snprintf(out->name, sizeof(out->name),
					     "#%llu", (unsigned long long)ino);
}

/* NAME and then SUFFIX, in TO. */
static void join_suffix(struct newname *to, const struct newname *name,
			const char *suffix)
{
	size_t n = strlen(suffix), keep = name->len;

	if (keep + n > NILFS_NAME_LEN)
		keep = NILFS_NAME_LEN - n;
	memset(to, 0, sizeof(*to));
	memcpy(to->name, name->name, keep);
	memcpy(to->name + keep, suffix, n);
	to->len = (uint8_t)(keep + n);
}

/* 1 if NAME is free, and now taken; also where there are too many to know. */
static int take_name(const struct newname *name, struct context *cx,
		     struct nameset *tags)
{
	int ret = nameset_add(tags, cx, nameset_tag(name->name, name->len));

	return ret == -ENOBUFS ? 1 : ret;
}

int newname_find(struct newname *name, struct context *cx,
		 struct nameset *tags, bool change, uint64_t ino)
{
	struct newname original = *name;
	char suffix[SUFFIX_MAX];
	unsigned int i;
	int ret = 0;

	if (tags && !change)
		ret = take_name(name, cx, tags);
	for (i = 1; tags && !ret && i < TRIES; i++) {
		snprintf(suffix, sizeof(suffix), "~%u", i);
		join_suffix(name, &original, suffix);
		ret = take_name(name, cx, tags);
	}
	if (ret)
		return ret < 0 ? ret : 0;
	snprintf(suffix, sizeof(suffix), "~#%llu", (unsigned long long)ino);
	join_suffix(name, &original, suffix);
	return 0;
}
