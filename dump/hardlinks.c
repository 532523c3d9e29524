// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files with several names.
 *
 * Only inodes with more than one link come here, and few volumes have many.
 * A hash table of inode numbers points into one string of all first paths.
 */
#include "dump/hardlinks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define ROOM_MIN 256u

struct hardlink {
	uint64_t ino;
	size_t name_plus_1; /* offset in the names; 0: free */
};

static struct hardlink *find(struct hardlink *slots, size_t room, uint64_t ino)
{
	size_t i = (size_t)(ino * 0x9e3779b97f4a7c15ULL >> 20) & (room - 1);

	while (slots[i].name_plus_1 && slots[i].ino != ino)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

const char *hardlinks_find(const struct hardlinks *links, uint64_t ino)
{
	const struct hardlink *slot;

	if (!links->room)
		return NULL;
	slot = find(links->slots, links->room, ino);
	return slot->name_plus_1 ? links->names + slot->name_plus_1 - 1 : NULL;
}

static int grow(struct hardlinks *links, struct context *cx)
{
	size_t room = links->room ? 2 * links->room : ROOM_MIN, i;
	struct hardlink *slots = NULL;

	if (room <= cx->max_memory / sizeof(*slots))
		slots = calloc(room, sizeof(*slots));
	if (!slots)
		return fail(cx, -ENOMEM, "table of hard links");
	for (i = 0; i < links->room; i++)
		if (links->slots[i].name_plus_1)
			*find(slots, room, links->slots[i].ino) =
				links->slots[i];
	free(links->slots);
	links->slots = slots;
	links->room = room;
	return 0;
}

int hardlinks_add(struct hardlinks *links, struct context *cx, uint64_t ino,
		  const char *path, size_t len)
{
	struct hardlink *slot;
	char *names;
	int err;

	if (links->used >= links->room / 2) {
		err = grow(links, cx);
		if (err)
			return err;
	}
	names = array_grow(cx, links->names, &links->names_room,
			   links->names_used + len + 1, 1);
	if (!names)
		return -ENOMEM;
	links->names = names;
	slot = find(links->slots, links->room, ino);
	slot->ino = ino;
	slot->name_plus_1 = links->names_used + 1;
	memcpy(names + links->names_used, path, len);
	names[links->names_used + len] = '\0';
	links->names_used += len + 1;
	links->used++;
	return 0;
}

void hardlinks_fini(struct hardlinks *links)
{
	free(links->slots);
	free(links->names);
	*links = (struct hardlinks){.slots = NULL};
}
