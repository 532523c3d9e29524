// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names to be added: their bytes in one array, and the directory and inode of
 * each.
 */
#include "fsck/names/addnames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "disk/ondisk.h"

int addnames_add(struct addnames *a, struct context *cx, uint32_t dir,
		 uint64_t ino, const char *name, uint8_t len)
{
	struct addnames_item *items;
	char *text;

	if (a->used > UINT32_MAX - NILFS_NAME_LEN)
		return fail(cx, -ENOMEM, "names to be added");
	items = array_grow(cx, a->items, &a->room, a->count + 1,
			   sizeof(*items));
	if (!items)
		return -ENOMEM;
	a->items = items;
	text = array_grow(cx, a->text, &a->text_room, a->used + len, 1);
	if (!text)
		return -ENOMEM;
	a->text = text;
	memcpy(text + a->used, name, len);
	items[a->count++] = (struct addnames_item){
		.ino = ino, .dir = dir, .at = (uint32_t)a->used, .len = len,
	};
	a->used += len;
	return 0;
}

static int compare_item(const void *a, const void *b)
{
	const struct addnames_item *x = a, *y = b;

	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void addnames_sort(struct addnames *a)
{
	sort_in_place(a->items, a->count, sizeof(*a->items), compare_item);
}

static bool is_below(const void *item, const void *key)
{
	const struct addnames_item *name = item;

	return name->dir < *(const uint32_t *)key;
}

const struct addnames_item *addnames_of(const struct addnames *a, uint32_t dir,
					size_t *count)
{
	size_t first = search_first(a->items, a->count, sizeof(*a->items),
				    is_below, &dir);

	for (*count = 0; first + *count < a->count; ++*count) {
		if (a->items[first + *count].dir != dir)
			break;
	}
	return a->items + first;
}

void addnames_fini(struct addnames *a)
{
	free(a->items);
	free(a->text);
	*a = (struct addnames){ .items = NULL };
}
