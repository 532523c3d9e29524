/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several damages at once, as accidents and dying devices make them. */
#ifndef NILFS2_TESTS_DAMAGE_MANY_H
#define NILFS2_TESTS_DAMAGE_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "targets.h"

#define MANY_TEXT_MAX 512

/*
 * Does to the image of SIZE bytes at BYTES, which holds what SOUND does, two or
 * more damages that SEED chooses, and lists them in TEXT as "zeros:1290+17",
 * block and number of blocks.
 */
void many_do(uint64_t seed, const struct targets *targets, char *bytes,
	     const char *sound, size_t size, char text[MANY_TEXT_MAX]);

#endif
