/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of the sources, for progress. */
#ifndef NILFS2_MKFS_MEASURE_H
#define NILFS2_MKFS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/*
 * Bytes in the files of SOURCES, near enough for a time that is left: nothing
 * is excluded, a hard link counts again.  0 where it cannot be known: standard
 * input, compressed archives, what cannot be read.
 */
uint64_t measure_sources(const struct context *cx, const char *const *sources,
			 size_t n);

#endif
