// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets of inode numbers.
 *
 * Numbers are given out from the lowest free one up, so a set of them is
 * dense almost everywhere; but a disk may also name number 2^60.  So: bitmaps
 * of 512 numbers in a hash table.  An inode that exists takes a block of the
 * ifile, hence a set of existing inodes stays below a tenth of the volume in
 * the worst case and near a bit an inode in all usual ones.
 */
#include "base/inoset.h"

#include <errno.h>
#include <stdlib.h>

#define SLOT_BITS 9
#define SLOT_WORDS (1u << (SLOT_BITS - 6))
#define ROOM_MIN 64u

struct inoset_slot {
	uint64_t key_plus_1; /* 0: free */
	uint64_t words[SLOT_WORDS];
};

static size_t hash(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	return (size_t)(key ^ key >> 33);
}

/* The slot of KEY, or the free one where it belongs.  There is a free one. */
static struct inoset_slot *find(struct inoset_slot *slots, size_t room,
				uint64_t key)
{
	size_t i = hash(key) & (room - 1);

	while (slots[i].key_plus_1 && slots[i].key_plus_1 != key + 1)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

static uint64_t bit_of(uint64_t ino)
{
	return UINT64_C(1) << (ino % 64);
}

static uint64_t *word_of(struct inoset_slot *slot, uint64_t ino)
{
	return &slot->words[ino >> 6 & (SLOT_WORDS - 1)];
}

bool inoset_has(const struct inoset *set, uint64_t ino)
{
	struct inoset_slot *slot;

	if (!set->room)
		return false;
	slot = find(set->slots, set->room, ino >> SLOT_BITS);
	return slot->key_plus_1 && *word_of(slot, ino) & bit_of(ino);
}

static int grow(struct inoset *set, struct context *cx)
{
	size_t room = set->room ? 2 * set->room : ROOM_MIN, i;
	struct inoset_slot *slots;

	if (room > cx->max_memory / sizeof(*slots))
		return fail(cx, -ENOMEM, "set of inodes");
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return fail(cx, -ENOMEM, "set of inodes");
	for (i = 0; i < set->room; i++) {
		const struct inoset_slot *old = &set->slots[i];

		if (old->key_plus_1)
			*find(slots, room, old->key_plus_1 - 1) = *old;
	}
	free(set->slots);
	set->slots = slots;
	set->room = room;
	return 0;
}

int inoset_add(struct inoset *set, struct context *cx, uint64_t ino)
{
	struct inoset_slot *slot;
	int err;

	if (set->used >= set->room / 2) {
		err = grow(set, cx);
		if (err)
			return err;
	}
	slot = find(set->slots, set->room, ino >> SLOT_BITS);
	if (!slot->key_plus_1) {
		slot->key_plus_1 = (ino >> SLOT_BITS) + 1;
		set->used++;
	}
	if (*word_of(slot, ino) & bit_of(ino))
		return 0;
	*word_of(slot, ino) |= bit_of(ino);
	return 1;
}

void inoset_fini(struct inoset *set)
{
	free(set->slots);
	*set = (struct inoset){.slots = NULL};
}
