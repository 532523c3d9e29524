/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bits flipped in the metadata of an image in memory, and put back. */
#ifndef NILFS2_TESTS_FUZZ_DAMAGE_H
#define NILFS2_TESTS_FUZZ_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"

/* A range of bytes that the tools interpret. */
struct damage_range {
	uint64_t offset;
	uint32_t len;
};

/* Bytes as they were before; put back in reverse order. */
struct damage_saved {
	uint64_t offset;
	uint32_t len;
	char was[1024];
};

struct damage {
	char *bytes;
	size_t size;
	struct nilfs_geometry geo;
	uint64_t last_pseg;	/* the log that a mount begins with */
	struct damage_range *ranges;
	size_t count, room;
	struct damage_saved *saved;
	size_t saved_count, saved_room;
};

/* Finds the metadata of the sound image in BYTES (borrowed); 0 or -1. */
int damage_open(struct damage *d, char *bytes, size_t size);
void damage_close(struct damage *d);

/*
 * Flips COUNT bits, the same ones for the same SEED and ROUND; with FIT the
 * checksums of superblocks, latest super root and its log are made right.
 */
void damage_do(struct damage *d, unsigned int seed, unsigned long round,
	       unsigned int count, bool fit);
void damage_undo(struct damage *d);

#endif
