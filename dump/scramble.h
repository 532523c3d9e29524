/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replacing names by different, meaningless ones of the same length. */
#ifndef NILFS2_DUMP_SCRAMBLE_H
#define NILFS2_DUMP_SCRAMBLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define SCRAMBLE_BYTES 254u	/* values in names: all but 0 and '/' */

struct scramble {
	uint8_t table[SCRAMBLE_BYTES];	/* a permutation */
};

/* Makes a random permutation.  Fails as getrandom(2). */
int scramble_init(struct scramble *s, struct context *cx);

/*
 * Replaces all names in a block of a directory except "." and "..", as far as its
 * entries can be followed.  Different names of one length become different ones,
 * and none becomes "." or "..".
 */
void scramble_names(const struct scramble *s, void *block, uint32_t block_size);

/* Replaces each byte of the symbolic link target in BLOCK, except '/', by "x". */
void scramble_target(char *block, uint32_t block_size);

#endif
