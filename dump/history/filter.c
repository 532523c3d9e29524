// SPDX-License-Identifier: GPL-2.0-or-later
/* The conditions of a search for files.  Patterns are compared with bytes. */
#include "dump/history/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/moment.h"
#include "cli/option.h"
#include "disk/inode.h"

static const char type_letters[] = "?fdcbpsl";

void filter_set_pattern(struct filter *filter, char *pattern)
{
	size_t len = pattern ? strlen(pattern) : 0;

	filter->pattern = pattern;
	filter->of_paths = pattern && strchr(pattern, '/');
	while (len && pattern[len - 1] == '/')
		pattern[--len] = '\0';
}

bool filter_takes_name(const struct filter *f, const char *name, size_t len)
{
	char text[NILFS_NAME_LEN + 1];

	if (!f->pattern || f->of_paths)
		return true;
	if (len > NILFS_NAME_LEN)
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	return !fnmatch(f->pattern, text, 0);
}

bool filter_takes(const struct filter *f, const char *path,
		  const struct nilfs_inode *inode)
{
	uint8_t type = inode_dirent_type(le16_get(inode->i_mode));
	uint64_t size = le64_get(inode->i_size);
	int64_t mtime = inode_mtime(inode).sec;
	const char *name = strrchr(path, '/');

	if (!(f->types & 1u << type) || size < f->size.min ||
	    size > f->size.max || mtime < f->newer || mtime >= f->older ||
	    (f->owner != UINT64_MAX && f->owner != le32_get(inode->i_uid)))
		return false;
	name = name ? name + 1 : path;
	if (!f->of_paths)
		return filter_takes_name(f, name, strlen(name));
	/* The path of a directory above it counts; the first slash may be omitted. */
	return !fnmatch(f->pattern, path, FNM_LEADING_DIR) ||
	       (*path == '/' && *f->pattern != '/' &&
		!fnmatch(f->pattern, path + 1, FNM_LEADING_DIR));
}

int filter_parse_size(struct context *cx, const char *text, void *where)
{
	struct filter_size *size = where;
	bool sign = *text == '+' || *text == '-';
	uint64_t bytes;
	int err = option_size(cx, "--size", text + sign, &bytes);

	if (err)
		return err;
	size->min = *text == '-' ? 0 : bytes;
	size->max = *text == '+' ? UINT64_MAX : bytes;
	return 0;
}

int filter_parse_time(struct context *cx, const char *text, void *where)
{
	int64_t *seconds = where;
	uint64_t number;

	if (option_number(cx, "time", text, INT64_MAX, &number))
		return moment_parse_time(cx, text, seconds);
	*seconds = (int64_t)number;
	return 0;
}

int filter_parse_types(struct context *cx, const char *text, void *where)
{
	unsigned int *types = where;
	const char *letter, *at;

	*types = 0;
	for (letter = text; *letter; letter++) {
		at = strchr(type_letters + 1, *letter);
		if (!at && *letter != ',')
			return fail(cx, -EINVAL,
				    "--type: '%c' is not one of %s", *letter,
				    type_letters + 1);
		if (at)
			*types |= 1u << (at - type_letters);
	}
	return 0;
}
