/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of inode numbers of any size.
 *
 * The lowest free number is allocated first, so a set is mostly dense, but a damaged
 * disk may contain a number like 2^60.  So the set is a hash table of words, each
 * with a bit for each of 64 numbers.
 */
#ifndef NILFS2_BASE_INOSET_H
#define NILFS2_BASE_INOSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"

/* All zero is the empty set. */
struct inoset {
	struct pairtable words;
};

static inline bool inoset_has(const struct inoset *set, uint64_t ino)
{
	const struct pairtable_entry *word =
		pairtable_find(&set->words, 0, ino / 64);

	return word && word->value >> ino % 64 & 1;
}

/*
 * Adds INO: 1 if it is new, 0 if it was a member, -ENOMEM if the set would exceed the
 * memory budget.
 */
static inline int inoset_add(struct inoset *set, struct context *cx,
			     uint64_t ino)
{
	struct pairtable_entry *word =
		pairtable_find(&set->words, 0, ino / 64);
	uint64_t bit = UINT64_C(1) << ino % 64;
	int err;

	if (!word) {
		err = pairtable_add(&set->words, cx, 0, ino / 64, bit);
		return err ? err : 1;
	}
	if (word->value & bit)
		return 0;
	word->value |= bit;
	return 1;
}

static inline void inoset_fini(struct inoset *set)
{
	pairtable_fini(&set->words);
}

#endif
