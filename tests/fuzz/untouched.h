/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a repair left alone what nothing was found of.
 *
 * Each file of the sound image, in the latest checkpoint and in every snapshot,
 * must be there and be what it was; but for one that the repair found otherwise
 * and left so, and one that a finding of the check before it names: by its
 * number, or by that of its snapshot in the cpfile.  The root directory may get
 * another entry where a finding is about a file without a name.  The latest
 * checkpoint is not compared where another super root had to become the latest,
 * and nothing is where findings were too many to be listed.
 */
#ifndef NILFS2_TESTS_FUZZ_UNTOUCHED_H
#define NILFS2_TESTS_FUZZ_UNTOUCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "treesum.h"

/* What a repair was given, said before, and left. */
struct untouched {
	const struct treesum *sound;
	const char *damaged, *repaired;	/* images of SIZE bytes */
	size_t size;
	const char *found;
};

/* False where a file was harmed, which is said on stdout. */
bool untouched_is_held(const struct untouched *u);

#endif
