/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that say nothing, of the same length, each its own. */
#ifndef NILFS2_DUMP_SCRAMBLE_H
#define NILFS2_DUMP_SCRAMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define SCRAMBLE_BYTES 254u	/* that names may have: all but 0 and '/' */

struct scramble {
	uint8_t table[SCRAMBLE_BYTES];	/* a permutation */
};

/* Makes one at random.  What getrandom(2) fails with. */
int scramble_init(struct scramble *s, struct context *cx);

/*
 * Replaces NAME (LEN bytes, no 0 and no '/', not empty): different names of a
 * length become different ones, and none becomes "." or "..".
 */
void scramble_name(const struct scramble *s, uint8_t *name, size_t len);

/* All names in a block of a directory, but "." and "..", as far as its entries
   can be followed. */
void scramble_names(const struct scramble *s, void *block, uint32_t block_size);

/* The target of a symbolic link in BLOCK: what is no '/' becomes "x". */
void scramble_target(char *block, uint32_t block_size);

#endif
