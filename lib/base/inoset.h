/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of inode numbers of any size.
 *
 * Numbers are given out from the lowest free one up, so a set of them is dense
 * almost everywhere; but a damaged disk may also name number 2^60.  So it is a
 * table of words with a bit for each of 64 numbers.
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
 * Adds INO: 1 where it is new, 0 where it was there, -ENOMEM where the set
 * would outgrow the memory budget.
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
