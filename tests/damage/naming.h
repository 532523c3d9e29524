/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the output of fsck names what was lost. */
#ifndef NILFS2_TESTS_DAMAGE_NAMING_H
#define NILFS2_TESTS_DAMAGE_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/fuzz/treesum.h"

struct naming {
	const char *text; /* the output */
	uint64_t latest;  /* number of the latest checkpoint */
	const char *path; /* of the file, "" where it has none */
	const char *sound; /* the image, of SIZE bytes */
	size_t size;
	/* Findings count, not only what the repair did: nothing was repaired.
	 */
	bool findings;
};

/*
 * Whether a line of the text says that WHAT is lost, or not as it was: the
 * inode with its state, the checkpoint; of a directory, an entry in it, or an
 * inode that had one.
 */
bool naming_has(const struct naming *n, const struct treesum_file *what);

/* How many losses TEXT lists; in *FACTS, how many of them without a word that
   they are not certain. */
unsigned int naming_losses(const char *text, unsigned int *facts);

#endif
