/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What storage, memory or a driver does to a block. */
#ifndef NILFS2_TESTS_DAMAGE_SPOIL_H
#define NILFS2_TESTS_DAMAGE_SPOIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets.h"

enum spoil {
	SPOIL_ZEROS,
	SPOIL_RANDOM,
	SPOIL_OTHER, /* the content of another block of metadata */
	SPOIL_HALF,  /* the second half of it */
	SPOIL_OLDER, /* an older version of the same block */
	SPOIL_BIT,   /* one bit flipped */
	SPOIL_MANY,  /* of a volume: what many.h says */
	SPOIL_KINDS
};

/* One thing done to one target. */
struct damage_case {
	const struct target *target;
	enum spoil spoil;
	bool matched; /* the checksums of the log are made to match */
	uint64_t seed; /* of SPOIL_MANY */
};

#define CASE_ID_MAX 64

/*
 * "BLOCK-DAMAGE-left", or with s, d or r after the first block of a log; of
 * several damages "SEED-many".
 */
void case_id(const struct damage_case *c, char id[CASE_ID_MAX]);

const char *spoil_name(enum spoil spoil);

/*
 * Does C to the image of SIZE bytes at BYTES, which holds what SOUND does.
 * False, and the image unchanged, where there is no such damage: no older
 * version, the same bytes, lengths that allow no checksum, or a content whose
 * checksum would say that it is right.
 */
bool spoil_do(const struct damage_case *c, const struct targets *targets,
	      uint64_t seed, char *bytes, const char *sound, size_t size);

#endif
