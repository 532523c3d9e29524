/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a volume holds for its users: each file of the latest state and of every
 * snapshot, the checkpoints with their times and snapshot marks, and the
 * properties in the superblock.
 */
#ifndef NILFS2_TESTS_DAMAGE_STATE_H
#define NILFS2_TESTS_DAMAGE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/fuzz/treesum.h"

struct state {
	struct treesum files;
	struct treesum facts; /* inode 0 of a checkpoint; of 0: superblock */
	uint64_t latest;      /* its latest checkpoint */
};

/* Reads the image as a mount would find it; what cannot be read is missing. */
void state_take(struct state *s, const char *bytes, size_t size);
void state_free(struct state *s);

/*
 * Whether the file or fact that WANTED is, of another state, is the same in S.
 */
bool state_has(const struct state *s, const struct treesum_file *wanted);

#define STATE_PATH_MAX 512

/*
 * A path of inode INO in checkpoint CNO (TREESUM_LATEST: the latest), as
 * "d/f", "." for the root directory; "" where it has none, or none in directory
 * DIR unless that is NULL.
 */
void state_path(const char *bytes, size_t size, uint64_t cno, uint64_t ino,
		const char *dir, char path[STATE_PATH_MAX]);

#endif
