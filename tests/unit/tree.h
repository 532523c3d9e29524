/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of files for tests, in a directory of their own. */
#ifndef NILFS2_TESTS_TREE_H
#define NILFS2_TESTS_TREE_H

#include <stddef.h>
#include <stdint.h>

struct tree {
	char path[64];		/* of the top */
	int fd;			/* of the top */
};

/* Makes an empty directory to test with; ends the program if it cannot. */
void tree_make(struct tree *tree);

/*
 * A file of SIZE bytes, whose content follows from SEED, at PATH below the
 * top; directories on the way must be there.  Its time is SEED seconds.
 */
void tree_file(const struct tree *tree, const char *path, size_t size,
	       unsigned int seed);
void tree_dir(const struct tree *tree, const char *path);

/* Byte AT of the content of such a file; never 0. */
uint8_t tree_byte(unsigned int seed, uint64_t at);

/* Removes all of it, however deep. */
void tree_remove(struct tree *tree);

#endif
