// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Listings of the directories of a source.
 *
 * A listing and its memory are reused for one directory after another.  Names are
 * stored in chunks of memory that never move.
 *
 * Names are sorted by merging, which needs the fewest comparisons and is linear for
 * sorted input, such as the directories of some file systems.
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

/* Allocates LEN bytes of a chunk; NULL: no memory. */
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

int listing_read(struct listing *list, struct context *cx, int fd)
{
	char shown[TEXT_ESCAPED_MAX(64)], *text;
	const struct dirent64 *de;
	ssize_t bytes, at;
	size_t len;

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
		for (at = 0; at < bytes; at += de->d_reclen) {
			de = (const struct dirent64 *)(list->buf + at);
			if (!strcmp(de->d_name, ".") ||
			    !strcmp(de->d_name, ".."))
				continue;
			len = strlen(de->d_name);
			if (len > NILFS_NAME_LEN) {
				text_escape(shown, sizeof(shown), de->d_name,
					    len);
				return fail(cx, -ENAMETOOLONG, "name of %zu "
					    "bytes, %s...", len, shown);
			}
			if (array_reserve(cx, &list->names, &list->room,
					  list->n + 1))
				return -ENOMEM;
			text = take_text(list, len + 1);
			if (!text)
				return fail(cx, -ENOMEM,
					    "names of a directory");
			memcpy(text, de->d_name, len + 1);
			list->names[list->n++] = (struct populate_name){
				.name = text,
				.len = (uint8_t)len,
				.type = de->d_type == DT_DIR ? NILFS_FT_DIR :
					de->d_type == DT_REG ?
						NILFS_FT_REG_FILE :
						NILFS_FT_UNKNOWN,
				.ino = de->d_ino,
			};
		}
	} while (bytes);
	return 0;
}

typedef int compare_fn(const void *a, const void *b);

int listing_by_name(const void *a, const void *b)
{
	const struct populate_name *x = a, *y = b;
	int order = memcmp(x->name, y->name,
			   x->len < y->len ? x->len : y->len);

	return order ? order : (int)x->len - (int)y->len;
}

static int listing_by_number(const void *a, const void *b)
{
	const struct populate_name *x = a, *y = b;

	return sort_order(x->ino, y->ino) ?: listing_by_name(a, b);
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
	compare_fn *compare = by_ino ? listing_by_number : listing_by_name;
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
