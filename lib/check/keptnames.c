// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names that are kept to be compared with: lists, one for each suspected tag,
 * in one array.  Two names rarely share a tag; what was made so that many do
 * is not worth the memory.
 */
#include "check/keptnames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/dupnames.h"

#define MOST 16u /* names of one tag */

struct keptname {
	uint64_t ino;
	uint32_t next; /* index + 1 */
	uint8_t len;
	char name[NILFS_NAME_LEN];
};

static int keep(struct keptnames *k, struct context *cx,
		struct dupnames_suspect *s, const struct dirent_entry *e)
{
	struct keptname *names;

	names = array_grow(cx, k->names, &k->room, k->count + 1,
			   sizeof(*names));
	if (!names)
		return -ENOMEM;
	k->names = names;
	names += k->count++;
	names->ino = e->ino;
	names->next = s->kept;
	names->len = e->name_len;
	memcpy(names->name, e->name, e->name_len);
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
	return i ? 0 : keep(k, cx, s, entry);
}

void keptnames_fini(struct keptnames *k)
{
	free(k->names);
	*k = (struct keptnames){ .names = NULL };
}
