// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory listings.
 *
 * One listing is reused for one directory after another, with its memory.
 * Names are in chunks of memory that never move.
 *
 * They are sorted by merging, which needs the fewest comparisons and is linear
 * for sorted input, such as the directories of some file systems.
 */
#include "config.h"

#include "mkfs/source/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"
#include "disk/ondisk.h"

#define BUF_BYTES 32768
#define TEXT_BYTES 16384

struct listing_text {
	struct listing_text *next;
	char bytes[TEXT_BYTES];
};

/* A place for LEN bytes, or NULL. */
static char *take_text(struct listing *list, size_t len)
{
	struct listing_text **next = list->text ? &list->text->next :
						  &list->first;

	if (list->text && list->used + len <= TEXT_BYTES) {
		list->used += len;
		return list->text->bytes + list->used - len;
	}
	if (!*next)
		*next = calloc(1, sizeof(**next));
	if (!*next)
		return NULL;
	list->text = *next;
	list->used = len;
	return list->text->bytes;
}

static int name_too_long(struct context *cx, const char *name, size_t len)
{
	char text[TEXT_ESCAPED_MAX(64)];

	text_escape(text, sizeof(text), name, len);
	return fail(cx, -ENAMETOOLONG, "name of %zu bytes, %s...", len, text);
}

/* The file type in the directory, which may be unknown. */
static uint8_t type_of(const struct dirent64 *de)
{
	if (de->d_type == DT_DIR)
		return NILFS_FT_DIR;
	return de->d_type == DT_REG ? NILFS_FT_REG_FILE : NILFS_FT_UNKNOWN;
}

static int add_name(struct listing *list, struct context *cx,
		    const struct dirent64 *de)
{
	size_t len = strlen(de->d_name);
	char *text;

	if (len > NILFS_NAME_LEN)
		return name_too_long(cx, de->d_name, len);
	if (array_reserve(cx, &list->names, &list->room, list->n + 1))
		return -ENOMEM;
	text = take_text(list, len + 1);
	if (!text)
		return fail(cx, -ENOMEM, "names of a directory");
	memcpy(text, de->d_name, len + 1);
	list->names[list->n++] = (struct populate_name){
		.name = text,
		.len = (uint8_t)len,
		.type = type_of(de),
		.ino = de->d_ino,
	};
	return 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (!name[1] || (name[1] == '.' && !name[2]));
}

static int add_all(struct listing *list, struct context *cx, ssize_t bytes)
{
	const struct dirent64 *de;
	ssize_t at;
	int err;

	for (at = 0; at < bytes; at += de->d_reclen) {
		de = (const struct dirent64 *)(list->buf + at);
		err = is_dots(de->d_name) ? 0 : add_name(list, cx, de);
		if (err)
			return err;
	}
	return 0;
}

int listing_read(struct listing *list, struct context *cx, int fd)
{
	ssize_t bytes;
	int err = 0;

	list->n = 0;
	list->text = NULL;
	fail_clear(cx);
	if (!list->buf)
		list->buf = malloc(BUF_BYTES);
	if (!list->buf)
		return -ENOMEM;
	do {
		bytes = getdents64(fd, (struct dirent64 *)list->buf, BUF_BYTES);
		if (bytes < 0)
			return -errno;
		err = add_all(list, cx, bytes);
	} while (bytes && !err);
	return err;
}

typedef int compare_fn(const void *a, const void *b);

static int compare_names(const void *a, const void *b)
{
	const struct populate_name *x = a, *y = b;
	int order = memcmp(x->name, y->name,
			   x->len < y->len ? x->len : y->len);

	return order ? order : (int)x->len - (int)y->len;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct populate_name *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return compare_names(a, b);
}

/* Sorts N names; SCRATCH has room for half of them. */
static void merge_sort(struct populate_name *names, size_t n,
		       struct populate_name *scratch, compare_fn *compare)
{
	size_t half = n / 2, i = 0, j = half, at = 0;

	if (n < 2)
		return;
	merge_sort(names, half, scratch, compare);
	merge_sort(names + half, n - half, scratch, compare);
	if (compare(&names[half - 1], &names[half]) <= 0)
		return;
	memcpy(scratch, names, half * sizeof(*names));
	while (i < half)
		names[at++] = j < n && compare(&names[j], &scratch[i]) < 0 ?
				      names[j++] : scratch[i++];
}

void listing_sort(struct listing *list, bool by_ino)
{
	compare_fn *compare = by_ino ? compare_numbers : compare_names;
	struct populate_name *scratch;

	scratch = malloc((list->n / 2 + 1) * sizeof(*scratch));
	if (scratch)
		merge_sort(list->names, list->n, scratch, compare);
	else
		sort_in_place(list->names, list->n, sizeof(*list->names),
			      compare);
	free(scratch);
}

void listing_fini(struct listing *list)
{
	struct listing_text *next;

	for (; list->first; list->first = next) {
		next = list->first->next;
		free(list->first);
	}
	free(list->names);
	free(list->buf);
}
