/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of a search for files. */
#ifndef NILFS2_DUMP_FILTER_H
#define NILFS2_DUMP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

/* Sizes in bytes, both included. */
struct filter_size {
	uint64_t min, max;
};

struct filter {
	const char *pattern; /* of names, or of paths; NULL: any */
	bool of_paths;
	struct filter_size size;
	int64_t newer, older;	/* mtime from NEWER on, before OLDER */
	unsigned int types;	/* a bit for each NILFS_FT_* */
	uint64_t owner;		/* UINT64_MAX: any */
};

/* All files. */
#define FILTER_ANY                                                           \
	{                                                                    \
		.size = { 0, UINT64_MAX }, .newer = INT64_MIN,               \
		.older = INT64_MAX, .types = ~0u, .owner = UINT64_MAX        \
	}

/*
 * Sets PATTERN, or NULL for all files; a pattern with a slash is compared with
 * paths.  Slashes at its end are removed.  It must remain valid as long as FILTER.
 */
void filter_set_pattern(struct filter *filter, char *pattern);

/* Whether the pattern may match a path that ends with NAME. */
bool filter_takes_name(const struct filter *f, const char *name, size_t len);

/* Whether the file at PATH, which ends with a NUL, meets the conditions. */
bool filter_takes(const struct filter *f, const char *path,
		  const struct nilfs_inode *inode);

/*
 * For rows of options (OPTION_CALL): "N", "+N" (at least) or "-N" (at most)
 * as a struct filter_size; a time as int64_t, in seconds since 1970 or as
 * moment_parse_time() takes it; letters as of find(1) as bits of
 * types.  -EINVAL.
 */
int filter_parse_size(struct context *cx, const char *text, void *size);
int filter_parse_time(struct context *cx, const char *text, void *time);
int filter_parse_types(struct context *cx, const char *text, void *types);

#endif
