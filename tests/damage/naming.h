/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the output of fsck names what was lost. */
#ifndef NILFS2_TESTS_DAMAGE_NAMING_H
#define NILFS2_TESTS_DAMAGE_NAMING_H

#include <stdbool.h>

#include "tests/fuzz/treesum.h"

struct naming {
	const char *text; /* the output */
	uint64_t latest;  /* number of the latest checkpoint */
	const char *path; /* of the file, "" where it has none */
	/* Findings count, not only what the repair did: nothing was repaired.
	 */
	bool findings;
};

/*
 * Whether a line of the text is about WHAT: its inode number or path, with the
 * checkpoint where that is a snapshot, or the checkpoint given up; and says
 * that something is lost, or otherwise than it was.
 */
bool naming_has(const struct naming *n, const struct treesum_file *what);

#endif
