// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names kept for comparison: lists, one for each suspected tag, in one array.
 * Two names rarely share a tag; for names made to collide memory is limited.
 */
#include "check/names/keptnames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/names/dupnames.h"

#define MOST 16u /* names of one tag */

struct keptname {
	uint64_t ino;
	uint32_t next; /* index + 1 */
	uint8_t len;
	char name[NILFS_NAME_LEN];
};

static int keep_name(struct keptnames *k, struct context *cx,
		     struct dupnames_suspect *s, const struct dirent_entry *e)
{
	struct keptname *name;

	if (array_reserve(cx, &k->names, &k->room, k->count + 1))
		return -ENOMEM;
	name = &k->names[k->count++];
	name->ino = e->ino;
	name->next = s->kept;
	name->len = e->name_len;
	memcpy(name->name, e->name, e->name_len);
	s->kept = (uint32_t)k->count;
	return 0;
}

int keptnames_meet(struct keptnames *k, struct context *cx,
		   struct dupnames_suspect *s,
		   const struct dirent_entry *entry, uint64_t *ino)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = s->kept; i && n < MOST; i = k->names[i - 1].next, n++) {
		const struct keptname *name = &k->names[i - 1];

		if (name->len != entry->name_len ||
		    memcmp(name->name, entry->name, name->len))
			continue;
		*ino = name->ino;
		return 1;
	}
	return i ? 0 : keep_name(k, cx, s, entry);
}

void keptnames_fini(struct keptnames *k)
{
	free(k->names);
	*k = (struct keptnames){ .names = NULL };
}
