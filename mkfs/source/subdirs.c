// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pending subdirectories.
 *
 * There may be very many, and each is needed once: they are packed one after
 * the other in one piece of memory.
 */
#include "config.h"

#include "mkfs/source/subdirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Of one with a name of LEN bytes, so that the next is aligned. */
static size_t subdir_bytes(size_t len)
{
	return (offsetof(struct subdir, name) + len + 1 + 7) & ~(size_t)7;
}

int subdirs_add(struct subdirs *s, struct context *cx,
		const struct populate_name *name, uint64_t told)
{
	size_t bytes = subdir_bytes(name->len);
	struct subdir *subdir;
	char *items;

	items = array_grow(cx, s->items, &s->room, s->bytes + bytes, 1);
	if (!items)
		return -ENOMEM;
	s->items = items;
	subdir = (struct subdir *)(items + s->bytes);
	subdir->ino = name->ino;
	subdir->told = told;
	subdir->len = name->len;
	memcpy(subdir->name, name->name, name->len + 1u);
	s->bytes += bytes;
	return 0;
}

const struct subdir *subdirs_next(struct subdirs *s)
{
	const struct subdir *subdir;

	if (s->at == s->bytes)
		return NULL;
	subdir = (const struct subdir *)(s->items + s->at);
	s->at += subdir_bytes(subdir->len);
	return subdir;
}

void subdirs_fini(struct subdirs *s)
{
	free(s->items);
}
