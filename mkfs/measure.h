/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much there is to do, for whoever watches. */
#ifndef NILFS2_MKFS_MEASURE_H
#define NILFS2_MKFS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "mkfs/walk.h"

/*
 * Bytes in the files of SOURCES, near enough for a time that is left: nothing
 * is excluded, a hard link counts again.  0 where it cannot be known: standard
 * input, compressed archives, what cannot be read.
 */
uint64_t measure_sources(const struct context *cx, const char *const *sources,
			 size_t n);

struct measure_how {
	struct walk_skip skip;		/* this file is left out */
	bool one_file_system;
	uint32_t block_size;
	uint64_t room;			/* bytes */
};

/*
 * Bytes that the directories among SOURCES take in any case, where no pattern
 * leaves files out: content in blocks, without holes, of files with one name;
 * 0 if they are no more than HOW->room.  Files are opened only if it may be
 * more.
 */
uint64_t measure_excess(const struct context *cx, const char *const *sources,
			size_t n, const struct measure_how *how);

#endif
